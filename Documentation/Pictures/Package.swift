// swift-tools-version: 6.2
// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The pictures of the documentation. Nothing here depends on the library, so that a change of the library rebuilds nothing.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "pictures",
    targets: [
        .executableTarget(name: "pictures", swiftSettings: strict),
        .testTarget(name: "PicturesTests", dependencies: ["pictures"], swiftSettings: strict),
    ]
)
