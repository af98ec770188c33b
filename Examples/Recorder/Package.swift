// swift-tools-version: 6.2
// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The library's own settings; each has its reason there.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "recorder-example",
    dependencies: [
        // A link with the name of the package: the folder of a checkout may have any.
        .package(path: "../.package/swift-run-loops")
    ],
    targets: [
        .executableTarget(
            name: "recorder",
            dependencies: [
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsEvents", package: "swift-run-loops"),
            ],
            swiftSettings: strict)
    ]
)
