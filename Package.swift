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
let xcb: Target.Dependency = .target(name: "CXCB", condition: .when(traits: ["Window"]))
let chafa: Target.Dependency = .target(name: "CChafa", condition: .when(traits: ["Pictures"]))
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
        // Dates and time zones. It links FoundationEssentials and FoundationInternationalization, whose dates and zones it has.
        .library(name: "RunLoopsCalendar", targets: ["RunLoopsCalendar"]),
        .library(name: "RunLoopsConcurrency", targets: ["RunLoopsConcurrency"]),
        .library(name: "RunLoopsMainActor", targets: ["RunLoopsMainActor"]),
        .library(name: "RunLoopsTestingMain", targets: ["RunLoopsTestingMain"]),
        .library(name: "RunLoopsKit", targets: ["RunLoopsKit"]),
        .library(name: "RunLoopsDiagnostics", targets: ["RunLoopsDiagnostics"]),
        .library(name: "LoopUI", targets: ["LoopUI"]),
        .library(name: "LoopUITerminal", targets: ["LoopUITerminal"]),
        .library(name: "LoopUITesting", targets: ["LoopUITesting"]),
        // The loop under Core Foundation's names. It links Foundation, which has Core Foundation in it.
        .library(name: "CoreFoundationRunLoop", targets: ["CoreFoundationRunLoop"]),
        // With the trait Window alone.
        .library(name: "LoopUIWindow", targets: ["LoopUIWindow"]),
        // With the trait Pictures alone.
        .library(name: "LoopUIPictures", targets: ["LoopUIPictures"]),
        // The integrations with other loops and packages; each except the first needs the trait of its name.
        .library(name: "RunLoopsDispatch", targets: ["RunLoopsDispatch"]),
        .library(name: "RunLoopsGLib", targets: ["RunLoopsGLib"]),
        .library(name: "RunLoopsLog", targets: ["RunLoopsLog"]),
        .library(name: "RunLoopsMetrics", targets: ["RunLoopsMetrics"]),
        .library(name: "RunLoopsServiceLifecycle", targets: ["RunLoopsServiceLifecycle"]),
        // Foundation's names, for code that is ported from Apple's systems. They link Foundation, as that code does.
        .library(name: "FoundationRunLoop", targets: ["FoundationRunLoop"]),
        .library(name: "FoundationRunLoopXCTest", targets: ["FoundationRunLoopXCTest"]),
        // `runloop` is no product: with it, every dependant would resolve swift-argument-parser.
    ],
    traits: [
        // SwiftPM resolves what any product of a package needs, unless a trait stands before it. Without a trait there
        // is no package to resolve and no C library to install.
        .trait(name: "GLib", description: "RunLoopsGLib, which needs the C library glib-2.0."),
        .trait(name: "Log", description: "RunLoopsLog, which needs swift-log."),
        .trait(name: "Metrics", description: "RunLoopsMetrics, which needs swift-metrics."),
        .trait(name: "Pictures", description: "LoopUIPictures, which needs Chafa."),
        .trait(name: "Window", description: "LoopUIWindow, which needs xcb, xkbcommon, Cairo and Pango."),
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
        // The C library under one name: Glibc or Musl.
        .target(name: "LinuxLibC", swiftSettings: strict),
        // The loop. Imports no Foundation.
        .target(name: "RunLoops", dependencies: ["CLinuxKernel", "LinuxLibC"], swiftSettings: strict),
        // Manual kernel and clock, trace recorder, threads with a loop.
        .target(name: "RunLoopsTesting", dependencies: ["RunLoops", "RunLoopsKit"], swiftSettings: strict),
        // Descriptors, signals, child processes, file changes and sockets as sources of a loop. Imports no Foundation.
        .target(
            name: "RunLoopsEvents", dependencies: ["RunLoops", "RunLoopsConcurrency", "CLinuxKernel", "LinuxLibC"],
            swiftSettings: strict),
        // Message ports, between threads and between processes.
        .target(
            name: "RunLoopsPorts", dependencies: ["RunLoops", "RunLoopsConcurrency", "CLinuxKernel", "LinuxLibC"],
            swiftSettings: strict),
        // Dates and schedules of a time zone. The one library but those with Foundation's names that imports Foundation.
        .target(
            name: "RunLoopsCalendar", dependencies: ["RunLoops", "RunLoopsConcurrency", "CLinuxKernel", "LinuxLibC"],
            swiftSettings: strict),
        // Async mains, executors, clocks and sequences on a loop. Knows only the loop, so that it brings no other
        // library along.
        .target(
            name: "RunLoopsConcurrency", dependencies: ["RunLoops", "CLinuxKernel", "LinuxLibC"], swiftSettings: strict),
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
            name: "RunLoopsKit", dependencies: ["RunLoops", "RunLoopsConcurrency", "CLinuxKernel", "LinuxLibC"],
            swiftSettings: strict),
        // Starts recording before main() when the environment asks for it, and writes the trace when a signal ends the
        // program: Swift has no constructors, and no signal handlers.
        .target(name: "CTraceStart", dependencies: ["CLinuxKernel"]),
        // The stacks of other threads, taken and unwound without trusting what is on them.
        .target(name: "CStackSampling", dependencies: ["CLinuxKernel"]),
        // What a loop does, recorded; as pictures and in words.
        .target(
            name: "RunLoopsDiagnostics",
            dependencies: ["RunLoops", "CTraceStart", "CStackSampling", "CLinuxKernel", "LinuxLibC"],
            swiftSettings: strict),
        // From the first touch to the drawn picture: what an application puts on its main loop. No Foundation, no display.
        .target(
            name: "LoopUI", dependencies: ["RunLoops", "RunLoopsConcurrency", "RunLoopsKit", "LinuxLibC"],
            swiftSettings: strict),
        // The terminal as a display.
        .target(
            name: "LoopUITerminal",
            dependencies: ["LoopUI", "RunLoops", "RunLoopsEvents", "CTerminalRestore", "CLinuxKernel", "LinuxLibC"],
            swiftSettings: strict),
        // Gives a terminal back when a signal ends the program: Swift has no signal handlers.
        .target(name: "CTerminalRestore"),
        // A display without a device, and scripts of touches, for tests of what is built on LoopUI.
        .target(
            name: "LoopUITesting", dependencies: ["LoopUI", "RunLoops", "RunLoopsTesting"], swiftSettings: strict),
        // A window of the X server as a display. Empty without the trait.
        .systemLibrary(
            name: "CXCB", pkgConfig: "xcb xcb-xkb xcb-xinput xkbcommon-x11 pangocairo cairo-xcb",
            providers: [
                .apt(["libxcb1-dev", "libxcb-xinput-dev", "libcairo2-dev", "libpango1.0-dev"]),
                .apt(["libxkbcommon-dev", "libxkbcommon-x11-dev"]),
            ]),
        .target(
            name: "LoopUIWindow", dependencies: ["LoopUI", "RunLoops", "RunLoopsEvents", "LinuxLibC", xcb],
            swiftSettings: strict),
        // Pictures with their own pixels in terminals. Empty without the trait.
        .systemLibrary(name: "CChafa", pkgConfig: "chafa", providers: [.apt(["libchafa-dev"])]),
        .target(
            name: "LoopUIPictures", dependencies: ["LoopUI", "LoopUITerminal", chafa], swiftSettings: strict),
        // Core Foundation's names over the loop: in C what C can say, in Swift the rest. CoreFoundation is the toolchain's.
        .target(name: "CCoreFoundationRunLoop"),
        .target(
            name: "CoreFoundationRunLoop", dependencies: ["RunLoops", "CCoreFoundationRunLoop"], swiftSettings: strict,
            linkerSettings: [.linkedLibrary("Foundation"), .linkedLibrary("BlocksRuntime")]),
        // The main loop inside Foundation's, or in whatever drains the main queue. Imports no Foundation itself.
        .target(name: "RunLoopsDispatch", dependencies: ["RunLoops"], swiftSettings: strict),
        // Foundation's run loop, timers, ports and notification queues, on this package's loop. Exports Foundation, and Core
        // Foundation's names as Foundation on Apple's systems does.
        .target(
            name: "FoundationRunLoop",
            dependencies: [
                "RunLoops", "RunLoopsKit", "RunLoopsPorts", "CoreFoundationRunLoop", "CLinuxKernel", "LinuxLibC",
            ],
            swiftSettings: strict),
        // A test target that depends on this library has the main loop while it waits in XCTest.
        .target(
            name: "FoundationRunLoopXCTest", dependencies: ["RunLoops", "CGuestAtLoad", "LinuxLibC"],
            swiftSettings: strict,
            linkerSettings: [.linkedLibrary("Foundation")]),
        .target(name: "CGuestAtLoad"),
        // A loop inside GLib's, and the other way round. Empty without the trait, as are the next three.
        .systemLibrary(name: "CGLib", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .target(name: "RunLoopsGLib", dependencies: ["RunLoops", "RunLoopsEvents", glib], swiftSettings: strict),
        // What loops do, as lines of swift-log.
        .target(
            name: "RunLoopsLog",
            dependencies: ["RunLoops", "RunLoopsDiagnostics", "CLinuxKernel", "LinuxLibC", logging],
            swiftSettings: strict),
        // What loops do, as metrics of swift-metrics. CoreMetrics alone: the rest of that package imports Foundation.
        .target(
            name: "RunLoopsMetrics", dependencies: ["RunLoops", "RunLoopsDiagnostics", metrics], swiftSettings: strict),
        // What runs on a loop, as a service of a group.
        .target(
            name: "RunLoopsServiceLifecycle", dependencies: ["RunLoops", "RunLoopsConcurrency", lifecycle],
            swiftSettings: strict),
        // The command-line tool. Only it and the oracle link swift-argument-parser, which links FoundationEssentials.
        .executableTarget(
            name: "runloop",
            dependencies: [
                "RunLoops", "RunLoopsDiagnostics", "RunLoopsEvents", "RunLoopsPorts", "LoopUI", "LoopUITerminal",
                "CLinuxKernel", "LinuxLibC",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        // The same scenario on this package's loop and on the real CFRunLoop, which OracleScenarios links.
        .executableTarget(
            name: "oracle",
            dependencies: [
                "OracleScenarios", "OracleNames", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .target(
            name: "OracleScenarios",
            dependencies: ["RunLoops"],
            swiftSettings: strict,
            linkerSettings: [.linkedLibrary("Foundation")]),
        // The same engine again, with this package's loop under Core Foundation's names.
        .target(
            name: "OracleNames", dependencies: ["OracleScenarios", "CoreFoundationRunLoop"],
            swiftSettings: strict + [.define("ORACLE_NAMES")]),
        // Threads, values that threads share and the like, for the tests of every library.
        .target(
            name: "RunLoopsTestSupport", dependencies: ["RunLoops", "CHoldingChild", "CTestCalls", "CLinuxKernel"],
            path: "Tests/RunLoopsTestSupport", swiftSettings: strict),
        // What Swift cannot do: a child with this process's memory.
        .target(name: "CHoldingChild", path: "Tests/CHoldingChild"),
        // System calls that Swift's import of the C library leaves out.
        .target(name: "CTestCalls", path: "Tests/CTestCalls"),
        // A terminal, and a program on it.
        .target(
            name: "TerminalTestSupport", dependencies: ["LoopUI", "RunLoopsTestSupport"],
            path: "Tests/TerminalTestSupport", swiftSettings: strict),
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
            name: "RunLoopsCalendarTests",
            dependencies: [
                "RunLoopsCalendar", "RunLoops", "RunLoopsConcurrency", "RunLoopsTesting", "RunLoopsTestSupport",
                "CLinuxKernel",
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
                "RunLoopsDiagnostics", "RunLoops", "RunLoopsTesting", "RunLoopsTestSupport", "CLinuxKernel",
                "CStackSampling", "runloop", "RunLoopsDiagnosticsPrograms", "RunLoopsHangPrograms",
            ],
            swiftSettings: strict),
        // The tool from inside: its arguments, figures and screens; and from outside, in a pseudo-terminal.
        .testTarget(
            name: "RunLoopToolTests",
            dependencies: [
                "runloop", "LoopUI", "LoopUITesting", "RunLoopsDiagnostics", "RunLoops", "RunLoopsTestSupport",
                "RunLoopsDiagnosticsPrograms", "TerminalTestSupport",
            ],
            swiftSettings: strict),
        // A program to look into, which the tests run.
        .executableTarget(
            name: "RunLoopsDiagnosticsPrograms",
            dependencies: ["RunLoopsDiagnostics", "RunLoops", "RunLoopsKit", "CLinuxKernel"],
            path: "Tests/RunLoopsDiagnosticsPrograms", swiftSettings: strict),
        // What Swift cannot do: fibres, alternate stacks, vfork, a sandbox.
        .target(name: "CHangScenes", path: "Tests/CHangScenes"),
        // Programs that hang, which the tests run.
        .executableTarget(
            name: "RunLoopsHangPrograms", dependencies: ["RunLoopsDiagnostics", "RunLoops", "CHangScenes"],
            path: "Tests/RunLoopsHangPrograms", swiftSettings: strict),
        .testTarget(
            name: "LoopUITests",
            dependencies: [
                "LoopUI", "LoopUITesting", "RunLoops", "RunLoopsTesting", "RunLoopsTestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "LoopUITerminalTests",
            dependencies: [
                "LoopUITerminal", "LoopUI", "LoopUITesting", "RunLoops", "RunLoopsTestSupport",
                "LoopUITerminalPrograms", "TerminalTestSupport",
            ],
            swiftSettings: strict),
        // A program on a terminal, which the tests run.
        .executableTarget(
            name: "LoopUITerminalPrograms", dependencies: ["LoopUITerminal", "LoopUI", "RunLoops"],
            path: "Tests/LoopUITerminalPrograms", swiftSettings: strict),
        // Empty without the trait Window, as are the programs that they drive.
        .testTarget(
            name: "LoopUIWindowTests",
            dependencies: ["LoopUIWindow", "LoopUI", "RunLoopsTestSupport", "LoopUIWindowPrograms", xcb],
            swiftSettings: strict),
        .executableTarget(
            name: "LoopUIWindowPrograms", dependencies: ["LoopUIWindow", "LoopUI", "RunLoops"],
            path: "Tests/LoopUIWindowPrograms", swiftSettings: strict),
        .testTarget(
            name: "FoundationRunLoopTests",
            dependencies: [
                "FoundationRunLoop", "RunLoops", "RunLoopsTesting", "RunLoopsTestSupport", "FoundationRunLoopPrograms",
            ],
            swiftSettings: strict),
        // Empty without the trait Pictures, as is the program that they drive.
        .testTarget(
            name: "LoopUIPicturesTests",
            dependencies: [
                "LoopUIPictures", "LoopUI", "LoopUITerminal", "LoopUITesting", "LoopUIPicturesPrograms",
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "LoopUIPicturesPrograms", dependencies: ["LoopUIPictures", "LoopUI", "LoopUITerminal"],
            path: "Tests/LoopUIPicturesPrograms", swiftSettings: strict),
        // Programs that the tests run: Foundation's own parts beside this package's loop, and a wait as XCTest's.
        .executableTarget(
            name: "FoundationRunLoopPrograms", dependencies: ["FoundationRunLoop", "RunLoopsDispatch"],
            path: "Tests/FoundationRunLoopPrograms", swiftSettings: strict),
        // The second is in no test target's dependencies: it would make the main loop a guest in the runner of all tests.
        .executableTarget(
            name: "FoundationRunLoopXCTestPrograms", dependencies: ["FoundationRunLoop", "FoundationRunLoopXCTest"],
            path: "Tests/FoundationRunLoopXCTestPrograms", swiftSettings: strict,
            // As the runner of tests is.
            linkerSettings: [.linkedLibrary("XCTest")]),
        // One source, built with Foundation's names and with this package's: the tests compare what both say.
        .executableTarget(
            name: "FoundationRunLoopSameSource", path: "Tests/FoundationRunLoopSameSource", swiftSettings: strict),
        .executableTarget(
            name: "FoundationRunLoopSameSourceOurs", dependencies: ["FoundationRunLoop"],
            path: "Tests/FoundationRunLoopSameSourceOurs", swiftSettings: strict + [.define("FOUNDATION_RUN_LOOP")]),
        // The integrations, as far as a test runner can test them: the runner keeps the main thread, so no test has the
        // main loop.
        .testTarget(
            name: "RunLoopsGLibTests", dependencies: ["RunLoops", "RunLoopsGLib", glib], swiftSettings: strict),
        .testTarget(
            name: "RunLoopsLogTests",
            dependencies: [
                "RunLoops", "RunLoopsDiagnostics", "RunLoopsLog", "RunLoopsTesting", "RunLoopsTestSupport", logging,
                external("InMemoryLogging", "swift-log", trait: "Log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RunLoopsMetricsTests",
            dependencies: [
                "RunLoops", "RunLoopsDiagnostics", "RunLoopsMetrics", "RunLoopsTesting", "RunLoopsTestSupport", metrics,
                external("MetricsTestKit", "swift-metrics", trait: "Metrics"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RunLoopsServiceLifecycleTests",
            dependencies: [
                "RunLoops", "RunLoopsEvents", "RunLoopsKit", "RunLoopsServiceLifecycle", "RunLoopsTestSupport",
                lifecycle,
                external("UnixSignals", "swift-service-lifecycle", trait: "ServiceLifecycle"),
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
            name: "CoreFoundationRunLoopTests",
            dependencies: ["CoreFoundationRunLoop", "RunLoops", "RunLoopsTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "OracleTests", dependencies: ["OracleScenarios"], swiftSettings: strict),
    ]
)

// The site's own catalogue: questions, tutorials and recipes, which belong to no single library. The target has no code, and no product,
// because nobody imports it. DocC resolves its links to the symbols of all libraries, since it depends on them.
package.targets.append(
    .target(name: "Guide", dependencies: package.products.map { .target(name: $0.name) }, swiftSettings: strict))
