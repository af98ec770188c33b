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
    name: "node-example",
    // Node loads a shared library.
    products: [.library(name: "station", type: .dynamic, targets: ["Addon"])],
    // A link with the name of the package: the folder of a checkout may have any.
    dependencies: [.package(path: "../.package/swift-run-loops")],
    targets: [
        // Names the Debian package. The headers come with it, or with libnode-dev; the process of Node has the functions.
        .systemLibrary(name: "CNode", providers: [.apt(["nodejs"])]),
        // Node-API: functions of JavaScript, promises, and the run loop inside Node's loop.
        .target(
            name: "Addon",
            dependencies: ["CNode", "Station", .product(name: "RunLoopsHost", package: "swift-run-loops")],
            cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror", "-I/usr/include/node"])]),
        // What the add-on does, in Swift: it knows the loop, and nothing of Node.
        .target(
            name: "Station", dependencies: [.product(name: "RunLoops", package: "swift-run-loops")],
            swiftSettings: strict),
    ]
)
