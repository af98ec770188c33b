// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import RunLoops

/// Runs one scenario on one engine and records a trace.
///
/// SAFETY: a lock guards `shared`. All other fields belong to the loop's thread. The other thread acts only while the
/// loop's thread sleeps in the kernel, and uses nothing but `shared` and the engine.
package final class Interpreter: CalloutReceiver, ScenarioHost, @unchecked Sendable {
    /// The state that both threads read and write.
    struct Shared {
        var trace: [String] = []
        /// The schedule and cancel callouts of the call under way; they are sorted at its end, since the real loop
        /// reports several modes in the order of a hash table.
        var held: [String]?
        /// The number of steps so far; if two readings are equal, no step was made in between.
        var progress = 0
        /// The limits of the runs in progress, outermost first.
        var limits: [RunLimit] = []
        /// How many afterWaiting observers are being called.
        var afterWaiting = 0
        /// The timers that are being called, and the mode they fire in.
        var firing: [(timer: Int, mode: String?)] = []
        /// The timers whose dates an afterWaiting observer has set, until they have been called.
        var armedAgain: Set<Int> = []
        var isOver = false
    }

    let scenario: Scenario
    let shared = Guarded(Shared())
    /// The engine; set to `nil` when the run is over, because the engine's callbacks keep the interpreter.
    var engine: (any Engine)!
    private let names: ModeNames
    private let began = monotonicNanoseconds()
    private let timers = TimerBarrier()
    /// The timers that have set their own date in the callout under way.
    ///
    /// The real loop arms such a date only when the callout returns, too late for the barrier after the setting.
    /// `hasMovedItself` is whether a callout of such a timer has returned since.
    private var movesItself: Set<Int> = []
    private var hasMovedItself = false
    /// Whether a mode is being marked as common; `toSignal` has the sources to signal when the call is over.
    private var isMarking = false
    private var toSignal: Set<Int> = []
    private var calls: [ScriptName: Int] = [:]
    private var callouts = 0
    private var stops = StopsBeforeSleep()
    private let queued = Guarded(0)

    private enum ScriptName: Hashable {
        case item(ItemName)
        case block(Int)
        case queue(Int)
    }

    private init(_ scenario: Scenario) {
        self.scenario = scenario
        names = ModeNames(scenario)
    }

    /// Runs `scenario` on the calling thread and returns the trace.
    ///
    /// The thread must be a fresh one, or the main thread for a scenario of the main thread.
    package static func trace(_ scenario: Scenario, on kind: any Engine.Type) -> [String] {
        let interpreter = Interpreter(scenario)
        return interpreter.run(kind)
    }

    private func run(_ kind: any Engine.Type) -> [String] {
        let engine = kind.init(scenario, names, self)
        self.engine = engine
        engine.makeItems()
        let other = OtherThread(self, watching: SleepWatch())
        let thread = PlainThread { other.live() }
        perform(scenario.body)
        shared.withLock { $0.isOver = true }
        thread.join()
        other.close()
        holdingSchedules { engine.finish() }
        if scenario.onMainThread { leaveNothingBehind() }
        self.engine = nil
        return shared.withLock { $0.trace }
    }

    func write(_ line: @autoclosure () -> String) {
        shared.withLock { shared in
            shared.progress += 1
            guard shared.trace.count < 1_000, !shared.isOver else { return }
            shared.trace.append(String(repeating: "  ", count: shared.limits.count) + line())
        }
    }

    var standing: (progress: Int, limits: [RunLimit], isOver: Bool) {
        shared.withLock { ($0.progress, $0.limits, $0.isOver) }
    }

    private var isOver: Bool { shared.withLock { $0.isOver } }

    /// Performs actions; on the other thread without waiting for the timer barrier, which is for one thread only and
    /// not needed while the loop sleeps.
    func perform(_ actions: [Action], onOtherThread: Bool = false) {
        for action in actions { perform(action, settling: !onOtherThread) }
    }
}

// MARK: - Callouts

extension Interpreter {
    package func receive(_ callout: Callout) {
        awaitMovedTimer()
        if let place = callout.place { stops.calloutBegins(place) }
        switch callout {
        case .source(let index):
            write("source s\(index)")
            follow(.item(.source(index)), scenario.sources[index].script)
        case .descriptor(let index):
            write("descriptor d\(index)")
            follow(.item(.descriptor(index)), scenario.descriptors[index].script)
        case .timer(let index):
            write("timer t\(index)")
            let mode = engine.currentMode
            shared.withLock { $0.firing.append((index, mode)) }
            follow(.item(.timer(index)), scenario.timers[index].script)
            shared.withLock {
                $0.firing.removeLast()
                $0.armedAgain.remove(index)
            }
            if movesItself.remove(index) != nil { hasMovedItself = true }
        case .observer(let index, let activity):
            write("observer o\(index) \(ProgramText.activities(activity))")
            shared.withLock { $0.afterWaiting += activity == 64 ? 1 : 0 }
            follow(.item(.observer(index)), scenario.observers[index].script)
            shared.withLock { $0.afterWaiting -= activity == 64 ? 1 : 0 }
        case .schedule(_, let mode) where !names.all.contains(mode),
            .cancel(_, let mode) where !names.all.contains(mode):
            // The main loop still has the common modes of scenarios that are over.
            break
        case .schedule(let source, let mode):
            note("schedule s\(source) \(names.short(mode))")
            guard scenario.sources[source].signalsWhenScheduled else { return }
            // The real one schedules the sources of a marked mode in the order of a hash table: rule 9.14.
            if isMarking { toSignal.insert(source) } else { engine.signal(source) }
        case .cancel(let source, let mode):
            note("cancel s\(source) \(names.short(mode))")
        }
    }

    private func awaitMovedTimer() {
        guard hasMovedItself else { return }
        hasMovedItself = false
        timers.wait()
    }

    private func receiveBlock(_ index: Int) {
        awaitMovedTimer()
        write("block b\(index)")
        // Step 4 or step 10: nothing tells which.
        stops.calloutBegins(.beforeSleep)
        follow(.block(index), scenario.blocks[index])
    }

    private func receiveQueueItem(_ index: Int) {
        awaitMovedTimer()
        queued.withLock { $0 -= 1 }
        guard !isOver else { return }
        write("queue q\(index)")
        stops.calloutBegins(.afterSleep)
        follow(.queue(index), scenario.queueItems[index])
    }

    /// Performs the actions of a script for the present call of its item.
    private func follow(_ name: ScriptName, _ script: Script) {
        guard !isOver else { return }
        callouts += 1
        let call = calls[name, default: 0]
        calls[name] = call + 1
        guard callouts <= scenario.calloutBudget else {
            // Whatever keeps the loop busy, it ends here; a loop that does not end when stopped is a crash to report.
            precondition(callouts < scenario.calloutBudget + 5_000, "the loop does not stop when it is told to")
            // With descriptor sources a wake-up would compete with them; scripts end there by themselves.
            return scenario.descriptors.isEmpty ? engine.stop() : ()
        }
        if script.indices.contains(call) { perform(script[call]) }
    }

    private func note(_ line: String) {
        shared.withLock { shared in
            shared.progress += 1
            if shared.held != nil {
                shared.held?.append(line)
            } else {
                shared.trace.append("unasked: " + line)
            }
        }
    }

    private func holdingSchedules(_ call: () -> Void) {
        shared.withLock { $0.held = [] }
        call()
        shared.withLock { shared in
            let indent = String(repeating: "  ", count: shared.limits.count)
            shared.trace.append(contentsOf: (shared.held ?? []).sorted().map { indent + $0 })
            shared.held = nil
            shared.progress += 1
        }
    }

    /// Removes blocks, closures and wake-ups from the main loop, which would show in the next scenario.
    private func leaveNothingBehind() {
        for mode in 0..<scenario.modeCount { _ = engine.run(.mode(mode), .zero, returnsAfterSource: false) }
        for _ in 0..<1_000 where queued.withLock({ $0 }) > 0 {
            _ = engine.run(.mode(0), .zero, returnsAfterSource: false)
        }
        precondition(queued.withLock { $0 } == 0, "the main queue was not served by the main loop")
        // A wake-up, an expired timer descriptor, the main queue's descriptor: one a turn.
        for _ in 0..<8 { _ = engine.run(.mode(0), .zero, returnsAfterSource: false) }
    }
}

// MARK: - Actions

extension Interpreter {
    private func perform(_ action: Action, settling: Bool) {
        if isInvisibleToOurs(action) { return write("skipped inside afterWaiting") }
        if isForgottenByReal(action) { return write("skipped inside a timer") }
        noteArming(action)
        switch action {
        case .add(let item, let mode):
            holdingSchedules { engine.add(item, to: mode) }
            if case .timer = item, settling { timers.wait() }
        case .remove(let item, let mode): holdingSchedules { engine.remove(item, from: mode) }
        case .invalidate(let item): holdingSchedules { engine.invalidate(item) }
        case .markCommon(let mode):
            isMarking = true
            holdingSchedules { engine.markCommon(mode) }
            isMarking = false
            for source in toSignal.sorted() { perform(.signal(source), settling: false) }
            toSignal = []
            if !scenario.timers.isEmpty, settling { timers.wait() }
        case .signal(let source):
            engine.signal(source)
            // Sources of equal order go by the time of their signal, which the real one keeps as a Double of seconds.
            spin(1_000)
        case .trigger(let descriptor): engine.trigger(descriptor: descriptor)
        case .wakeUp: engine.wakeUp()
        case .stop:
            if settling { stops.stop() }
            engine.stop()
        case .perform(let block, let modes): engine.perform(in: modes) { [self] in receiveBlock(block) }
        case .queue(let index):
            queued.withLock { $0 += 1 }
            DispatchQueue.main.async { [self] in receiveQueueItem(index) }
        case .setFireDate(let timer, let date):
            engine.setFireDate(ofTimer: timer, to: date)
            guard settling else { return }
            timers.wait()
            if shared.withLock({ $0.firing.contains { $0.timer == timer } }) { movesItself.insert(timer) }
        case .run(let mode, let limit, let returnAfter): run(mode, limit, returnAfter)
        case .askContains(let item, let mode):
            write("\(ProgramText.item(item)) in \(ProgramText.mode(mode)): \(engine.contains(item, in: mode))")
        case .askValid(let item): write("\(ProgramText.item(item)) valid: \(engine.isValid(item))")
        case .askSignalled(let source): write("s\(source) signalled: \(engine.isSignalled(source))")
        case .askCurrentMode: write("current mode: \(engine.currentMode.map(names.short) ?? "none")")
        case .askNextFireDate(let mode):
            write("next in \(ProgramText.mode(mode)): \(ProgramText.seen(engine.nextFireDate(in: mode)))")
        }
    }

    private func run(_ mode: ModeName, _ limit: RunLimit, _ returnAfter: Bool) {
        let limits = shared.withLock { $0.limits }
        let endsByItself = limits.contains { if case .slots = $0 { true } else { false } }
        // When a finite limit passes inside a nested run the real one makes a turn of the inner loop for nothing.
        guard limits.count < 4, !endsByItself, callouts < scenario.calloutBudget, !isServedElsewhere(mode),
            !isArmedForNothing, !stops.areTakenByRun
        else {
            return write("run skipped")
        }
        write("run \(ProgramText.mode(mode)) {")
        shared.withLock { $0.limits.append(limit) }
        stops.runBegins()
        let result = engine.run(mode, limit, returnsAfterSource: returnAfter)
        stops.runEnds()
        shared.withLock { _ = $0.limits.popLast() }
        write("} \(ProgramText.result(result))")
    }

    /// Whether a timer of `mode` is being called in another mode: in the real loop the timer descriptor of `mode` has
    /// fired for this timer, and a run would make an empty turn.
    ///
    /// See `KeptDifference`.
    private func isServedElsewhere(_ mode: ModeName) -> Bool {
        guard case .mode(let index) = mode else { return false }
        return shared.withLock({ $0.firing }).contains {
            $0.mode != names.all[index] && engine.contains(.timer($0.timer), in: mode)
        }
    }

    /// Whether a timer is being called whose date an afterWaiting observer has set: in the real loop the timer
    /// descriptor of its mode has fired once more for it, and a run would make an empty turn.
    ///
    /// See `KeptDifference`.
    private var isArmedForNothing: Bool {
        // Where there is a sentinel, the descriptor is set to the sentinel's date before the callout.
        guard !scenario.hasSentinels else { return false }
        return shared.withLock { shared in shared.firing.contains { shared.armedAgain.contains($0.timer) } }
    }

    private func noteArming(_ action: Action) {
        switch action {
        case .add(.timer(let timer), _), .setFireDate(let timer, _):
            shared.withLock { if $0.afterWaiting > 0 { $0.armedAgain.insert(timer) } }
        default: break
        }
    }

    /// Whether the action gives a timer that is being called a date in a mode other than the one it is called in: the
    /// real one does not set that mode's timer descriptor, and the date passes there.
    ///
    /// See `KeptDifference`.
    private func isForgottenByReal(_ action: Action) -> Bool {
        let firing = shared.withLock { $0.firing }
        guard !firing.isEmpty else { return false }
        switch action {
        case .add(.timer(let timer), _): return firing.contains { $0.timer == timer }
        case .markCommon: return true
        case .setFireDate(let timer, _):
            return firing.contains { fired in
                fired.timer == timer
                    && (0..<scenario.modeCount).contains {
                        names.all[$0] != fired.mode && engine.contains(.timer(timer), in: .mode($0))
                    }
            }
        default: return false
        }
    }

    /// Whether the action would show that the real loop reads the descriptor that has woken it before the afterWaiting
    /// observers, and this package's loop after them.
    ///
    /// Such actions are nested runs and changes of descriptor sources inside afterWaiting observers. See
    /// `KeptDifference`.
    private func isInvisibleToOurs(_ action: Action) -> Bool {
        guard shared.withLock({ $0.afterWaiting }) > 0 else { return false }
        if case .run = action {
            return !(scenario.descriptors.isEmpty && scenario.timers.isEmpty && scenario.queueItems.isEmpty)
        }
        guard !scenario.descriptors.isEmpty else { return false }
        switch action {
        case .trigger, .add(.descriptor, _), .remove(.descriptor, _), .invalidate(.descriptor), .markCommon: return true
        default: return false
        }
    }
}
