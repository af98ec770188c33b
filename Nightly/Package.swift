// swift-tools-version: 6.2
// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// One array for every Swift target of this package, as in the library's own manifest.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func library(_ name: String) -> Target.Dependency { .product(name: name, package: "swift-run-loops") }
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

// The programs of Scripts/nightly, which take too long for each change.
let package = Package(
    name: "nightly",
    dependencies: [
        .package(name: "swift-run-loops", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        // Threads, counts, and what the process uses.
        .target(name: "NightlyKit", dependencies: [library("RunLoops")], swiftSettings: strict),
        // A million timers and other numbers that nobody has, each with what it costs.
        .executableTarget(
            name: "extremes",
            dependencies: ["NightlyKit", library("RunLoops"), library("RunLoopsKit"), library("RunLoopsTesting")],
            swiftSettings: strict),
        // Many threads on few loops, with a law of conservation for each kind of work.
        .executableTarget(
            name: "stress",
            dependencies: [
                "NightlyKit", library("RunLoops"), library("RunLoopsKit"), library("RunLoopsPorts"), arguments,
            ],
            swiftSettings: strict),
        // Operations with little memory left, and with few threads.
        .executableTarget(
            name: "scarce",
            dependencies: [
                "NightlyKit", library("RunLoops"), library("RunLoopsKit"), library("RunLoopsPorts"),
                library("RunLoopsEvents"), library("RunLoopsDiagnostics"), arguments,
            ],
            swiftSettings: strict),
        // Readers of foreign bytes, for libFuzzer: built and run by the script `fuzz`.
        .executableTarget(
            name: "fuzz",
            dependencies: [
                library("RunLoops"), library("RunLoopsEvents"), library("RunLoopsPorts"), library("RunLoopsCalendar"),
                library("RunLoopsDiagnostics"), library("RunLoopsTerminal"),
            ],
            swiftSettings: strict),
        // Everything at once, for long, and a picture of what it uses meanwhile.
        .executableTarget(
            name: "soak",
            dependencies: [
                "NightlyKit", library("RunLoops"), library("RunLoopsKit"), library("RunLoopsPorts"),
                library("RunLoopsEvents"), library("RunLoopsDiagnostics"), arguments,
            ],
            swiftSettings: strict),
    ])
