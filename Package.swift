// swift-tools-version: 6.2
// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// One array of settings for every Swift target of this package, each line with its reason.
var strict: [SwiftSetting] = [
    // Data races are compile-time errors, in the library and in what uses it.
    .swiftLanguageMode(.v6),
    // `any P` is written where a box is paid for.
    .enableUpcomingFeature("ExistentialAny"),
    // An import that is not part of a module's interface does not leak into its users.
    .enableUpcomingFeature("InternalImportsByDefault"),
    // A member is visible only where its module is imported.
    .enableUpcomingFeature("MemberImportVisibility"),
]
// Nobody reads warnings that stay. They are errors in this package's checks (Scripts/environment), and never in the
// build of a package that depends on this one, whose compiler may be newer.
if Context.environment["RUNLOOPS_WARNINGS_ARE_ERRORS"] != nil { strict.append(.treatAllWarnings(as: .error)) }

/// What an integration needs from another package, with its trait.
func external(_ product: String, _ package: String, trait: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: [trait]))
}
let glib: Target.Dependency = .target(name: "CGLib", condition: .when(traits: ["GLib"]))
let logging = external("Logging", "swift-log", trait: "Log")
let metrics = external("CoreMetrics", "swift-metrics", trait: "Metrics")
let lifecycle = external("ServiceLifecycle", "swift-service-lifecycle", trait: "ServiceLifecycle")

let package = Package(
    name: "swift-run-loops",
    products: [
        .library(name: "RunLoops", targets: ["RunLoops"]),
        .library(name: "RunLoopsTesting", targets: ["RunLoopsTesting"]),
        .library(name: "RunLoopsEvents", targets: ["RunLoopsEvents"]),
        .library(name: "RunLoopsPorts", targets: ["RunLoopsPorts"]),
        .library(name: "RunLoopsConcurrency", targets: ["RunLoopsConcurrency"]),
        .library(name: "RunLoopsMainActor", targets: ["RunLoopsMainActor"]),
        .library(name: "RunLoopsTestingMain", targets: ["RunLoopsTestingMain"]),
        .library(name: "RunLoopsKit", targets: ["RunLoopsKit"]),
        .library(name: "RunLoopsDiagnostics", targets: ["RunLoopsDiagnostics"]),
        // The integrations with other loops and packages; each except the first needs the trait of its name.
        .library(name: "RunLoopsDispatch", targets: ["RunLoopsDispatch"]),
        .library(name: "RunLoopsGLib", targets: ["RunLoopsGLib"]),
        .library(name: "RunLoopsLog", targets: ["RunLoopsLog"]),
        .library(name: "RunLoopsMetrics", targets: ["RunLoopsMetrics"]),
        .library(name: "RunLoopsServiceLifecycle", targets: ["RunLoopsServiceLifecycle"]),
        .executable(name: "runloop", targets: ["runloop"]),
    ],
    traits: [
        // SwiftPM resolves what any product of a package needs, unless a trait stands before it. Without a trait there
        // is no package to resolve and no C library to install.
        .trait(name: "GLib", description: "RunLoopsGLib, which needs the C library glib-2.0."),
        .trait(name: "Log", description: "RunLoopsLog, which needs swift-log."),
        .trait(name: "Metrics", description: "RunLoopsMetrics, which needs swift-metrics."),
        .trait(name: "ServiceLifecycle", description: "RunLoopsServiceLifecycle, which needs swift-service-lifecycle."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
    ],
    targets: [
        // The system calls Swift cannot name, and libdispatch's main-queue hooks.
        .target(name: "CLinuxKernel"),
        // The loop. Imports no Foundation.
        .target(name: "RunLoops", dependencies: ["CLinuxKernel"], swiftSettings: strict),
        // Manual kernel and clock, trace recorder, threads with a loop.
        .target(name: "RunLoopsTesting", dependencies: ["RunLoops", "RunLoopsKit"], swiftSettings: strict),
        // Descriptors, signals, child processes, file changes and sockets as sources of a loop. Imports no Foundation.
        .target(
            name: "RunLoopsEvents", dependencies: ["RunLoops", "RunLoopsConcurrency", "CLinuxKernel"],
            swiftSettings: strict),
        // Message ports, between threads and between processes.
        .target(
            name: "RunLoopsPorts", dependencies: ["RunLoops", "RunLoopsConcurrency", "CLinuxKernel"],
            swiftSettings: strict),
        // Async mains, executors, clocks and sequences on a loop. Knows only the loop, so that it brings no other
        // library along.
        .target(name: "RunLoopsConcurrency", dependencies: ["RunLoops", "CLinuxKernel"], swiftSettings: strict),
        // A program that links this library has the main actor on the main loop's own executor, from before main.
        .target(
            name: "RunLoopsMainActor", dependencies: ["RunLoops", "RunLoopsConcurrency", "CMainActorAtLoad"],
            swiftSettings: strict),
        .target(name: "CMainActorAtLoad"),
        // A test trait for tests that need a live main loop. It takes the main thread of the test runner that links it.
        .target(
            name: "RunLoopsTestingMain", dependencies: ["RunLoops", "RunLoopsConcurrency", "CMainLoopAtLoad"],
            swiftSettings: strict),
        .target(name: "CMainLoopAtLoad", dependencies: ["CLinuxKernel"]),
        // What frameworks put on a run loop. Imports no Foundation.
        .target(
            name: "RunLoopsKit", dependencies: ["RunLoops", "RunLoopsConcurrency", "CLinuxKernel"],
            swiftSettings: strict),
        // Starts recording before main() when the environment asks for it: Swift has no constructors.
        .target(name: "CTraceStart"),
        // What a loop does, recorded; as pictures and in words.
        .target(
            name: "RunLoopsDiagnostics", dependencies: ["RunLoops", "CTraceStart", "CLinuxKernel"],
            swiftSettings: strict),
        // The main loop inside Foundation's, or in whatever drains the main queue. Imports no Foundation itself.
        .target(name: "RunLoopsDispatch", dependencies: ["RunLoops"], swiftSettings: strict),
        // A loop inside GLib's, and the other way round. Empty without the trait, as are the next three.
        .systemLibrary(name: "CGLib", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .target(name: "RunLoopsGLib", dependencies: ["RunLoops", glib], swiftSettings: strict),
        // What loops do, as lines of swift-log.
        .target(
            name: "RunLoopsLog", dependencies: ["RunLoops", "RunLoopsDiagnostics", logging], swiftSettings: strict),
        // What loops do, as metrics of swift-metrics. CoreMetrics alone: the rest of that package imports Foundation.
        .target(
            name: "RunLoopsMetrics", dependencies: ["RunLoops", "RunLoopsDiagnostics", metrics], swiftSettings: strict),
        // What runs on a loop, as a service of a group.
        .target(
            name: "RunLoopsServiceLifecycle", dependencies: ["RunLoops", "RunLoopsConcurrency", lifecycle],
            swiftSettings: strict),
        // The command-line tool. Without swift-argument-parser, which links FoundationEssentials.
        .executableTarget(
            name: "runloop", dependencies: ["RunLoops", "RunLoopsDiagnostics", "RunLoopsPorts", "CLinuxKernel"],
            swiftSettings: strict),
        // The same scenario on this package's loop and on the real CFRunLoop, which OracleScenarios links.
        .executableTarget(
            name: "oracle",
            dependencies: [
                "OracleScenarios", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .target(
            name: "OracleScenarios",
            dependencies: ["RunLoops"],
            swiftSettings: strict,
            linkerSettings: [.linkedLibrary("Foundation")]),
        // Threads, values that threads share and the like, for the tests of every library.
        .target(
            name: "RunLoopsTestSupport", dependencies: ["RunLoops", "CLinuxKernel"], path: "Tests/RunLoopsTestSupport",
            swiftSettings: strict),
        .testTarget(
            name: "RunLoopsTests",
            dependencies: ["RunLoops", "RunLoopsTesting", "RunLoopsTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "RunLoopsEventsTests",
            dependencies: [
                "RunLoops", "RunLoopsConcurrency", "RunLoopsEvents", "RunLoopsKit", "RunLoopsTesting", "CLinuxKernel",
                "RunLoopsTestSupport",
            ],
            swiftSettings: strict),
        // The tool is named here so that it is built: it is the other process of these tests.
        .testTarget(
            name: "RunLoopsPortsTests",
            dependencies: [
                "RunLoops", "RunLoopsConcurrency", "RunLoopsKit", "RunLoopsPorts", "runloop", "RunLoopsTestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RunLoopsConcurrencyTests",
            dependencies: [
                "RunLoopsConcurrency", "RunLoops", "RunLoopsEvents", "RunLoopsKit", "RunLoopsPorts",
                "RunLoopsTesting", "RunLoopsDiagnostics", "RunLoopsTestSupport",
                "RunLoopsConcurrencyPrograms", "RunLoopsSynchronousMainPrograms", "RunLoopsMainActorPrograms",
            ],
            swiftSettings: strict),
        // Programs that the tests run: an async main, a synchronous one, and one that links RunLoopsMainActor.
        .executableTarget(
            name: "RunLoopsConcurrencyPrograms",
            dependencies: ["RunLoopsConcurrencyScenes", "RunLoopsConcurrency", "RunLoops"],
            path: "Tests/RunLoopsConcurrencyPrograms", swiftSettings: strict),
        .executableTarget(
            name: "RunLoopsSynchronousMainPrograms",
            dependencies: ["RunLoopsConcurrencyScenes", "RunLoopsConcurrency", "RunLoops"],
            path: "Tests/RunLoopsSynchronousMainPrograms", swiftSettings: strict),
        .executableTarget(
            name: "RunLoopsMainActorPrograms", dependencies: ["RunLoopsConcurrencyScenes", "RunLoopsMainActor"],
            path: "Tests/RunLoopsMainActorPrograms", swiftSettings: strict),
        // The scenes that all of these programs play.
        .target(
            name: "RunLoopsConcurrencyScenes",
            dependencies: ["RunLoopsConcurrency", "RunLoops", "RunLoopsPorts"],
            path: "Tests/RunLoopsConcurrencyScenes", swiftSettings: strict),
        .testTarget(
            name: "RunLoopsKitTests",
            dependencies: [
                "RunLoopsKit", "RunLoops", "RunLoopsConcurrency", "RunLoopsTesting", "CLinuxKernel",
                "RunLoopsTestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RunLoopsDiagnosticsTests",
            dependencies: [
                "RunLoopsDiagnostics", "RunLoops", "RunLoopsTesting", "RunLoopsTestSupport", "CLinuxKernel", "runloop",
                "RunLoopsDiagnosticsPrograms", "RunLoopsHangPrograms",
            ],
            swiftSettings: strict),
        // A program to look into, which the tests run.
        .executableTarget(
            name: "RunLoopsDiagnosticsPrograms", dependencies: ["RunLoopsDiagnostics", "RunLoops", "CLinuxKernel"],
            path: "Tests/RunLoopsDiagnosticsPrograms", swiftSettings: strict),
        // Programs that hang, which the tests run.
        .executableTarget(
            name: "RunLoopsHangPrograms", dependencies: ["RunLoopsDiagnostics", "RunLoops"],
            path: "Tests/RunLoopsHangPrograms", swiftSettings: strict),
        // The integrations, as far as a test runner can test them: the runner keeps the main thread, so no test has the
        // main loop.
        .testTarget(
            name: "RunLoopsGLibTests", dependencies: ["RunLoops", "RunLoopsGLib", glib], swiftSettings: strict),
        .testTarget(
            name: "RunLoopsLogTests",
            dependencies: [
                "RunLoops", "RunLoopsDiagnostics", "RunLoopsLog", "RunLoopsTesting", logging,
                external("InMemoryLogging", "swift-log", trait: "Log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RunLoopsMetricsTests",
            dependencies: [
                "RunLoops", "RunLoopsDiagnostics", "RunLoopsMetrics", "RunLoopsTesting", metrics,
                external("MetricsTestKit", "swift-metrics", trait: "Metrics"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RunLoopsServiceLifecycleTests",
            dependencies: [
                "RunLoops", "RunLoopsKit", "RunLoopsServiceLifecycle", lifecycle,
                external("ServiceLifecycleTestKit", "swift-service-lifecycle", trait: "ServiceLifecycle"),
                external("Logging", "swift-log", trait: "ServiceLifecycle"),
            ],
            swiftSettings: strict),
        // The integrations on the true main thread; `Scripts/check --only integrations` runs these programs. The first
        // has Foundation's loop as its host.
        .executableTarget(
            name: "RunLoopsDispatchPrograms", dependencies: ["RunLoops", "RunLoopsDispatch"],
            path: "Tests/RunLoopsDispatchPrograms", swiftSettings: strict),
        .executableTarget(
            name: "RunLoopsGLibPrograms", dependencies: ["RunLoops", "RunLoopsGLib", glib],
            path: "Tests/RunLoopsGLibPrograms", swiftSettings: strict),
        .executableTarget(
            name: "RunLoopsLogPrograms", dependencies: ["RunLoops", "RunLoopsDiagnostics", "RunLoopsLog", logging],
            path: "Tests/RunLoopsLogPrograms", swiftSettings: strict),
        .executableTarget(
            name: "RunLoopsMetricsPrograms",
            dependencies: [
                "RunLoops", "RunLoopsMetrics", metrics, external("MetricsTestKit", "swift-metrics", trait: "Metrics"),
            ],
            path: "Tests/RunLoopsMetricsPrograms", swiftSettings: strict),
        .testTarget(
            name: "OracleTests", dependencies: ["OracleScenarios"], swiftSettings: strict),
    ]
)
