// swift-tools-version: 6.2
// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let package = Package(
    name: "stories",
    // A link with the name of the package: the folder of a checkout may have any.
    dependencies: [.package(path: "../.package/swift-run-loops")],
    targets: [
        // The screens know no terminal: the tests show them on a synthetic display.
        .target(
            name: "StoriesScreens",
            dependencies: [
                .product(name: "LoopUI", package: "swift-run-loops"),
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsKit", package: "swift-run-loops"),
                .product(name: "RunLoopsDiagnostics", package: "swift-run-loops"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "Stories",
            dependencies: ["StoriesScreens", .product(name: "LoopUITerminal", package: "swift-run-loops")],
            swiftSettings: strict),
        .testTarget(
            name: "StoriesTests",
            dependencies: [
                "StoriesScreens",
                .product(name: "LoopUI", package: "swift-run-loops"),
                .product(name: "LoopUITesting", package: "swift-run-loops"),
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsDiagnostics", package: "swift-run-loops"),
            ],
            exclude: ["Golden"], swiftSettings: strict),
    ]
)
