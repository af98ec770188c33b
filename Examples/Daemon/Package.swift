// swift-tools-version: 6.2
// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

func product(_ name: String) -> Target.Dependency { .product(name: name, package: "swift-run-loops") }

let package = Package(
    name: "daemon",
    dependencies: [
        // A link with the name of the package: the folder of a checkout may have any.
        .package(path: "../.package/swift-run-loops", traits: ["Log"]),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
    ],
    targets: [
        // The daemon, on one run loop.
        .executableTarget(
            name: "tally",
            dependencies: [
                product("RunLoops"), product("RunLoopsEvents"), product("RunLoopsCalendar"), product("RunLoopsLog"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        // The same daemon on Foundation and Dispatch, with swift-subprocess for its children.
        .executableTarget(
            name: "tally-foundation",
            dependencies: [
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: strict),
        // Runs one of the two under load and faults, and counts what is lost.
        .executableTarget(
            name: "load", dependencies: [product("RunLoops"), product("RunLoopsEvents")], swiftSettings: strict),
    ]
)
