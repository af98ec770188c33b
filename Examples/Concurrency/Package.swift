// swift-tools-version: 6.2
// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A program of a user's, in Swift 6 mode: no warning, and nothing that is marked as unsafe.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .treatAllWarnings(as: .error), .strictMemorySafety(),
]

let package = Package(
    name: "concurrency",
    dependencies: [
        // A link with the name of the package: the folder of a checkout may have any.
        .package(path: "../.package/swift-run-loops"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.0"),
    ],
    targets: [
        .executableTarget(
            name: "Station",
            dependencies: [
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsConcurrency", package: "swift-run-loops"),
                .product(name: "RunLoopsPorts", package: "swift-run-loops"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
            ],
            swiftSettings: strict),
        // With a live main loop, which the tests of the library itself do not have.
        .testTarget(
            name: "StationTests",
            dependencies: [
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsConcurrency", package: "swift-run-loops"),
                .product(name: "RunLoopsTestingMain", package: "swift-run-loops"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    ]
)
