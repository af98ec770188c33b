// swift-tools-version: 6.2
// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "guest-tests",
    products: [.library(name: "UnderGuest", type: .dynamic, targets: ["UnderGuest"])],
    dependencies: [.package(name: "swift-run-loops", path: "../..")],
    targets: [
        .target(name: "CUnderGuest"),
        .target(
            name: "UnderGuest",
            dependencies: [
                "CUnderGuest",
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsFoundation", package: "swift-run-loops"),
            ],
            linkerSettings: [.linkedLibrary("Foundation")]),
    ])
