// swift-tools-version: 6.2
// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PackageDescription

// One array for every Swift target of this package, as in the library's own manifest.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// A program in C does not load the Swift runtime: BenchKit/include/workloads/c-program.h.
let cProgram: [LinkerSetting] = [.unsafeFlags(["-nostartfiles"])]

/// A peer written in C. What it needs is linked only if its header is here: without it the peer is built as a program
/// that says so, and the driver skips it by name.
func foreign(_ name: String, header: String?, links: [String] = [], includes: [String] = []) -> Target {
    let isHere = header.map { FileManager.default.fileExists(atPath: $0) } ?? true
    return .executableTarget(
        name: "peer-\(name)",
        dependencies: ["BenchKit"],
        cSettings: isHere
            ? [.define("HAS_PEER"), .unsafeFlags(includes.map { "-I\($0)" })] : [],
        linkerSettings: cProgram + (isHere ? links.map { .linkedLibrary($0) } : []))
}

/// GLib's configuration header lies in a folder named after the architecture.
let glibIncludes =
    ["/usr/include/glib-2.0"]
    + ["x86_64-linux-gnu", "aarch64-linux-gnu", "."].map { "/usr/lib/\($0)/glib-2.0/include" }

let package = Package(
    name: "benchmarks",
    dependencies: [
        .package(name: "swift-run-loops", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        // A peer, at the version that the figures name.
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    ],
    targets: [
        // Clock, random numbers, statistics, and the workloads as C peers include them.
        .target(name: "BenchKit"),
        // The same workloads for peers in Swift.
        .target(name: "Workloads", dependencies: ["BenchKit"], swiftSettings: strict),
        // The peers, each a program of its own, so that none carries another's libraries.
        foreign("raw", header: nil),
        foreign("libuv", header: "/usr/include/uv.h", links: ["uv"]),
        foreign("libev", header: "/usr/include/ev.h", links: ["ev"]),
        foreign("libevent", header: "/usr/include/event2/event.h", links: ["event_core", "event_pthreads"]),
        foreign("glib", header: "/usr/include/glib-2.0/glib.h", links: ["glib-2.0"], includes: glibIncludes),
        .executableTarget(
            name: "peer-corefoundation",
            dependencies: ["Workloads", "BenchKit"],
            swiftSettings: strict,
            linkerSettings: [.linkedLibrary("Foundation"), .linkedLibrary("BlocksRuntime")]),
        .executableTarget(name: "peer-dispatch", dependencies: ["Workloads", "BenchKit"], swiftSettings: strict),
        .executableTarget(
            name: "peer-nio",
            dependencies: [
                "Workloads", "BenchKit", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "peer-ours",
            dependencies: ["Workloads", "BenchKit", .product(name: "RunLoops", package: "swift-run-loops")],
            swiftSettings: strict),
        // Programs with which the start of a loop is compared.
        .executableTarget(name: "start-empty", swiftSettings: strict),
        .executableTarget(name: "start-foundation", swiftSettings: strict),
        // Starts programs from a small process, for W10.
        .executableTarget(name: "launcher", dependencies: ["BenchKit"], linkerSettings: cProgram),
        // Plots as SVG.
        .target(name: "Charts", swiftSettings: strict),
        // How the cost of operations grows with the number of items.
        .executableTarget(
            name: "grow",
            dependencies: [
                "Charts", "BenchKit", "Workloads", .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        // The same in instructions, for Benchmarks/growth.
        .executableTarget(
            name: "growth",
            dependencies: [
                "BenchKit", "Workloads", .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsEvents", package: "swift-run-loops"),
                .product(name: "RunLoopsPorts", package: "swift-run-loops"),
                .product(name: "LoopUI", package: "swift-run-loops"),
                .product(name: "LoopUITesting", package: "swift-run-loops"),
            ],
            swiftSettings: strict),
        // Hops between executors, and questions to another thread.
        .executableTarget(
            name: "hops",
            dependencies: [
                "Workloads", .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsConcurrency", package: "swift-run-loops"),
                .product(name: "RunLoopsPorts", package: "swift-run-loops"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict),
        // The cost of event sources while nothing happens.
        .executableTarget(
            name: "rest",
            dependencies: [
                "BenchKit", .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsEvents", package: "swift-run-loops"),
            ],
            swiftSettings: strict),
        // What Foundation's names cost over the loop's own.
        .executableTarget(
            name: "names-foundation",
            dependencies: [
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "FoundationRunLoop", package: "swift-run-loops"),
            ],
            swiftSettings: strict),
        // What Core Foundation's names cost over the loop's own.
        .executableTarget(
            name: "names",
            dependencies: [
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "CoreFoundationRunLoop", package: "swift-run-loops"),
            ],
            swiftSettings: strict),
        // What it costs to be recorded and looked at; Benchmarks/trace-cost runs these.
        .target(
            name: "TraceCost",
            dependencies: ["Workloads", .product(name: "RunLoops", package: "swift-run-loops")],
            swiftSettings: strict),
        .executableTarget(name: "trace-cost-plain", dependencies: ["TraceCost"], swiftSettings: strict),
        .executableTarget(
            name: "trace-cost-linked",
            dependencies: [
                "TraceCost", .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsDiagnostics", package: "swift-run-loops"),
            ],
            swiftSettings: strict),
        // Keys on a terminal, beside other libraries for terminals: Terminals/measure.
        .executableTarget(
            name: "terminal-keys",
            dependencies: [
                .product(name: "LoopUI", package: "swift-run-loops"),
                .product(name: "LoopUITerminal", package: "swift-run-loops"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "terminal-rows",
            dependencies: [
                .product(name: "LoopUI", package: "swift-run-loops"),
                .product(name: "LoopUITerminal", package: "swift-run-loops"),
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsKit", package: "swift-run-loops"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "terminal-loop",
            dependencies: [.product(name: "RunLoops", package: "swift-run-loops")],
            swiftSettings: strict),
        // Replaces malloc in the test program, to count.
        .target(name: "AllocationCounting"),
        .testTarget(
            name: "AllocationTests",
            dependencies: ["AllocationCounting", .product(name: "RunLoops", package: "swift-run-loops")],
            swiftSettings: strict),
        // The driver. It runs the programs above, which is why it needs them built.
        .executableTarget(
            name: "peers",
            dependencies: [
                "peer-ours", "peer-raw", "peer-libuv", "peer-libev", "peer-libevent", "peer-glib",
                "peer-corefoundation",
                "peer-dispatch", "peer-nio", "start-empty", "start-foundation", "launcher",
                "Charts", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
    ]
)
