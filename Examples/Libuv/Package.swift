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
    name: "libuv-example",
    // A link with the name of the package: the folder of a checkout may have any.
    dependencies: [.package(path: "../.package/swift-run-loops")],
    targets: [
        .systemLibrary(name: "CUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        // The program, in C: libuv runs the main thread.
        .executableTarget(
            name: "libuv-example",
            dependencies: ["CUV", "Work", .product(name: "RunLoopsHost", package: "swift-run-loops")],
            cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])]),
        // What Swift does in it: it knows the loop, and nothing of libuv.
        .target(
            name: "Work", dependencies: [.product(name: "RunLoops", package: "swift-run-loops")], swiftSettings: strict),
    ]
)
