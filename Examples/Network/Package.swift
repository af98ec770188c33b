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

let loops: [Target.Dependency] = ["RunLoops", "RunLoopsConcurrency", "RunLoopsKit"].map {
    .product(name: $0, package: "swift-run-loops")
}

let package = Package(
    name: "network-examples",
    dependencies: [
        // A link with the name of the package: the folder of a checkout may have any.
        .package(path: "../.package/swift-run-loops"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        // A server on 127.0.0.1 that answers when the program says so, and a timer that ticks meanwhile.
        .target(
            name: "LocalServer",
            dependencies: loops + [.product(name: "RunLoopsEvents", package: "swift-run-loops")],
            swiftSettings: strict),
        .executableTarget(name: "url-session", dependencies: loops + ["LocalServer"], swiftSettings: strict),
        // Its main actor is on the main loop's executor, without a line of code.
        .executableTarget(
            name: "nio",
            dependencies: loops + [
                "LocalServer", .product(name: "RunLoopsMainActor", package: "swift-run-loops"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "async-http-client",
            dependencies: loops + [
                "LocalServer", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: strict),
    ]
)
