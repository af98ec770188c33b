// swift-tools-version: 6.2
// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// MARK: How targets are described

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

/// A folder of `Sources`, and the folder of its tests and of the programs that they run.
///
/// Dependencies are given as one text, with spaces between the names.
struct Room {
    let name: String

    func swift(_ target: String, _ names: String = "", links: [String] = [], defines: [String] = []) -> Target {
        .target(
            name: target, dependencies: dependencies(names), path: "Sources/\(name)/\(target)",
            swiftSettings: settings + defines.map { .define($0) }, linkerSettings: links.map { .linkedLibrary($0) })
    }

    /// The same on Linux; elsewhere, or with the switch, a target without dependencies, whose module exports what it is named after.
    func original(_ target: String, _ names: String, links: [String] = []) -> Target {
        let dependencies: [Target.Dependency] = names.split(separator: " ").map {
            .byName(name: String($0), condition: .when(platforms: [.linux]))
        }
        return .target(
            name: target, dependencies: exportsOriginals ? [] : dependencies, path: "Sources/\(name)/\(target)",
            swiftSettings: settings + (exportsOriginals ? [.define("EXPORTS_ORIGINALS")] : []),
            linkerSettings: links.map { .linkedLibrary($0, .when(platforms: [.linux])) })
    }

    func c(_ target: String, _ names: String = "", in folder: String = "Sources") -> Target {
        .target(name: target, dependencies: dependencies(names), path: "\(folder)/\(name)/\(target)")
    }

    /// A C library of the system.
    func system(_ target: String, pkgConfig: String, apt packages: String) -> Target {
        .systemLibrary(
            name: target, path: "Sources/\(name)/\(target)", pkgConfig: pkgConfig,
            providers: [.apt(packages.split(separator: " ").map(String.init))])
    }

    func tests(_ target: String, _ names: String) -> Target {
        .testTarget(
            name: target, dependencies: dependencies("RunLoops RunLoopsTestSupport " + names),
            path: "Tests/\(name)/\(target)", swiftSettings: settings)
    }

    /// A command-line tool, or a program that tests run.
    func program(
        _ target: String, _ names: String = "", in folder: String = "Tests", links: [String] = [],
        defines: [String] = []
    ) -> Target {
        .executableTarget(
            name: target, dependencies: dependencies(names), path: "\(folder)/\(name)/\(target)",
            swiftSettings: settings + defines.map { .define($0) }, linkerSettings: links.map { .linkedLibrary($0) })
    }

    /// What several test targets share.
    func support(_ target: String, _ names: String) -> Target {
        .target(
            name: target, dependencies: dependencies(names), path: "Tests/\(name)/\(target)", swiftSettings: settings)
    }
}

/// What stands behind a package trait, or in another package.
let special: [String: Target.Dependency] = [
    "CGLib": .target(name: "CGLib", condition: .when(traits: ["GLib"])),
    "CXCB": .target(name: "CXCB", condition: .when(traits: ["Window"])),
    "CChafa": .target(name: "CChafa", condition: .when(traits: ["Pictures"])),
    "ArgumentParser": .product(name: "ArgumentParser", package: "swift-argument-parser"),
    "Logging": external("Logging", "swift-log", "Log"),
    "InMemoryLogging": external("InMemoryLogging", "swift-log", "Log"),
    "CoreMetrics": external("CoreMetrics", "swift-metrics", "Metrics"),
    "MetricsTestKit": external("MetricsTestKit", "swift-metrics", "Metrics"),
    "ServiceLifecycle": external("ServiceLifecycle", "swift-service-lifecycle", "ServiceLifecycle"),
    "UnixSignals": external("UnixSignals", "swift-service-lifecycle", "ServiceLifecycle"),
    "ServiceLifecycleTestKit": external("ServiceLifecycleTestKit", "swift-service-lifecycle", "ServiceLifecycle"),
    "ServiceLogging": external("Logging", "swift-log", "ServiceLifecycle"),
]
func external(_ product: String, _ package: String, _ trait: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: [trait]))
}
func dependencies(_ names: String) -> [Target.Dependency] {
    names.split(separator: " ").map { special[String($0)] ?? .byName(name: String($0)) }
}

// MARK: Core: the loop

let core = Room(name: "Core")
let coreTargets: [Target] = [
    // The system calls Swift cannot name, and libdispatch's main-queue hooks.
    core.c("CLinuxKernel"),
    // The C library under one name: Glibc or Musl.
    core.swift("LinuxLibC"),
    // The loop. Imports no Foundation.
    core.swift("RunLoops", "CLinuxKernel LinuxLibC"),
    core.tests("RunLoopsTests", "RunLoopsTesting"),
    // Threads, values that threads share and the like, for the tests of every library.
    core.support("RunLoopsTestSupport", "RunLoops CHoldingChild CTestCalls CLinuxKernel"),
    // A child with this process's memory, and a filter of system calls.
    core.c("CHoldingChild", in: "Tests"),
    // System calls that Swift's import of the C library leaves out.
    core.c("CTestCalls", in: "Tests"),
]

// MARK: Libraries: what is built on the loop

let libraries = Room(name: "Libraries")
let libraryTargets: [Target] = [
    // Async mains, executors, clocks and sequences on a loop. Knows only the loop, so that it brings no other library along.
    libraries.swift("RunLoopsConcurrency", "RunLoops CLinuxKernel LinuxLibC"),
    // Descriptors, signals, child processes, file changes and sockets as sources of a loop. Imports no Foundation.
    libraries.swift("RunLoopsEvents", "RunLoops RunLoopsConcurrency CLinuxKernel LinuxLibC"),
    // Message ports, between threads and between processes.
    libraries.swift("RunLoopsPorts", "RunLoops RunLoopsConcurrency CLinuxKernel LinuxLibC"),
    // What frameworks put on a run loop. Imports no Foundation.
    libraries.swift("RunLoopsKit", "RunLoops RunLoopsConcurrency CLinuxKernel LinuxLibC"),
    // Dates and schedules of a time zone. The one library but those with Foundation's names that imports Foundation.
    libraries.swift("RunLoopsCalendar", "RunLoops RunLoopsConcurrency CLinuxKernel LinuxLibC"),
    // A program that links this library has the main actor on the main loop's own executor, from before main.
    libraries.swift("RunLoopsMainActor", "RunLoops RunLoopsConcurrency CMainActorAtLoad"),
    libraries.c("CMainActorAtLoad"),
    libraries.tests(
        "RunLoopsConcurrencyTests",
        "RunLoopsConcurrency RunLoopsEvents RunLoopsKit RunLoopsPorts "
            + "RunLoopsTesting RunLoopsDiagnostics RunLoopsConcurrencyPrograms RunLoopsSynchronousMainPrograms RunLoopsMainActorPrograms"
    ),
    // An async main, a synchronous main, a program that links RunLoopsMainActor, and the scenes that all of them play.
    libraries.program("RunLoopsConcurrencyPrograms", "RunLoopsConcurrencyScenes RunLoopsConcurrency RunLoops"),
    libraries.program("RunLoopsSynchronousMainPrograms", "RunLoopsConcurrencyScenes RunLoopsConcurrency RunLoops"),
    libraries.program("RunLoopsMainActorPrograms", "RunLoopsConcurrencyScenes RunLoopsMainActor"),
    libraries.support("RunLoopsConcurrencyScenes", "RunLoopsConcurrency RunLoops RunLoopsPorts"),
    libraries.tests(
        "RunLoopsEventsTests",
        "RunLoopsConcurrency RunLoopsEvents RunLoopsKit "
            + "RunLoopsTesting CLinuxKernel CHoldingChild"),
    // The tool is named here so that it is built: it is the other process of these tests.
    libraries.tests("RunLoopsPortsTests", "RunLoopsConcurrency RunLoopsKit RunLoopsPorts runloop"),
    libraries.tests("RunLoopsKitTests", "RunLoopsKit RunLoopsConcurrency RunLoopsTesting CLinuxKernel"),
    libraries.tests("RunLoopsCalendarTests", "RunLoopsCalendar RunLoopsConcurrency RunLoopsTesting CLinuxKernel"),
]

// MARK: Application: what an application puts on its main loop

let application = Room(name: "Application")
let applicationTargets: [Target] = [
    // From the first touch to the drawn picture. No Foundation, no display.
    application.swift("LoopUI", "RunLoops RunLoopsConcurrency RunLoopsKit LinuxLibC"),
    // The terminal as a display. The C part gives the terminal back when a signal ends the program: Swift has no signal handlers.
    application.swift("LoopUITerminal", "LoopUI RunLoops RunLoopsEvents CTerminalRestore CLinuxKernel LinuxLibC"),
    application.c("CTerminalRestore"),
    // A display without a device, and scripts of touches, for tests of what is built on LoopUI.
    application.swift("LoopUITesting", "LoopUI RunLoops RunLoopsTesting"),
    // A window of the X server as a display. Empty without its trait, as are the pictures.
    application.swift("LoopUIWindow", "LoopUI RunLoops RunLoopsEvents LinuxLibC CXCB"),
    application.system(
        "CXCB", pkgConfig: "xcb xcb-xkb xcb-xinput xkbcommon-x11 pangocairo cairo-xcb",
        apt: "libxcb1-dev libxcb-xinput-dev libcairo2-dev libpango1.0-dev libxkbcommon-dev libxkbcommon-x11-dev"),
    // Pictures with their own pixels in terminals.
    application.swift("LoopUIPictures", "LoopUI LoopUITerminal CChafa"),
    application.system("CChafa", pkgConfig: "chafa", apt: "libchafa-dev"),
    application.tests("LoopUITests", "LoopUI LoopUITesting RunLoopsTesting"),
    application.tests(
        "LoopUITerminalTests", "LoopUITerminal LoopUI LoopUITesting LoopUITerminalPrograms TerminalTestSupport"),
    application.program("LoopUITerminalPrograms", "LoopUITerminal LoopUI RunLoops RunLoopsEvents"),
    // A terminal, and a program on it.
    application.support("TerminalTestSupport", "LoopUI RunLoopsTestSupport"),
    application.tests("LoopUIWindowTests", "LoopUIWindow LoopUI LoopUIWindowPrograms CXCB"),
    application.program("LoopUIWindowPrograms", "LoopUIWindow LoopUI RunLoops"),
    application.tests(
        "LoopUIPicturesTests", "LoopUIPictures LoopUI LoopUITerminal LoopUITesting LoopUIPicturesPrograms"),
    application.program("LoopUIPicturesPrograms", "LoopUIPictures LoopUI LoopUITerminal"),
]

// MARK: Spellings: the names of Apple's systems. They link Foundation, as the code does that is ported

let spellings = Room(name: "Spellings")
let spellingTargets: [Target] = [
    // Core Foundation's names over the loop: in C what C can say, in Swift the rest. CoreFoundation is the toolchain's.
    spellings.c("CCoreFoundationRunLoop"),
    spellings.original(
        "CoreFoundationRunLoop", "RunLoops CCoreFoundationRunLoop", links: ["Foundation", "BlocksRuntime"]),
    // Foundation's run loop, timers, ports and notification queues, on this package's loop. Exports Foundation, and Core
    // Foundation's names as Foundation on Apple's systems does.
    spellings.original(
        "FoundationRunLoop", "RunLoops RunLoopsKit RunLoopsPorts CoreFoundationRunLoop CLinuxKernel LinuxLibC"),
    // A test target that depends on this library has the main loop while it waits in XCTest.
    spellings.swift("FoundationRunLoopXCTest", "RunLoops CGuestAtLoad LinuxLibC", links: ["Foundation"]),
    spellings.c("CGuestAtLoad"),
    spellings.tests("CoreFoundationRunLoopTests", "CoreFoundationRunLoop"),
    spellings.tests("FoundationRunLoopTests", "FoundationRunLoop RunLoopsTesting FoundationRunLoopPrograms"),
    // Foundation's own parts beside this package's loop, and a wait as XCTest's. The second is in no test target's dependencies: it
    // would make the main loop a guest in the runner of all tests. It links XCTest as the runner of tests does.
    spellings.program("FoundationRunLoopPrograms", "FoundationRunLoop RunLoopsDispatch"),
    spellings.program(
        "FoundationRunLoopXCTestPrograms", "FoundationRunLoop FoundationRunLoopXCTest", links: ["XCTest"]),
    // One source, built with Foundation's names and with this package's: the tests compare what both say.
    spellings.program("FoundationRunLoopSameSource"),
    spellings.program("FoundationRunLoopSameSourceOurs", "FoundationRunLoop", defines: ["FOUNDATION_RUN_LOOP"]),
]

// MARK: Tools: looking into a running loop

let tools = Room(name: "Tools")
let toolTargets: [Target] = [
    // What a loop does, recorded; as pictures and in words.
    tools.swift("RunLoopsDiagnostics", "RunLoops CTraceStart CStackSampling CLinuxKernel LinuxLibC"),
    // Starts recording before main() when the environment asks for it, and writes the trace when a signal ends the program: Swift has
    // no constructors, and no signal handlers.
    tools.c("CTraceStart", "CLinuxKernel"),
    // The stacks of other threads, taken and unwound without trusting what is on them.
    tools.c("CStackSampling", "CLinuxKernel"),
    // The command-line tool. Only it and the oracle link swift-argument-parser, which links FoundationEssentials.
    tools.program(
        "runloop",
        "RunLoops RunLoopsDiagnostics RunLoopsEvents RunLoopsPorts "
            + "LoopUI LoopUITerminal CLinuxKernel LinuxLibC ArgumentParser", in: "Sources"),
    tools.tests(
        "RunLoopsDiagnosticsTests",
        "RunLoopsDiagnostics RunLoopsTesting CLinuxKernel "
            + "CStackSampling runloop RunLoopsDiagnosticsPrograms RunLoopsHangPrograms"),
    tools.program("RunLoopsDiagnosticsPrograms", "RunLoopsDiagnostics RunLoops RunLoopsKit CLinuxKernel"),
    // Programs that hang: also on fibres and alternate stacks, by vfork and in a sandbox.
    tools.program("RunLoopsHangPrograms", "RunLoopsDiagnostics RunLoops CHangScenes"),
    tools.c("CHangScenes", in: "Tests"),
    // The tool from inside: its arguments, figures and screens; and from outside, in a pseudo-terminal.
    tools.tests(
        "RunLoopToolTests",
        "runloop LoopUI LoopUITesting "
            + "RunLoopsDiagnostics RunLoopsDiagnosticsPrograms TerminalTestSupport"),
]

// MARK: Integrations: other loops and packages. Empty without the trait of their name, except the first

let integrations = Room(name: "Integrations")
let integrationTargets: [Target] = [
    // The main loop inside Foundation's, or in whatever drains the main queue. Imports no Foundation itself.
    integrations.swift("RunLoopsDispatch", "RunLoops"),
    // Foundation's main loop inside this one: linking it is all.
    integrations.swift(
        "RunLoopsFoundation", "RunLoops CFoundationGuest CLinuxKernel LinuxLibC",
        links: ["Foundation", "BlocksRuntime"]),
    integrations.c("CFoundationGuest"),
    // A loop inside GLib's, and the other way round.
    integrations.swift("RunLoopsGLib", "RunLoops RunLoopsEvents CGLib"),
    integrations.system("CGLib", pkgConfig: "glib-2.0", apt: "libglib2.0-dev"),
    // What loops do, as lines of swift-log and as metrics of swift-metrics. CoreMetrics alone: the rest of that package imports
    // Foundation.
    integrations.swift("RunLoopsLog", "RunLoops RunLoopsDiagnostics Logging CLinuxKernel LinuxLibC"),
    integrations.swift("RunLoopsMetrics", "RunLoops RunLoopsDiagnostics CoreMetrics"),
    // What runs on a loop, as a service of a group.
    integrations.swift("RunLoopsServiceLifecycle", "RunLoops RunLoopsConcurrency ServiceLifecycle"),
    // As far as a test runner can test them: the runner keeps the main thread, so no test has the main loop.
    integrations.tests(
        "RunLoopsFoundationTests", "RunLoopsFoundationPrograms RunLoopsFoundationAsyncPrograms"),
    integrations.tests("RunLoopsGLibTests", "RunLoopsGLib CGLib"),
    integrations.tests("RunLoopsLogTests", "RunLoopsDiagnostics RunLoopsLog RunLoopsTesting Logging InMemoryLogging"),
    integrations.tests(
        "RunLoopsMetricsTests", "RunLoopsDiagnostics RunLoopsMetrics RunLoopsTesting CoreMetrics MetricsTestKit"),
    integrations.tests(
        "RunLoopsServiceLifecycleTests",
        "RunLoopsEvents RunLoopsKit RunLoopsServiceLifecycle "
            + "ServiceLifecycle UnixSignals ServiceLifecycleTestKit ServiceLogging"),
    // On the true main thread; `Scripts/check --only integrations` runs these programs. The first has Foundation's loop as its host.
    integrations.program("RunLoopsDispatchPrograms", "RunLoops RunLoopsDispatch"),
    integrations.program(
        "RunLoopsFoundationPrograms", "RunLoops RunLoopsConcurrency RunLoopsDispatch RunLoopsFoundation"),
    integrations.program("RunLoopsFoundationAsyncPrograms", "RunLoopsMainActor RunLoopsFoundation"),
    integrations.program("RunLoopsGLibPrograms", "RunLoops RunLoopsGLib CGLib"),
    integrations.program("RunLoopsLogPrograms", "RunLoops RunLoopsDiagnostics RunLoopsLog Logging"),
    integrations.program("RunLoopsMetricsPrograms", "RunLoops RunLoopsMetrics CoreMetrics MetricsTestKit"),
]

// MARK: Testing: of programs that use the loop, and of the loop itself

let testing = Room(name: "Testing")
let testingTargets: [Target] = [
    // Manual kernel and clock, trace recorder, threads with a loop.
    testing.swift("RunLoopsTesting", "RunLoops RunLoopsKit"),
    // A test trait for tests that need a live main loop. It takes the main thread of the test runner that links it.
    testing.swift("RunLoopsTestingMain", "RunLoops RunLoopsConcurrency CMainLoopAtLoad"),
    testing.c("CMainLoopAtLoad", "CLinuxKernel"),
    // The same scenario on this package's loop and on the real CFRunLoop, which OracleScenarios links. OracleNames is the same engine
    // again, with this package's loop under Core Foundation's names.
    testing.program("oracle", "OracleScenarios OracleNames ArgumentParser", in: "Sources"),
    testing.swift("OracleScenarios", "RunLoops", links: ["Foundation"]),
    testing.swift("OracleNames", "OracleScenarios CoreFoundationRunLoop", defines: ["ORACLE_NAMES"]),
    testing.tests("OracleTests", "OracleScenarios"),
]

// MARK: The package

let products = [
    "RunLoops", "RunLoopsTesting", "RunLoopsEvents", "RunLoopsPorts", "RunLoopsCalendar", "RunLoopsConcurrency",
    "RunLoopsMainActor", "RunLoopsTestingMain", "RunLoopsKit", "RunLoopsDiagnostics", "LoopUI",
    "LoopUITerminal", "LoopUITesting", "CoreFoundationRunLoop", "LoopUIWindow", "LoopUIPictures",
    "RunLoopsDispatch", "RunLoopsFoundation", "RunLoopsGLib", "RunLoopsLog", "RunLoopsMetrics",
    "RunLoopsServiceLifecycle",
    "FoundationRunLoop", "FoundationRunLoopXCTest",
    // `runloop` is no product: with it, every dependant would resolve swift-argument-parser.
]

// The site's own catalogue: questions, tutorials and recipes, which belong to no single library. It has no code and no product. DocC
// resolves its links to the symbols of all libraries, since it depends on them.
let guide: Target = .target(
    name: "Guide", dependencies: dependencies(products.joined(separator: " ")), swiftSettings: settings)

// One array after the other: the compiler takes long for one expression of all.
var targets: [Target] = coreTargets
targets += libraryTargets
targets += applicationTargets
targets += spellingTargets
targets += toolTargets
targets += integrationTargets
targets += testingTargets
targets += [guide]

let package = Package(
    name: "swift-run-loops",
    products: products.map { .library(name: $0, targets: [$0]) },
    traits: [
        // SwiftPM resolves what any product of a package needs, unless a trait stands before it. Without a trait there is no package
        // to resolve and no C library to install.
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
    targets: targets
)
