// swift-tools-version: 6.2
// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// One array of settings for every Swift target of this package, each line with its reason.
let strict: [SwiftSetting] = [
    // Data races are compile-time errors, in the library and in what uses it.
    .swiftLanguageMode(.v6),
    // `any P` is written where a box is paid for.
    .enableUpcomingFeature("ExistentialAny"),
    // An import that is not part of a module's interface does not leak into its users.
    .enableUpcomingFeature("InternalImportsByDefault"),
    // A member is visible only where its module is imported.
    .enableUpcomingFeature("MemberImportVisibility"),
]
// Warnings are errors in this package's checks (Scripts/environment), and never in the build of a package that depends on this one,
// whose compiler may be newer.
let isStrict = Context.environment["RUNLOOPS_WARNINGS_ARE_ERRORS"] != nil
let settings = strict + (isStrict ? [.treatAllWarnings(as: .error)] : [])

// The modules with Apple's names are other names of Foundation and Core Foundation, as on Apple's systems: to see here that code compiles
// against both. Only these two targets can be built then.
let exportsOriginals = Context.environment["RUNLOOPS_EXPORTS_ORIGINALS"] != nil

// MARK: The products

// The libraries that others can depend on. `runloop` is not among them: with it, every dependant would resolve swift-argument-parser.
let products = [
    "RunLoops",
    "RunLoopsConcurrency",
    "RunLoopsEvents",
    "RunLoopsPorts",
    "RunLoopsKit",
    "RunLoopsCalendar",
    "RunLoopsMainActor",
    "RunLoopsTerminal",
    "LoopUI",
    "LoopUITerminal",
    "LoopUITesting",
    "LoopUIWindow",
    "LoopUIPictures",
    "CoreFoundationRunLoop",
    "FoundationRunLoop",
    "FoundationRunLoopXCTest",
    "RunLoopsDiagnostics",
    "RunLoopsDispatch",
    "RunLoopsFoundation",
    "RunLoopsGLib",
    "RunLoopsHost",
    "RunLoopsLog",
    "RunLoopsMetrics",
    "RunLoopsServiceLifecycle",
    "RunLoopsTesting",
    "RunLoopsTestingMain",
    "RunLoopsTestingHangs",
    "RunLoopsXCTestHangs",
]

// MARK: The kinds of targets

extension Target {
    /// A Swift library.
    static func swift(
        _ name: String, _ dependencies: [Dependency] = [], defines: [String] = [], links: [String] = []
    ) -> Target {
        .target(
            name: name, dependencies: dependencies, swiftSettings: settings + defines.map { .define($0) },
            linkerSettings: links.map { .linkedLibrary($0) })
    }

    /// A library under Apple's names.
    ///
    /// On Apple's systems it re-exports Apple's own modules, and depends on no other target.
    static func original(_ name: String, _ dependencies: [String], links: [String] = []) -> Target {
        .target(
            name: name,
            dependencies: exportsOriginals
                ? [] : dependencies.map { .byName(name: $0, condition: .when(platforms: [.linux])) },
            swiftSettings: settings + (exportsOriginals ? [.define("EXPORTS_ORIGINALS")] : []),
            linkerSettings: links.map { .linkedLibrary($0, .when(platforms: [.linux])) })
    }

    /// A library in C.
    static func c(_ name: String, _ dependencies: [Dependency] = []) -> Target {
        .target(name: name, dependencies: dependencies)
    }

    /// A command-line tool, or a program that tests run.
    static func program(
        _ name: String, _ dependencies: [Dependency] = [], defines: [String] = [], links: [String] = []
    ) -> Target {
        .executableTarget(
            name: name, dependencies: dependencies, swiftSettings: settings + defines.map { .define($0) },
            linkerSettings: links.map { .linkedLibrary($0) })
    }

    /// A test target, which knows the loop and the helpers of the tests.
    static func tests(_ name: String, _ dependencies: [Dependency]) -> Target {
        .testTarget(
            name: name, dependencies: ["RunLoops", "RunLoopsTestSupport"] + dependencies, swiftSettings: settings)
    }
}

// MARK: Dependencies behind a trait, and other packages

extension Target.Dependency {
    static let glib = target(name: "CGLib", condition: .when(traits: ["GLib"]))
    static let xcb = target(name: "CLoopUIXCB", condition: .when(traits: ["Window"]))
    static let wayland = target(name: "CLoopUIWayland", condition: .when(traits: ["Window"]))
    static let chafa = target(name: "CLoopUIChafa", condition: .when(traits: ["Pictures"]))
    static let argumentParser = product(name: "ArgumentParser", package: "swift-argument-parser")
    static let logging = log("Logging", traits: ["Log", "ServiceLifecycle"])
    static let inMemoryLogging = log("InMemoryLogging", traits: ["Log"])
    static let coreMetrics = metrics("CoreMetrics")
    static let metricsTestKit = metrics("MetricsTestKit")
    static let serviceLifecycle = lifecycle("ServiceLifecycle")
    static let serviceLifecycleTestKit = lifecycle("ServiceLifecycleTestKit")
    static let unixSignals = lifecycle("UnixSignals")

    private static func log(_ name: String, traits: Set<String>) -> Self {
        product(name: name, package: "swift-log", condition: .when(traits: traits))
    }
    private static func metrics(_ name: String) -> Self {
        product(name: name, package: "swift-metrics", condition: .when(traits: ["Metrics"]))
    }
    private static func lifecycle(_ name: String) -> Self {
        product(name: name, package: "swift-service-lifecycle", condition: .when(traits: ["ServiceLifecycle"]))
    }
}

// MARK: The targets

/// The targets of a room, which is a folder of `Sources`, and one of `Tests`.
func room(_ name: String, sources: [Target], tests: [Target]) -> [Target] {
    for target in sources { target.path = "Sources/\(name)/\(target.name)" }
    for target in tests { target.path = "Tests/\(name)/\(target.name)" }
    return sources + tests
}

// MARK: Core: the loop

let core = room(
    "Core",
    sources: [
        // The system calls Swift cannot name, and libdispatch's main-queue hooks.
        .c("CRunLoopsKernel"),
        // The C library under one name: Glibc or Musl.
        .swift("RunLoopsLibC"),
        // The loop. Imports no Foundation.
        .swift("RunLoops", ["CRunLoopsKernel", "RunLoopsLibC"]),
        // Texts and descriptors that a program hands to the system.
        .swift("RunLoopsSystem", ["RunLoops", "CRunLoopsKernel", "RunLoopsLibC"]),
    ],
    tests: [
        .tests("RunLoopsTests", ["RunLoopsSystem", "RunLoopsTesting"]),
        // Threads, values that threads share and the like, for the tests of every library.
        .swift("RunLoopsTestSupport", ["RunLoops", "CHoldingChild", "CTestCalls", "CRunLoopsKernel"]),
        // A child with this process's memory, and a filter of system calls; calls that Swift's import of the C library leaves out.
        .c("CHoldingChild"),
        .c("CTestCalls"),
    ])

// MARK: Libraries: what is built on the loop

let libraries = room(
    "Libraries",
    sources: [
        // Async mains, executors, clocks and sequences on a loop. Knows only the loop, so that it brings no other library along.
        .swift("RunLoopsConcurrency", ["RunLoops", "CRunLoopsKernel", "RunLoopsLibC"]),
        // Descriptors, signals, child processes, file changes and sockets as sources of a loop. Imports no Foundation.
        .swift(
            "RunLoopsEvents", ["RunLoops", "RunLoopsSystem", "RunLoopsConcurrency", "CRunLoopsKernel", "RunLoopsLibC"]),
        // Message ports, between threads and between processes.
        .swift(
            "RunLoopsPorts", ["RunLoops", "RunLoopsSystem", "RunLoopsConcurrency", "CRunLoopsKernel", "RunLoopsLibC"]),
        // What frameworks put on a run loop. Imports no Foundation.
        .swift("RunLoopsKit", ["RunLoops", "RunLoopsConcurrency", "CRunLoopsKernel", "RunLoopsLibC"]),
        // Dates and schedules of a time zone. The one library but those with Foundation's names that imports Foundation.
        .swift("RunLoopsCalendar", ["RunLoops", "RunLoopsConcurrency", "CRunLoopsKernel", "RunLoopsLibC"]),
        // A program that links this library has the main actor on the main loop's own executor, from before main.
        .swift("RunLoopsMainActor", ["RunLoops", "RunLoopsConcurrency", "CRunLoopsMainActor"]),
        .c("CRunLoopsMainActor"),
        // The keys, the size and the settings of the process's terminal. The C part restores the terminal when a signal ends the
        // program: Swift has no signal handlers.
        .swift(
            "RunLoopsTerminal",
            [
                "RunLoops", "RunLoopsConcurrency", "RunLoopsEvents", "CRunLoopsKernel", "CRunLoopsTerminalRestore",
                "RunLoopsLibC",
            ]),
        .c("CRunLoopsTerminalRestore"),
    ],
    tests: [
        .tests(
            "RunLoopsConcurrencyTests",
            [
                "RunLoopsConcurrency", "RunLoopsEvents", "RunLoopsKit", "RunLoopsPorts", "RunLoopsCalendar",
                "RunLoopsTesting",
                "RunLoopsDiagnostics", "RunLoopsConcurrencyPrograms", "RunLoopsSynchronousMainPrograms",
                "RunLoopsMainActorPrograms",
            ]),
        // An async main, a synchronous main, a program that links RunLoopsMainActor, and the scenes that all of them play.
        .program("RunLoopsConcurrencyPrograms", ["RunLoopsConcurrencyScenes", "RunLoopsConcurrency", "RunLoops"]),
        .program("RunLoopsSynchronousMainPrograms", ["RunLoopsConcurrencyScenes", "RunLoopsConcurrency", "RunLoops"]),
        .program("RunLoopsMainActorPrograms", ["RunLoopsConcurrencyScenes", "RunLoopsMainActor"]),
        .swift("RunLoopsConcurrencyScenes", ["RunLoopsConcurrency", "RunLoops", "RunLoopsPorts"]),
        .tests(
            "RunLoopsEventsTests",
            [
                "RunLoopsSystem", "RunLoopsConcurrency", "RunLoopsEvents", "RunLoopsKit", "RunLoopsTesting",
                "CRunLoopsKernel", "CHoldingChild",
            ]),
        // The tool is named here so that it is built: it is the other process of these tests.
        .tests("RunLoopsPortsTests", ["RunLoopsConcurrency", "RunLoopsKit", "RunLoopsPorts", "runloop"]),
        .tests("RunLoopsKitTests", ["RunLoopsKit", "RunLoopsConcurrency", "RunLoopsTesting", "CRunLoopsKernel"]),
        .tests(
            "RunLoopsTerminalTests",
            [
                "RunLoopsTerminal", "RunLoopsTerminalPrograms", "TerminalTestSupport", "RunLoopsConcurrency",
                "CRunLoopsTerminalRestore",
            ]),
        .program("RunLoopsTerminalPrograms", ["RunLoopsTerminal", "RunLoopsConcurrency", "RunLoops"]),
        .tests(
            "RunLoopsCalendarTests", ["RunLoopsCalendar", "RunLoopsConcurrency", "RunLoopsTesting", "CRunLoopsKernel"]),
    ])

// MARK: Application: what an application puts on its main loop

let application = room(
    "Application",
    sources: [
        // From the first touch to the drawn picture. No Foundation, no display.
        .swift("LoopUI", ["RunLoops", "RunLoopsConcurrency", "RunLoopsKit", "RunLoopsLibC"]),
        // The terminal as a display.
        .swift(
            "LoopUITerminal",
            [
                "LoopUI", "RunLoops", "RunLoopsEvents", "RunLoopsTerminal", "CRunLoopsTerminalRestore", "RunLoopsLibC",
            ]),
        // A display without a device, and scripts of touches, for tests of what is built on LoopUI.
        .swift("LoopUITesting", ["LoopUI", "RunLoops", "RunLoopsTesting"]),
        // A window of a Wayland compositor or of the X server as a display. Empty without its trait, as are the pictures.
        .swift(
            "LoopUIWindow",
            ["LoopUI", "RunLoops", "RunLoopsEvents", "CRunLoopsKernel", "RunLoopsLibC", .xcb, .wayland]),
        // Pictures with their own pixels in terminals.
        .swift("LoopUIPictures", ["LoopUI", "LoopUITerminal", .chafa]),
        .systemLibrary(
            name: "CLoopUIXCB", pkgConfig: "xcb xcb-xkb xcb-xinput xkbcommon-x11 pangocairo cairo-xcb",
            providers: [
                .apt([
                    "libxcb1-dev", "libxcb-xinput-dev", "libcairo2-dev", "libpango1.0-dev", "libxkbcommon-dev",
                    "libxkbcommon-x11-dev",
                ])
            ]),
        .systemLibrary(
            name: "CLoopUIWayland", pkgConfig: "wayland-client", providers: [.apt(["libwayland-dev"])]),
        .systemLibrary(
            name: "CLoopUIChafa", pkgConfig: "chafa",
            providers: [.apt(["libchafa-dev"])]),
    ],
    tests: [
        .tests("LoopUITests", ["LoopUI", "LoopUITesting", "LoopUITerminalPrograms", "RunLoopsTesting"]),
        .tests(
            "LoopUITerminalTests",
            [
                "LoopUITerminal", "RunLoopsTerminal", "LoopUI", "LoopUITesting", "LoopUITerminalPrograms",
                "TerminalTestSupport",
            ]),
        .program(
            "LoopUITerminalPrograms", ["LoopUITerminal", "LoopUI", "LoopUITesting", "RunLoops", "RunLoopsEvents"]),
        // A terminal, and a program on it.
        .swift("TerminalTestSupport", ["LoopUI", "RunLoopsTestSupport"]),
        .tests("LoopUIWindowTests", ["LoopUIWindow", "LoopUI", "LoopUIWindowPrograms", .xcb, .wayland]),
        .program("LoopUIWindowPrograms", ["LoopUIWindow", "LoopUI", "RunLoops", "RunLoopsKit"]),
        .tests(
            "LoopUIPicturesTests",
            ["LoopUIPictures", "LoopUI", "LoopUITerminal", "LoopUITesting", "LoopUIPicturesPrograms"]),
        .program("LoopUIPicturesPrograms", ["LoopUIPictures", "LoopUI", "LoopUITerminal"]),
    ])

// MARK: Spellings: the names of Apple's systems. They link Foundation, as the code does that is ported

let spellings = room(
    "Spellings",
    sources: [
        // Core Foundation's names over the loop: in C what C can say, in Swift the rest. CoreFoundation is the toolchain's.
        .c("CCoreFoundationRunLoop"),
        // The two names of modes that are strings and modes.
        .swift("CoreFoundationRunLoopModeNames", ["CCoreFoundationRunLoop"]),
        .original(
            "CoreFoundationRunLoop",
            [
                "RunLoops", "CCoreFoundationRunLoop", "CoreFoundationRunLoopModeNames",
            ], links: ["Foundation", "BlocksRuntime"]),
        // Foundation's run loop, timers, ports and notification queues, on this package's loop. Exports Foundation, and Core
        // Foundation's names as Foundation on Apple's systems does.
        .original(
            "FoundationRunLoop",
            ["RunLoops", "RunLoopsKit", "RunLoopsPorts", "CoreFoundationRunLoop", "CRunLoopsKernel", "RunLoopsLibC"]),
        // A test target that depends on this library has the main loop while it waits in XCTest.
        .swift(
            "FoundationRunLoopXCTest", ["RunLoops", "CFoundationRunLoopXCTest", "RunLoopsLibC"], links: ["Foundation"]),
        .c("CFoundationRunLoopXCTest"),
    ],
    tests: [
        .tests("CoreFoundationRunLoopTests", ["CoreFoundationRunLoop"]),
        .tests("FoundationRunLoopTests", ["FoundationRunLoop", "RunLoopsTesting", "FoundationRunLoopPrograms"]),
        // Foundation's own parts beside this package's loop, and a wait as XCTest's. The second is in no test target's dependencies: it
        // would make the main loop a guest in the runner of all tests. It links XCTest as the runner of tests does.
        .program("FoundationRunLoopPrograms", ["FoundationRunLoop", "RunLoopsDispatch"]),
        .program(
            "FoundationRunLoopXCTestPrograms", ["FoundationRunLoop", "FoundationRunLoopXCTest"], links: ["XCTest"]),
        // One source, built with Foundation's names and with this package's: the tests compare what both say.
        .program("FoundationRunLoopSameSource"),
        .program("FoundationRunLoopSameSourceOurs", ["FoundationRunLoop"], defines: ["FOUNDATION_RUN_LOOP"]),
    ])

// MARK: Tools: looking into a running loop

let tools = room(
    "Tools",
    sources: [
        // What a loop does, recorded; as pictures and in words.
        .swift(
            "RunLoopsDiagnostics",
            [
                "RunLoops", "RunLoopsSystem", "RunLoopsConcurrency", "CRunLoopsTraceStart", "CRunLoopsStackSampling",
                "CRunLoopsKernel", "RunLoopsLibC",
            ]),
        // Starts recording before main(), and writes the trace when a signal ends the program: Swift has neither way.
        .c("CRunLoopsTraceStart", ["CRunLoopsKernel"]),
        // The stacks of other threads, taken and unwound without trusting what is on them.
        .c("CRunLoopsStackSampling", ["CRunLoopsKernel"]),
        // The command-line tool. Only it and the oracle link swift-argument-parser, which links FoundationEssentials.
        .program(
            "runloop",
            [
                "RunLoops", "RunLoopsSystem", "RunLoopsDiagnostics", "RunLoopsEvents", "RunLoopsPorts", "LoopUI",
                "LoopUITerminal", "CRunLoopsKernel", "RunLoopsLibC", .argumentParser,
            ]),
    ],
    tests: [
        .tests(
            "RunLoopsDiagnosticsTests",
            [
                "RunLoopsSystem", "RunLoopsDiagnostics", "RunLoopsKit", "RunLoopsTesting", "CRunLoopsKernel",
                "CHoldingChild", "CRunLoopsStackSampling", "runloop", "RunLoopsDiagnosticsPrograms",
                "RunLoopsHangPrograms",
                "RunLoopsTasksPrograms",
            ]),
        .program("RunLoopsDiagnosticsPrograms", ["RunLoopsDiagnostics", "RunLoops", "RunLoopsKit", "CRunLoopsKernel"]),
        // Programs that hang: also on fibres and alternate stacks, by vfork and in a sandbox.
        .program("RunLoopsHangPrograms", ["RunLoopsDiagnostics", "RunLoops", "CHangScenes"]),
        .c("CHangScenes"),
        // Programs with tasks that wait. They link no library of this package.
        .program("RunLoopsTasksPrograms"),
        // The tool from inside: its arguments, figures and screens; and from outside, in a pseudo-terminal.
        .tests(
            "RunLoopToolTests",
            [
                "runloop", "LoopUI", "LoopUITesting", "RunLoopsDiagnostics", "RunLoopsDiagnosticsPrograms",
                "RunLoopsTasksPrograms", "TerminalTestSupport",
            ]),
    ])

// MARK: Integrations: other loops and packages. Empty without the trait of their name, except the first

let integrations = room(
    "Integrations",
    sources: [
        // The main loop inside Foundation's, or in whatever drains the main queue. Imports no Foundation itself.
        .swift("RunLoopsDispatch", ["RunLoops"]),
        // Foundation's main loop inside this one: linking it is all.
        .swift(
            "RunLoopsFoundation",
            ["RunLoops", "CRunLoopsFoundation", "CRunLoopsKernel", "RunLoopsLibC"],
            links: ["Foundation", "BlocksRuntime"]),
        .c("CRunLoopsFoundation"),
        // A loop inside GLib's, and the other way round.
        .swift("RunLoopsGLib", ["RunLoops", "RunLoopsEvents", "RunLoopsLibC"]),
        // A loop inside an event loop in C or any language that calls C: a header, and its functions in Swift.
        .swift("RunLoopsHost", ["RunLoops", "CRunLoopsHost"]),
        .c("CRunLoopsHost"),
        // What loops do, as lines of swift-log and as metrics of swift-metrics: CoreMetrics alone, the rest imports Foundation.
        .swift("RunLoopsLog", ["RunLoops", "RunLoopsDiagnostics", .logging, "CRunLoopsKernel", "RunLoopsLibC"]),
        .swift("RunLoopsMetrics", ["RunLoops", "RunLoopsDiagnostics", .coreMetrics]),
        // What runs on a loop, as a service of a group.
        .swift("RunLoopsServiceLifecycle", ["RunLoops", "RunLoopsConcurrency", .serviceLifecycle]),
    ],
    tests: [
        // As far as a test runner can test them: the runner keeps the main thread, so no test has the main loop.
        .tests(
            "RunLoopsFoundationTests",
            [
                "RunLoopsFoundationPrograms", "RunLoopsFoundationTerminalPrograms", "TerminalTestSupport",
                "AtLoadActorTestingPrograms",
                "AtLoadActorFoundationPrograms",
                "AtLoadActorXCTestPrograms",
                "AtLoadTestingFoundationPrograms",
                "AtLoadTestingXCTestPrograms",
                "AtLoadFoundationXCTestPrograms",
                "AtLoadAllPrograms",
            ]),
        // GLib's headers, for the tests alone: the library finds GLib's functions in the process.
        .systemLibrary(name: "CGLib", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .tests("RunLoopsGLibTests", ["RunLoopsGLib", .glib]),
        .tests("RunLoopsHostTests", ["RunLoopsHost", "CRunLoopsHost", "CHostScenes"]),
        // A host in C on poll(2), and a file in C++ that includes the header.
        .c("CHostScenes", ["RunLoopsHost"]),
        .tests(
            "RunLoopsLogTests", ["RunLoopsDiagnostics", "RunLoopsLog", "RunLoopsTesting", .logging, .inMemoryLogging]),
        .tests(
            "RunLoopsMetricsTests",
            ["RunLoopsDiagnostics", "RunLoopsMetrics", "RunLoopsTesting", .coreMetrics, .metricsTestKit]),
        .tests(
            "RunLoopsServiceLifecycleTests",
            [
                "RunLoopsEvents", "RunLoopsKit", "RunLoopsServiceLifecycle", .serviceLifecycle, .unixSignals,
                .serviceLifecycleTestKit, .logging,
            ]),
        // On the true main thread; `Scripts/check --only integrations` runs these programs. The first has Foundation's loop as its host.
        .program("RunLoopsDispatchPrograms", ["RunLoops", "RunLoopsDispatch"]),
        .program(
            "RunLoopsFoundationPrograms", ["RunLoops", "RunLoopsConcurrency", "RunLoopsDispatch", "RunLoopsFoundation"]),
        // Each pair of the libraries that act at load, and all four.
        .swift("AtLoadScenes", ["RunLoops"]),
        .program("AtLoadActorTestingPrograms", ["AtLoadScenes", "RunLoopsMainActor", "RunLoopsTestingMain"]),
        .program("AtLoadActorFoundationPrograms", ["AtLoadScenes", "RunLoopsMainActor", "RunLoopsFoundation"]),
        .program(
            "AtLoadActorXCTestPrograms", ["AtLoadScenes", "RunLoopsMainActor", "FoundationRunLoopXCTest"],
            links: ["XCTest"]),
        .program("AtLoadTestingFoundationPrograms", ["AtLoadScenes", "RunLoopsTestingMain", "RunLoopsFoundation"]),
        .program(
            "AtLoadTestingXCTestPrograms", ["AtLoadScenes", "RunLoopsTestingMain", "FoundationRunLoopXCTest"],
            links: ["XCTest"]),
        .program(
            "AtLoadFoundationXCTestPrograms", ["AtLoadScenes", "RunLoopsFoundation", "FoundationRunLoopXCTest"],
            links: ["XCTest"]),
        .program(
            "AtLoadAllPrograms",
            [
                "AtLoadScenes", "RunLoopsMainActor", "RunLoopsTestingMain", "RunLoopsFoundation",
                "FoundationRunLoopXCTest",
            ], links: ["XCTest"]),
        .program("RunLoopsFoundationTerminalPrograms", ["LoopUI", "LoopUITerminal", "RunLoopsFoundation"]),
        .program("RunLoopsGLibPrograms", ["RunLoops", "RunLoopsGLib", .glib]),
        .program("RunLoopsLogPrograms", ["RunLoops", "RunLoopsDiagnostics", "RunLoopsLog", .logging]),
        .program("RunLoopsMetricsPrograms", ["RunLoops", "RunLoopsMetrics", .coreMetrics, .metricsTestKit]),
    ])

// MARK: Testing: of programs that use the loop, and of the loop itself

let testing = room(
    "Testing",
    sources: [
        // Manual kernel and clock, trace recorder, threads with a loop.
        .swift("RunLoopsTesting", ["RunLoops", "RunLoopsKit", "RunLoopsLibC"]),
        // A test trait for tests that need a live main loop. It takes the main thread of the test runner that links it.
        .swift("RunLoopsTestingMain", ["RunLoops", "RunLoopsConcurrency", "CRunLoopsTestingMain"]),
        .c("CRunLoopsTestingMain", ["CRunLoopsKernel"]),
        // A test trait that reports tests which hang.
        .swift(
            "RunLoopsTestingHangs",
            ["RunLoops", "RunLoopsDiagnostics", "CRunLoopsTestingHangs", "CRunLoopsKernel", "RunLoopsLibC"]),
        .c("CRunLoopsTestingHangs"),
        // The same for XCTest: a test target that depends on this library is watched when its environment says so.
        .swift(
            "RunLoopsXCTestHangs",
            ["RunLoops", "RunLoopsSystem", "RunLoopsDiagnostics", "CRunLoopsXCTestHangs", "RunLoopsLibC"]),
        .c("CRunLoopsXCTestHangs"),
        // The same scenario on this package's loop and on the real CFRunLoop; OracleNames has this loop under Core Foundation's names.
        .program("oracle", ["OracleScenarios", "OracleNames", .argumentParser]),
        .swift("OracleScenarios", ["RunLoops"], links: ["Foundation"]),
        .swift("OracleNames", ["OracleScenarios", "CoreFoundationRunLoop"], defines: ["ORACLE_NAMES"]),
    ],
    tests: [
        .tests("OracleTests", ["OracleScenarios"]),
        .tests("EndsTests", ["EndsPrograms"]),
        // Test runners whose tests hang, and tests of how they end.
        .tests(
            "RunLoopsTestingHangsTests",
            [
                "RunLoopsTestingHangs", "RunLoopsDiagnostics", "runloop", "RunLoopsTestingHangsPrograms",
                "RunLoopsXCTestHangsPrograms", "RunLoopsTasksPrograms",
            ]),
        .program("RunLoopsTestingHangsPrograms", ["RunLoopsTestingHangs", "RunLoops"]),
        .program("RunLoopsXCTestHangsPrograms", ["RunLoopsXCTestHangs"], links: ["XCTest"]),
        // Numbers at their ends, for all libraries.
        .program(
            "EndsPrograms",
            [
                "RunLoops", "RunLoopsKit", "RunLoopsEvents", "RunLoopsPorts", "RunLoopsCalendar",
                "RunLoopsConcurrency", "RunLoopsDiagnostics", "RunLoopsTesting", "RunLoopsTerminal", "LoopUI",
                "LoopUITerminal", "LoopUITesting",
            ]),
    ])

// MARK: Guide

// The site's own catalogue: questions, tutorials and recipes, which belong to no single library. It has no code and no product. DocC
// resolves its links to the symbols of all products, since it depends on them.
let guide = Target.swift("Guide", products.map { .byName(name: $0) })

let package = Package(
    name: "swift-run-loops",
    products: products.map { .library(name: $0, targets: [$0]) },
    traits: [
        // SwiftPM resolves what any product of a package needs, unless a trait stands before it. Without a trait there is no package
        // to resolve and no C library to install.
        .trait(name: "GLib", description: "The tests of RunLoopsGLib, which need the headers of glib-2.0."),
        .trait(name: "Log", description: "RunLoopsLog, which needs swift-log."),
        .trait(name: "Metrics", description: "RunLoopsMetrics, which needs swift-metrics."),
        .trait(name: "Pictures", description: "LoopUIPictures, which needs Chafa."),
        .trait(
            name: "TaskSleep",
            description: "Task.sleep on the executors of loops, by an interface that Swift 6.3 does not promise."),
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
    targets: core + libraries + application + spellings + tools + integrations + testing + [guide]
)
