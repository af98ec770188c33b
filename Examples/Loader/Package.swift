// swift-tools-version: 6.2
// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "loader",
    // A link with the name of the package: the folder of a checkout may have any.
    dependencies: [.package(path: "../.package/swift-run-loops")],
    targets: [
        .executableTarget(
            name: "loader",
            dependencies: [
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsKit", package: "swift-run-loops"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
