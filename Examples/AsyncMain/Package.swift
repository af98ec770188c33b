// swift-tools-version: 6.2
// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "async-main",
    // A link with the name of the package: the folder of a checkout may have any.
    dependencies: [.package(path: "../.package/swift-run-loops")],
    targets: [
        // No dependencies: no code of this package is loaded.
        .executableTarget(name: "OnFoundation"),
        .executableTarget(
            name: "OnRunLoops",
            dependencies: [
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsConcurrency", package: "swift-run-loops"),
            ]),
    ]
)
