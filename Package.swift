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

// MARK: The targets

// A row for each target, below its room: kind, name, dependencies. A room is a folder of `Sources`, and one of `Tests`.
// `-l` links a library of the system, `-D` defines a name in the target's code.
//
// In `Sources`: a `product` or an `original`, which Apple's systems have, is a library that others can depend on; `swift` and `c` are other
// libraries, `tool` is a command-line tool; `system` is a C library of the system: its names for pkg-config / its packages of Debian.
// In `Tests`: a `program` is run by tests; `support`, in C `c-support`, is shared by several test targets.
let table = """
    ## Core: the loop
    # The system calls Swift cannot name, and libdispatch's main-queue hooks.
    c CLinuxKernel
    # The C library under one name: Glibc or Musl.
    swift LinuxLibC
    # The loop. Imports no Foundation.
    product RunLoops: CLinuxKernel LinuxLibC
    # Texts and descriptors that a program hands to the system.
    swift RunLoopsSystem: RunLoops CLinuxKernel LinuxLibC
    tests RunLoopsTests: RunLoopsSystem RunLoopsTesting
    # Threads, values that threads share and the like, for the tests of every library.
    support RunLoopsTestSupport: RunLoops CHoldingChild CTestCalls CLinuxKernel
    # A child with this process's memory, and a filter of system calls; calls that Swift's import of the C library leaves out.
    c-support CHoldingChild
    c-support CTestCalls

    ## Libraries: what is built on the loop
    # Async mains, executors, clocks and sequences on a loop. Knows only the loop, so that it brings no other library along.
    product RunLoopsConcurrency: RunLoops CLinuxKernel LinuxLibC
    # Descriptors, signals, child processes, file changes and sockets as sources of a loop. Imports no Foundation.
    product RunLoopsEvents: RunLoops RunLoopsSystem RunLoopsConcurrency CLinuxKernel LinuxLibC
    # Message ports, between threads and between processes.
    product RunLoopsPorts: RunLoops RunLoopsSystem RunLoopsConcurrency CLinuxKernel LinuxLibC
    # What frameworks put on a run loop. Imports no Foundation.
    product RunLoopsKit: RunLoops RunLoopsConcurrency CLinuxKernel LinuxLibC
    # Dates and schedules of a time zone. The one library but those with Foundation's names that imports Foundation.
    product RunLoopsCalendar: RunLoops RunLoopsConcurrency CLinuxKernel LinuxLibC
    # A program that links this library has the main actor on the main loop's own executor, from before main.
    product RunLoopsMainActor: RunLoops RunLoopsConcurrency CMainActorAtLoad
    c CMainActorAtLoad
    tests RunLoopsConcurrencyTests: RunLoopsConcurrency RunLoopsEvents RunLoopsKit RunLoopsPorts RunLoopsTesting \
        RunLoopsDiagnostics RunLoopsConcurrencyPrograms RunLoopsSynchronousMainPrograms RunLoopsMainActorPrograms
    # An async main, a synchronous main, a program that links RunLoopsMainActor, and the scenes that all of them play.
    program RunLoopsConcurrencyPrograms: RunLoopsConcurrencyScenes RunLoopsConcurrency RunLoops
    program RunLoopsSynchronousMainPrograms: RunLoopsConcurrencyScenes RunLoopsConcurrency RunLoops
    program RunLoopsMainActorPrograms: RunLoopsConcurrencyScenes RunLoopsMainActor
    support RunLoopsConcurrencyScenes: RunLoopsConcurrency RunLoops RunLoopsPorts
    tests RunLoopsEventsTests: RunLoopsSystem RunLoopsConcurrency RunLoopsEvents RunLoopsKit RunLoopsTesting CLinuxKernel CHoldingChild
    # The tool is named here so that it is built: it is the other process of these tests.
    tests RunLoopsPortsTests: RunLoopsConcurrency RunLoopsKit RunLoopsPorts runloop
    tests RunLoopsKitTests: RunLoopsKit RunLoopsConcurrency RunLoopsTesting CLinuxKernel
    tests RunLoopsCalendarTests: RunLoopsCalendar RunLoopsConcurrency RunLoopsTesting CLinuxKernel

    ## Application: what an application puts on its main loop
    # From the first touch to the drawn picture. No Foundation, no display.
    product LoopUI: RunLoops RunLoopsConcurrency RunLoopsKit LinuxLibC
    # The terminal as a display. The C part gives the terminal back when a signal ends the program: Swift has no signal handlers.
    product LoopUITerminal: LoopUI RunLoops RunLoopsEvents CTerminalRestore CLinuxKernel LinuxLibC
    c CTerminalRestore
    # A display without a device, and scripts of touches, for tests of what is built on LoopUI.
    product LoopUITesting: LoopUI RunLoops RunLoopsTesting
    # A window of the X server as a display. Empty without its trait, as are the pictures.
    product LoopUIWindow: LoopUI RunLoops RunLoopsEvents LinuxLibC CXCB
    # Pictures with their own pixels in terminals.
    product LoopUIPictures: LoopUI LoopUITerminal CChafa
    system CXCB: xcb xcb-xkb xcb-xinput xkbcommon-x11 pangocairo cairo-xcb / \
        libxcb1-dev libxcb-xinput-dev libcairo2-dev libpango1.0-dev libxkbcommon-dev libxkbcommon-x11-dev
    system CChafa: chafa / libchafa-dev
    tests LoopUITests: LoopUI LoopUITesting RunLoopsTesting
    tests LoopUITerminalTests: LoopUITerminal LoopUI LoopUITesting LoopUITerminalPrograms TerminalTestSupport
    program LoopUITerminalPrograms: LoopUITerminal LoopUI RunLoops RunLoopsEvents
    # A terminal, and a program on it.
    support TerminalTestSupport: LoopUI RunLoopsTestSupport
    tests LoopUIWindowTests: LoopUIWindow LoopUI LoopUIWindowPrograms CXCB
    program LoopUIWindowPrograms: LoopUIWindow LoopUI RunLoops
    tests LoopUIPicturesTests: LoopUIPictures LoopUI LoopUITerminal LoopUITesting LoopUIPicturesPrograms
    program LoopUIPicturesPrograms: LoopUIPictures LoopUI LoopUITerminal

    ## Spellings: the names of Apple's systems. They link Foundation, as the code does that is ported
    # Core Foundation's names over the loop: in C what C can say, in Swift the rest. CoreFoundation is the toolchain's.
    c CCoreFoundationRunLoop
    # The two names of modes that are strings and modes.
    swift CoreFoundationModeNames: CCoreFoundationRunLoop
    original CoreFoundationRunLoop: RunLoops CCoreFoundationRunLoop CoreFoundationModeNames -lFoundation -lBlocksRuntime
    # Foundation's run loop, timers, ports and notification queues, on this package's loop. Exports Foundation, and Core
    # Foundation's names as Foundation on Apple's systems does.
    original FoundationRunLoop: RunLoops RunLoopsKit RunLoopsPorts CoreFoundationRunLoop CLinuxKernel LinuxLibC
    # A test target that depends on this library has the main loop while it waits in XCTest.
    product FoundationRunLoopXCTest: RunLoops CGuestAtLoad LinuxLibC -lFoundation
    c CGuestAtLoad
    tests CoreFoundationRunLoopTests: CoreFoundationRunLoop
    tests FoundationRunLoopTests: FoundationRunLoop RunLoopsTesting FoundationRunLoopPrograms
    # Foundation's own parts beside this package's loop, and a wait as XCTest's. The second is in no test target's dependencies: it
    # would make the main loop a guest in the runner of all tests. It links XCTest as the runner of tests does.
    program FoundationRunLoopPrograms: FoundationRunLoop RunLoopsDispatch
    program FoundationRunLoopXCTestPrograms: FoundationRunLoop FoundationRunLoopXCTest -lXCTest
    # One source, built with Foundation's names and with this package's: the tests compare what both say.
    program FoundationRunLoopSameSource
    program FoundationRunLoopSameSourceOurs: FoundationRunLoop -DFOUNDATION_RUN_LOOP

    ## Tools: looking into a running loop
    # What a loop does, recorded; as pictures and in words.
    product RunLoopsDiagnostics: RunLoops RunLoopsSystem CTraceStart CStackSampling CLinuxKernel LinuxLibC
    # Starts recording before main(), and writes the trace when a signal ends the program: Swift has neither way.
    c CTraceStart: CLinuxKernel
    # The stacks of other threads, taken and unwound without trusting what is on them.
    c CStackSampling: CLinuxKernel
    # The command-line tool. Only it and the oracle link swift-argument-parser, which links FoundationEssentials.
    tool runloop: RunLoops RunLoopsSystem RunLoopsDiagnostics RunLoopsEvents RunLoopsPorts LoopUI LoopUITerminal CLinuxKernel LinuxLibC \
        ArgumentParser
    tests RunLoopsDiagnosticsTests: RunLoopsSystem RunLoopsDiagnostics RunLoopsTesting CLinuxKernel CHoldingChild CStackSampling runloop \
        RunLoopsDiagnosticsPrograms RunLoopsHangPrograms
    program RunLoopsDiagnosticsPrograms: RunLoopsDiagnostics RunLoops RunLoopsKit CLinuxKernel
    # Programs that hang: also on fibres and alternate stacks, by vfork and in a sandbox.
    program RunLoopsHangPrograms: RunLoopsDiagnostics RunLoops CHangScenes
    c-support CHangScenes
    # The tool from inside: its arguments, figures and screens; and from outside, in a pseudo-terminal.
    tests RunLoopToolTests: runloop LoopUI LoopUITesting RunLoopsDiagnostics RunLoopsDiagnosticsPrograms TerminalTestSupport

    ## Integrations: other loops and packages. Empty without the trait of their name, except the first
    # The main loop inside Foundation's, or in whatever drains the main queue. Imports no Foundation itself.
    product RunLoopsDispatch: RunLoops
    # Foundation's main loop inside this one: linking it is all.
    product RunLoopsFoundation: RunLoops CFoundationGuest CLinuxKernel LinuxLibC -lFoundation -lBlocksRuntime
    c CFoundationGuest
    # A loop inside GLib's, and the other way round.
    product RunLoopsGLib: RunLoops RunLoopsEvents CGLib
    system CGLib: glib-2.0 / libglib2.0-dev
    # What loops do, as lines of swift-log and as metrics of swift-metrics: CoreMetrics alone, the rest imports Foundation.
    product RunLoopsLog: RunLoops RunLoopsDiagnostics Logging CLinuxKernel LinuxLibC
    product RunLoopsMetrics: RunLoops RunLoopsDiagnostics CoreMetrics
    # What runs on a loop, as a service of a group.
    product RunLoopsServiceLifecycle: RunLoops RunLoopsConcurrency ServiceLifecycle
    # As far as a test runner can test them: the runner keeps the main thread, so no test has the main loop.
    tests RunLoopsFoundationTests: RunLoopsFoundationPrograms RunLoopsFoundationAsyncPrograms \
        RunLoopsFoundationTerminalPrograms TerminalTestSupport
    tests RunLoopsGLibTests: RunLoopsGLib CGLib
    tests RunLoopsLogTests: RunLoopsDiagnostics RunLoopsLog RunLoopsTesting Logging InMemoryLogging
    tests RunLoopsMetricsTests: RunLoopsDiagnostics RunLoopsMetrics RunLoopsTesting CoreMetrics MetricsTestKit
    tests RunLoopsServiceLifecycleTests: RunLoopsEvents RunLoopsKit RunLoopsServiceLifecycle ServiceLifecycle UnixSignals \
        ServiceLifecycleTestKit Logging
    # On the true main thread; `Scripts/check --only integrations` runs these programs. The first has Foundation's loop as its host.
    program RunLoopsDispatchPrograms: RunLoops RunLoopsDispatch
    program RunLoopsFoundationPrograms: RunLoops RunLoopsConcurrency RunLoopsDispatch RunLoopsFoundation
    program RunLoopsFoundationAsyncPrograms: RunLoopsMainActor RunLoopsFoundation
    program RunLoopsFoundationTerminalPrograms: LoopUI LoopUITerminal RunLoopsFoundation
    program RunLoopsGLibPrograms: RunLoops RunLoopsGLib CGLib
    program RunLoopsLogPrograms: RunLoops RunLoopsDiagnostics RunLoopsLog Logging
    program RunLoopsMetricsPrograms: RunLoops RunLoopsMetrics CoreMetrics MetricsTestKit

    ## Testing: of programs that use the loop, and of the loop itself
    # Manual kernel and clock, trace recorder, threads with a loop.
    product RunLoopsTesting: RunLoops RunLoopsKit
    # A test trait for tests that need a live main loop. It takes the main thread of the test runner that links it.
    product RunLoopsTestingMain: RunLoops RunLoopsConcurrency CMainLoopAtLoad
    c CMainLoopAtLoad: CLinuxKernel
    # The same scenario on this package's loop and on the real CFRunLoop; OracleNames has this loop under Core Foundation's names.
    tool oracle: OracleScenarios OracleNames ArgumentParser
    swift OracleScenarios: RunLoops -lFoundation
    swift OracleNames: OracleScenarios CoreFoundationRunLoop -DORACLE_NAMES
    tests OracleTests: OracleScenarios
    tests EndsTests: EndsPrograms
    # Numbers at their ends, for all libraries.
    program EndsPrograms: RunLoops RunLoopsKit RunLoopsEvents RunLoopsPorts RunLoopsCalendar RunLoopsConcurrency \
        RunLoopsDiagnostics RunLoopsTesting LoopUI LoopUITerminal LoopUITesting
    """

// MARK: How rows become targets

/// Dependencies with a condition: the traits that bring them, and the package that has them if it is not this one.
let conditions: [String: (traits: Set<String>, package: String?)] = [
    "CGLib": (["GLib"], nil), "CXCB": (["Window"], nil), "CChafa": (["Pictures"], nil),
    "Logging": (["Log", "ServiceLifecycle"], "swift-log"), "InMemoryLogging": (["Log"], "swift-log"),
    "CoreMetrics": (["Metrics"], "swift-metrics"), "MetricsTestKit": (["Metrics"], "swift-metrics"),
    "ServiceLifecycle": (["ServiceLifecycle"], "swift-service-lifecycle"),
    "ServiceLifecycleTestKit": (["ServiceLifecycle"], "swift-service-lifecycle"),
    "UnixSignals": (["ServiceLifecycle"], "swift-service-lifecycle"),
]
func dependency(_ name: String) -> Target.Dependency {
    if name == "ArgumentParser" { return .product(name: name, package: "swift-argument-parser") }
    guard let (traits, package) = conditions[name] else { return .byName(name: name) }
    guard let package else { return .target(name: name, condition: .when(traits: traits)) }
    return .product(name: name, package: package, condition: .when(traits: traits))
}

/// The target of a row of the table.
func target(_ room: String, _ kind: String, _ name: String, _ words: ArraySlice<String>) -> Target {
    let isInSources = ["product", "original", "swift", "c", "system", "tool"].contains(kind)
    let path = (isInSources ? "Sources/" : "Tests/") + room + "/" + name
    let shared = kind == "tests" ? ["RunLoops", "RunLoopsTestSupport"] : []
    let isOriginal = kind == "original"
    let names = isOriginal && exportsOriginals ? [] : shared + words.filter { !$0.hasPrefix("-") }
    let needed = names.map { isOriginal ? .byName(name: $0, condition: .when(platforms: [.linux])) : dependency($0) }
    let defined = words.filter { $0.hasPrefix("-D") } + (isOriginal && exportsOriginals ? ["-DEXPORTS_ORIGINALS"] : [])
    let swift = settings + defined.map { SwiftSetting.define(String($0.dropFirst(2))) }
    let links: [LinkerSetting] = words.filter { $0.hasPrefix("-l") }.map {
        .linkedLibrary(String($0.dropFirst(2)), isOriginal ? .when(platforms: [.linux]) : nil)
    }
    switch kind {
    case "product", "original", "swift", "support":
        return .target(name: name, dependencies: needed, path: path, swiftSettings: swift, linkerSettings: links)
    case "system":
        let parts = words.split(separator: "/").map(Array.init)
        return .systemLibrary(
            name: name, path: path, pkgConfig: parts[0].joined(separator: " "), providers: [.apt(parts[1])])
    case "c", "c-support": return .target(name: name, dependencies: needed, path: path)
    case "tool", "program":
        return .executableTarget(
            name: name, dependencies: needed, path: path, swiftSettings: swift, linkerSettings: links)
    case "tests": return .testTarget(name: name, dependencies: needed, path: path, swiftSettings: swift)
    default: fatalError("the table has no kind of target \(kind): \(name)")
    }
}

var targets: [Target] = []
// `runloop` is no product: with it, every dependant would resolve swift-argument-parser.
var products: [String] = []
var room = ""
for line in table.split(separator: "\n") where !line.hasPrefix("# ") {
    let words = line.split { $0 == " " || $0 == ":" }.map(String.init)
    if words[0] == "##" { room = words[1] } else { targets.append(target(room, words[0], words[1], words[2...])) }
    if ["product", "original"].contains(words[0]) { products.append(words[1]) }
}
// The site's own catalogue: questions, tutorials and recipes, which belong to no single library. It has no code and no product. DocC
// resolves its links to the symbols of all libraries, since it depends on them.
targets.append(.target(name: "Guide", dependencies: products.map(dependency), swiftSettings: settings))

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
