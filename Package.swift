// swift-tools-version: 6.2
import PackageDescription

// One array for every target of ours, each line with its reason.
let strict: [SwiftSetting] = [
    // Data races are compile-time errors, in the library and in what uses it.
    .swiftLanguageMode(.v6),
    // A warning that is kept is a warning nobody reads.
    .treatAllWarnings(as: .error),
    // `any P` is written where a box is paid for.
    .enableUpcomingFeature("ExistentialAny"),
    // An import that is not part of a module's interface does not leak into its users.
    .enableUpcomingFeature("InternalImportsByDefault"),
    // A member is visible only where its module is imported.
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "swift-run-loops",
    products: [
        .library(name: "RunLoops", targets: ["RunLoops"]),
        .library(name: "RunLoopsTesting", targets: ["RunLoopsTesting"]),
        .library(name: "RunLoopsEvents", targets: ["RunLoopsEvents"]),
        .library(name: "RunLoopsPorts", targets: ["RunLoopsPorts"]),
        .library(name: "RunLoopsConcurrency", targets: ["RunLoopsConcurrency"]),
        .library(name: "RunLoopsAwaiting", targets: ["RunLoopsAwaiting"]),
        .library(name: "RunLoopsMainActor", targets: ["RunLoopsMainActor"]),
        .library(name: "RunLoopsTestingMain", targets: ["RunLoopsTestingMain"]),
        .library(name: "RunLoopsKit", targets: ["RunLoopsKit"]),
        .library(name: "RunLoopsDiagnostics", targets: ["RunLoopsDiagnostics"]),
        .executable(name: "runloop", targets: ["runloop"]),
    ],
    dependencies: [
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
        .target(name: "RunLoopsEvents", dependencies: ["RunLoops", "CLinuxKernel"], swiftSettings: strict),
        // Message ports, between threads and between processes.
        .target(
            name: "RunLoopsPorts", dependencies: ["RunLoops", "CLinuxKernel"], swiftSettings: strict),
        // Async mains, executors, clocks and sequences on a loop. Knows the loop alone, so that it brings nothing else along.
        .target(name: "RunLoopsConcurrency", dependencies: ["RunLoops", "CLinuxKernel"], swiftSettings: strict),
        // Events, ports and threads, awaited.
        .target(
            name: "RunLoopsAwaiting",
            dependencies: ["RunLoops", "RunLoopsConcurrency", "RunLoopsEvents", "RunLoopsKit", "RunLoopsPorts"],
            swiftSettings: strict),
        // What links it has the main actor on the main loop's own executor, from before main.
        .target(
            name: "RunLoopsMainActor", dependencies: ["RunLoops", "RunLoopsConcurrency", "CMainActorAtLoad"],
            swiftSettings: strict),
        .target(name: "CMainActorAtLoad"),
        // A trait for tests that need a live main loop. What depends on it gets the main thread of its test runner.
        .target(
            name: "RunLoopsTestingMain", dependencies: ["RunLoops", "RunLoopsConcurrency", "CMainLoopAtLoad"],
            swiftSettings: strict),
        .target(name: "CMainLoopAtLoad", dependencies: ["CLinuxKernel"]),
        // What frameworks put on a run loop. Imports no Foundation.
        .target(name: "RunLoopsKit", dependencies: ["RunLoops", "CLinuxKernel"], swiftSettings: strict),
        // Starts recording before main() when the environment asks for it: Swift has no constructors.
        .target(name: "CTraceStart"),
        // What a loop does, recorded; as pictures and in words.
        .target(
            name: "RunLoopsDiagnostics", dependencies: ["RunLoops", "CTraceStart", "CLinuxKernel"],
            swiftSettings: strict),
        // The command-line tool. Without swift-argument-parser, which links FoundationEssentials.
        .executableTarget(
            name: "runloop", dependencies: ["RunLoops", "RunLoopsDiagnostics", "RunLoopsPorts", "CLinuxKernel"],
            swiftSettings: strict),
        // The same scenario on ours and on the real CFRunLoop: the only target that links Foundation.
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
        // Replaces malloc in the test program, to count.
        .target(name: "AllocationCounting", path: "Tests/AllocationCounting"),
        .testTarget(
            name: "RunLoopsTests",
            dependencies: ["RunLoops", "RunLoopsTesting", "AllocationCounting", "RunLoopsTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "RunLoopsEventsTests",
            dependencies: ["RunLoops", "RunLoopsEvents", "RunLoopsTesting", "CLinuxKernel", "RunLoopsTestSupport"],
            swiftSettings: strict),
        // The tool is named so that it is built: it is the other process.
        .testTarget(
            name: "RunLoopsPortsTests", dependencies: ["RunLoopsPorts", "runloop", "RunLoopsTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "RunLoopsConcurrencyTests",
            dependencies: [
                "RunLoopsConcurrency", "RunLoopsAwaiting", "RunLoops", "RunLoopsEvents", "RunLoopsKit", "RunLoopsPorts",
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
        // What all of them play.
        .target(
            name: "RunLoopsConcurrencyScenes",
            dependencies: ["RunLoopsConcurrency", "RunLoopsAwaiting", "RunLoops", "RunLoopsPorts"],
            path: "Tests/RunLoopsConcurrencyScenes", swiftSettings: strict),
        .testTarget(
            name: "RunLoopsKitTests",
            dependencies: ["RunLoopsKit", "RunLoops", "RunLoopsTesting", "CLinuxKernel", "RunLoopsTestSupport"],
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
        .testTarget(
            name: "OracleTests", dependencies: ["OracleScenarios"], swiftSettings: strict),
    ]
)
