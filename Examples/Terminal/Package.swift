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

let loops: [Target.Dependency] = [
    .product(name: "RunLoops", package: "swift-run-loops"),
    .product(name: "RunLoopsEvents", package: "swift-run-loops"),
]

let package = Package(
    name: "terminal-example",
    dependencies: [
        // A link with the name of the package: the folder of a checkout may have any.
        .package(path: "../.package/swift-run-loops")
    ],
    targets: [
        .systemLibrary(name: "CReadline", pkgConfig: "readline", providers: [.apt(["libreadline-dev"])]),
        .systemLibrary(name: "CCurses", pkgConfig: "ncursesw", providers: [.apt(["libncurses-dev"])]),
        .executableTarget(name: "prompt", dependencies: ["CReadline"] + loops, swiftSettings: strict),
        .executableTarget(name: "screen", dependencies: ["CCurses"] + loops, swiftSettings: strict),
    ]
)
