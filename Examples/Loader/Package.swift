// swift-tools-version: 6.2
// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
let loops: [Target.Dependency] = [
    .product(name: "RunLoops", package: "swift-run-loops"), .product(name: "RunLoopsKit", package: "swift-run-loops"),
]

let package = Package(
    name: "loader",
    products: [.library(name: "Loading", targets: ["Loading"])],
    // A link with the name of the package: the folder of a checkout may have any.
    dependencies: [.package(path: "../.package/swift-run-loops")],
    targets: [
        .target(name: "Loading", dependencies: loops, swiftSettings: settings),
        .target(name: "Serving", dependencies: ["Loading"] + loops, swiftSettings: settings),
        .executableTarget(name: "loader", dependencies: ["Loading", "Serving"] + loops, swiftSettings: settings),
        .testTarget(name: "LoadingTests", dependencies: ["Loading", "Serving"] + loops, swiftSettings: settings),
    ]
)
