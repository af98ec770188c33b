// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsFoundation
internal import CRunLoopsKernel
@preconcurrency internal import CoreFoundation
internal import RunLoops
internal import RunLoopsLibC

/// Runs turns of Foundation's main loop inside this package's main loop: before it sleeps, when a descriptor of Foundation's is
/// ready, and after several turns without a sleep.
///
/// Foundation's callouts may run this package's loop again. An observer is not called inside its own callout, so that a run
/// inside a turn that an observer has made gets an observer of its own.
@MainActor
final class FoundationServer {
    private static var shared: FoundationServer?
    private(set) static var limitation: String?
    private(set) static var turnCount = 0

    private let loop: RunLoop
    private let turns: FoundationTurns
    private var modes: [RunLoop.Mode: ServedMode] = [:]
    private var runs: [Run] = []
    /// Whether the observer of the innermost run is not in its callout.
    private var isObserverFree = true
    /// A source without an effect, signalled after a source of Foundation's was performed, so that a run that ends
    /// after a source ends.
    private let handled = RunLoop.Source(label: "Foundation's source") { _ in }

    /// A run of this loop in progress.
    private struct Run {
        let identity: RunLoop.RunID?
        let served: ServedMode
        /// The observer for this run alone; `nil` if the run needs none of its own.
        let observer: RunLoop.Observer?
        let wasObserverFree: Bool
        /// The number of turns since Foundation's loop last had a turn.
        var turnsUnserved = 0
        var hasServed = false
    }

    /// A mode of this loop, and the mode of Foundation's with the same name.
    private final class ServedMode {
        let mode: RunLoop.Mode
        let name: CFString
        /// Waits for the descriptor that Foundation's mode sleeps on; `nil` if that descriptor is not known.
        var source: RunLoop.DescriptorSource?
        /// Fires at the date of the mode's first timer; `nil` if there is a source.
        var timer: RunLoop.Timer?
        /// Whether this loop runs turns of Foundation's mode; `false` while the program itself runs Foundation's loop
        /// around this loop's run.
        var isServed = false

        init(_ mode: RunLoop.Mode, _ name: CFString) {
            self.mode = mode
            self.name = name
        }
    }

    // MARK: At load, and at the first run

    /// Makes the main loop run Foundation's loop from the main loop's first run on; any thread.
    nonisolated static func awaitMainLoop() {
        NewLoops.add(MainLoopListener.shared) { loop in
            guard loop.threadID == SystemCalls.mainThreadID, loop.virtualKernel == nil else { return }
            add(to: loop, in: .common)
        }
    }

    private final class MainLoopListener: Sendable {
        static let shared = MainLoopListener()
    }

    static func serve(_ loop: RunLoop, in mode: RunLoop.Mode) { add(to: loop, in: mode) }

    private nonisolated static func add(to loop: RunLoop, in mode: RunLoop.Mode) {
        // The first of all: the other observers of the entry may run the loop.
        let entry = RunLoop.Observer.mainActor(.entry, order: .min, label: "Foundation: entry") { [unowned loop] _, _ in
            own(loop)?.begins()
        }
        loop.add(entry, in: mode)
        loop.add(makeObserver(), in: mode)
    }

    private nonisolated static func makeObserver() -> RunLoop.Observer {
        // The last of all: the others may have something for Foundation's loop.
        .mainActor([.beforeSources, .beforeWaiting, .exit], order: .max, label: "Foundation") { _, activity in
            shared?.passes(activity)
        }
    }

    /// Returns the server, made at the first run; `nil` while it cannot be made.
    private static func own(_ loop: RunLoop) -> FoundationServer? {
        if let shared { return shared }
        guard let turns = makeTurns() else { return nil }
        let server = FoundationServer(loop, turns)
        shared = server
        return server
    }

    private init(_ loop: RunLoop, _ turns: FoundationTurns) {
        self.loop = loop
        self.turns = turns
        turns.runByProgramChanged = { [unowned self] in runByProgramChanged() }
    }

    /// Foundation's main loop; `nil` until there are enough descriptors for it.
    private static var foundationLoop: CFRunLoop?

    private static func makeFoundationLoop() -> CFRunLoop? {
        if let foundationLoop { return foundationLoop }
        guard hasDescriptors() else { return nil }
        foundationLoop = holdingStandardNumbers { CFRunLoopGetMain() }
        return foundationLoop
    }

    /// Whether the process has four free descriptors: as many as Core Foundation makes for a loop and its default mode, and
    /// one for examination.
    ///
    /// Core Foundation ends the process if it cannot make a descriptor.
    private static func hasDescriptors() -> Bool {
        var trial: [CInt] = []
        for _ in 0..<4 {
            let one = rl_eventfd_create()
            if one >= 0 { trial.append(one) }
        }
        for one in trial { _ = rl_close(one) }
        if trial.count == 4 { return true }
        report("it is not served until there are descriptors for it; raise the limit of open files (ulimit -n)")
        return false
    }

    private static func makeTurns() -> FoundationTurns? {
        guard let loop = makeFoundationLoop() else { return nil }
        // The program runs Foundation's loop itself, and this loop in a callout of it.
        if CFRunLoopCopyCurrentMode(loop) != nil { return nil }
        var misfit: Misfit?
        do throws(Misfit) { try leaveRun(of: loop) } catch { misfit = error }
        // Until now there may have been no descriptors.
        limitation = nil
        if let misfit { report("what other threads add or wake there waits until this loop wakes: \(misfit.text)") }
        return FoundationTurns(loop)
    }

    /// Makes Core Foundation write wake-ups of its main loop to the loop's descriptor: without this, it ignores them
    /// while no run is in progress.
    ///
    /// If this throws, nothing has changed.
    private static func leaveRun(of loop: CFRunLoop) throws(Misfit) {
        let mode: CFString = kCFRunLoopDefaultMode
        let set = try PortSet.find(in: mode, of: loop)
        question = (loop, mode, set, nil)
        defer { question = nil }
        let hasLeft = rl_foundation_leave_run(UnsafeRawPointer(Unmanaged.passUnretained(mode).toOpaque())) {
            MainActor.assumeIsolated { FoundationServer.mayLeave() }
        }
        if !hasLeft { throw question?.misfit ?? .locked }
        isComplete = true
    }

    private static var question: (loop: CFRunLoop, mode: CFString, set: PortSet, misfit: Misfit?)?
    /// Whether wake-ups by other threads make the port sets readable.
    private static var isComplete = false

    private static func mayLeave() -> Bool {
        guard let asked = question else { return false }
        do throws(Misfit) {
            try asked.set.showsWakeUps(of: asked.loop, asked.mode)
            return true
        } catch {
            question?.misfit = error
            return false
        }
    }

    private static func report(_ text: String) {
        if limitation != nil { return }
        limitation = text
        SystemCalls.writeToStandardError("RunLoopsFoundation: Foundation's main loop: \(text)\n")
    }

    // MARK: Modes

    /// Returns the served mode, made at the first run in it; `nil` while there are no descriptors for it.
    private func served(_ mode: RunLoop.Mode) -> ServedMode? {
        if let known = modes[mode] { return known }
        guard mode == .default || Self.hasDescriptors() else { return nil }
        let name: CFString = mode == .default ? kCFRunLoopDefaultMode : Self.string(mode.rawValue)
        let served = ServedMode(mode, name)
        modes[mode] = served
        loop.add(handled, in: mode)
        if mode != .default {
            Self.holdingStandardNumbers {
                if loop.commonModes.contains(mode) { CFRunLoopAddCommonMode(turns.loop, name) }
                turns.observe(name)
            }
        }
        if Self.isComplete {
            do {
                served.source = try makeSource(served)
            } catch {
                Self.report(
                    "in the mode \(mode) it is not woken by other threads: \((error as? Misfit)?.text ?? "\(error)")")
            }
        }
        if served.source == nil { served.timer = makeTimer(served) }
        return served
    }

    private func makeSource(_ served: ServedMode) throws -> RunLoop.DescriptorSource {
        let set = try PortSet.find(in: served.name, of: turns.loop)
        let source = RunLoop.DescriptorSource(set.descriptor, for: [], label: "Foundation") {
            [unowned self, unowned served] _, _ in
            serveReady(served)
        }
        try loop.add(source, in: served.mode)
        return source
    }

    private func makeTimer(_ served: ServedMode) -> RunLoop.Timer {
        let timer = RunLoop.Timer(.at(Self.never, every: .seconds(1 << 32)), label: "Foundation") {
            [unowned self, unowned served] _ in serveReady(served)
        }
        loop.add(timer, in: served.mode)
        return timer
    }

    private static var never: RunLoop.Instant { RunLoop.Instant(nanoseconds: .max) }

    private static func string(_ text: String) -> CFString {
        let bytes = Array(text.utf8)
        return CFStringCreateWithBytes(nil, bytes, bytes.count, CFStringBuiltInEncodings.UTF8.rawValue, false)
    }

    /// Modes that were served until the program began a run of Foundation's loop.
    private var interrupted: [ServedMode] = []

    /// Ends the wait for Foundation's descriptors while the program runs Foundation's loop.
    ///
    /// That run may wait for this loop's descriptor (`FoundationRunLoopXCTest` does so), and two descriptors cannot wait for
    /// each other: the kernel refuses it with ELOOP.
    private func runByProgramChanged() {
        if turns.isRunByProgram {
            interrupted = modes.values.filter(\.isServed)
            for served in interrupted { setServed(false, served) }
        } else {
            for served in interrupted { setServed(true, served) }
            interrupted = []
        }
    }

    /// Whether the run of Foundation's loop in progress belongs to the program, and not to this object.
    nonisolated static var isRunByProgram: Bool {
        MainActor.assumeIsolated {
            if question != nil { return false }
            return shared?.turns.isRunByProgram ?? true
        }
    }

    /// Starts or ends the wait for the descriptor of Foundation's mode.
    private func setServed(_ isServed: Bool, _ served: ServedMode) {
        if served.isServed == isServed { return }
        served.isServed = isServed
        served.source?.events = isServed ? .readable : []
        if !isServed { served.timer?.deadline = Self.never }
    }

    /// Calls `body`, in which Core Foundation makes descriptors, so that these do not get the numbers of closed
    /// standard streams.
    private static func holdingStandardNumbers<Result>(_ body: () -> Result) -> Result {
        var held: [CInt] = []
        while case let one = open("/dev/null", O_RDONLY | O_CLOEXEC), one >= 0 {
            held.append(one)
            if one > STDERR_FILENO { break }
        }
        defer { for one in held { _ = rl_close(one) } }
        if let last = held.last, last > STDERR_FILENO { _ = rl_close(held.removeLast()) }
        return body()
    }

    // MARK: A run of this loop

    private func begins() {
        // A mode that was added by name may have become a common one since, and then there are two observers.
        guard let mode = loop.currentMode, runs.last?.identity != loop.currentRun, let served = served(mode)
        else { return }
        // Inside a run of Foundation's loop, that run serves what is Foundation's.
        setServed(!turns.isRunByProgram, served)
        var observer: RunLoop.Observer?
        if !isObserverFree {
            let own = Self.makeObserver()
            loop.add(own, in: mode)
            observer = own
        }
        runs.append(Run(identity: loop.currentRun, served: served, observer: observer, wasObserverFree: isObserverFree))
        isObserverFree = true
    }

    private func passes(_ activity: RunLoop.Activities) {
        // A mode may have become a common one in the middle of a run.
        guard let run = runs.last, run.identity == loop.currentRun else { return }
        if !run.served.isServed {
            if activity == .exit { ends() }
            return
        }
        switch activity {
        case .beforeWaiting: beforeWaiting(run.served)
        case .beforeSources:
            runs[runs.count - 1].turnsUnserved += 1
            if run.turnsUnserved >= Self.turnsWithout { fromObserver { poll(run.served) } }
        default:
            // A run that did not sleep, such as a poll.
            if !run.hasServed { fromObserver { poll(run.served) } }
            ends()
        }
    }

    private func ends() {
        guard let run = runs.popLast() else { return }
        run.observer?.invalidate()
        isObserverFree = run.wasObserverFree
        // The outer run goes on. A host that waits for this loop when the last run is over waits for Foundation's too.
        if let outer = runs.last { setServed(!turns.isRunByProgram, outer.served) }
    }

    /// The number of turns without a sleep after which Foundation's loop gets a turn, which takes as long as several turns of
    /// this loop.
    private static var turnsWithout: Int { 16 }

    // MARK: Turns of Foundation's loop

    /// Calls `body`, which runs Foundation's callouts, inside the callout of an observer.
    private func fromObserver(_ body: () -> Void) {
        isObserverFree = false
        body()
        isObserverFree = true
    }

    private func beforeWaiting(_ served: ServedMode) {
        let signals = rl_next_number()
        var count = 0
        fromObserver {
            repeat { count += 1 } while turn(served) && count < Self.turnsInARow
        }
        // A source of Foundation's was performed: a run of this loop may end for it. Sources of this loop that a callout of
        // Foundation's has signalled are not to wait for the sleep to end.
        if count > 1 { handled.signal() }
        if count > 1 || rl_next_number() != signals + 1 { loop.wakeUp() }
        guard let timer = served.timer else { return }
        let time = turns.timeToNextTimer(in: served.name)
        timer.deadline = time.map { .now.advanced(by: $0 + Self.rounding) } ?? Self.never
    }

    /// Called when the descriptor is readable or a timer is due.
    private func serveReady(_ served: ServedMode) {
        var count = 0
        repeat { count += 1 } while poll(served) && count < Self.turnsInARow
    }

    @discardableResult
    private func poll(_ served: ServedMode) -> Bool {
        noteTurn()
        return turns.poll(served.name)
    }

    private func turn(_ served: ServedMode) -> Bool {
        noteTurn()
        return turns.turn(served.name, served.source?.descriptor)
    }

    private func noteTurn() {
        Self.turnCount += 1
        guard let last = runs.indices.last else { return }
        runs[last].hasServed = true
        runs[last].turnsUnserved = 0
    }

    /// The maximum number of turns in a row: a source that signals itself must not keep this loop from running.
    private static var turnsInARow: Int { 16 }

    /// The delay of this loop's timer after the date of Foundation's timer: the date is rounded, and an earlier timer
    /// could find no timer of Foundation's due.
    private static var rounding: Duration { .microseconds(100) }
}

/// Called by the C part when the program is loaded.
@_cdecl("run_loops_foundation_at_load")
func awaitMainLoopAtLoad() { FoundationServer.awaitMainLoop() }

/// Called by FoundationRunLoopXCTest on the main thread, in a run of Foundation's main loop.
@_cdecl("run_loops_foundation_is_run_by_program")
func isFoundationRunByProgram() -> Bool { FoundationServer.isRunByProgram }
