// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTesting

@testable import RunLoops

/// What a simulation expects of an item: told by what the program did, and not asked of the loop.
///
/// Instants are of the simulation's own count, which grows with everything that happens.
final class SimulatedItem {
    let number: Int
    var item: Kind
    var isValid = true
    /// Since when the item is in each mode of each loop, and when it left; -1 where it is not, or never left.
    private var since = [Int](repeating: -1, count: SimulatedLoop.most * SimulatedLoop.modes.count)
    private var left = [Int](repeating: -1, count: SimulatedLoop.most * SimulatedLoop.modes.count)
    /// Whether the item is one of the common items of each loop.
    var isCommon = [Bool](repeating: false, count: SimulatedLoop.most)
    /// The loop that claimed a timer or an observer last.
    var owner: Int?
    /// Callouts in progress.
    var calls = 0

    enum Kind {
        case timer(RunLoop.Timer)
        case source(RunLoop.Source)
        case observer(RunLoop.Observer)
        case descriptor(RunLoop.DescriptorSource)
    }

    // Timers; nanoseconds.
    var date: Int64 = 0
    var clock = RunLoop.ClockID.monotonic
    var interval: Int64 = 0
    var tolerance: Int64 = 0
    var isRestarted = false
    /// Turns of a run in one of its modes since the timer has been due.
    var missed = 0

    // Sources.
    /// When the source was signalled; `nil` if it is not.
    var signalled: Int?
    /// The calls of the schedule closure, less those of the cancel closure.
    var scheduled = 0

    // Observers.
    var activities: RunLoop.Activities = []
    var order = 0
    /// Observers and descriptor sources.
    var repeats = true

    // Descriptor sources.
    var events: RunLoop.DescriptorEvents = []
    /// Refusals that wait to be reported to the source.
    var refusals = 0

    init(_ number: Int, _ item: Kind) {
        self.number = number
        self.item = item
    }

    var object: RunLoop.Item {
        switch item {
        case .timer(let timer): timer
        case .source(let source): source
        case .observer(let observer): observer
        case .descriptor(let source): source
        }
    }

    var isTimer: Bool { if case .timer = item { true } else { false } }
    var isObserver: Bool { if case .observer = item { true } else { false } }
    var name: String {
        switch item {
        case .timer: "timer \(number)"
        case .source: "source \(number)"
        case .observer: "observer \(number)"
        case .descriptor: "descriptor source \(number)"
        }
    }

    // MARK: Places

    private static func index(_ loop: Int, _ mode: Int) -> Int { loop * SimulatedLoop.modes.count + mode }

    func isIn(_ loop: Int, _ mode: Int) -> Bool { since[Self.index(loop, mode)] >= 0 }
    func isIn(_ loop: Int) -> Bool { SimulatedLoop.modes.indices.contains { isIn(loop, $0) } }
    var isAnywhere: Bool { since.contains { $0 >= 0 } }
    var places: Int { since.count { $0 >= 0 } }
    func since(_ loop: Int, _ mode: Int) -> Int { since[Self.index(loop, mode)] }
    func left(_ loop: Int, _ mode: Int) -> Int { left[Self.index(loop, mode)] }

    func enter(_ loop: Int, _ mode: Int, _ tick: Int) {
        if !isIn(loop, mode) { since[Self.index(loop, mode)] = tick }
    }

    func leave(_ loop: Int, _ mode: Int, _ tick: Int) {
        guard isIn(loop, mode) else { return }
        since[Self.index(loop, mode)] = -1
        left[Self.index(loop, mode)] = tick
    }

    func leaveAll(_ tick: Int) {
        for index in since.indices where since[index] >= 0 {
            since[index] = -1
            left[index] = tick
        }
    }

    /// Whether another loop has the item in one of its modes, so that this one passes it over.
    func isTaken(from loop: Int) -> Bool {
        (isTimer || isObserver) && (0..<SimulatedLoop.most).contains { $0 != loop && isIn($0) }
    }
}

/// A closure that waits for a turn.
final class SimulatedBlock {
    enum State { case waiting, done, dropped }
    let number: Int
    let loop: Int
    let modes: [Int]
    let wakes: Bool
    let posted: Int
    var state = State.waiting

    init(_ number: Int, loop: Int, modes: [Int], wakes: Bool, posted: Int) {
        self.number = number
        self.loop = loop
        self.modes = modes
        self.wakes = wakes
        self.posted = posted
    }
}

/// A closure that waits for its delay.
final class SimulatedDelay {
    let number: Int
    let loop: Int
    let mode: Int
    let date: Int64
    var state = SimulatedBlock.State.waiting
    var handle: RunLoop.DelayedPerform?

    init(_ number: Int, loop: Int, mode: Int, date: Int64) {
        self.number = number
        self.loop = loop
        self.mode = mode
        self.date = date
    }
}

/// A loop of a simulation.
final class SimulatedLoop: LoopTracer {
    static let most = 3
    static let modes: [RunLoop.Mode] = [.default, "simulated first", "simulated second"]
    static func mode(_ index: Int) -> RunLoop.Mode { index == SimulatedAction.common ? .common : modes[index] }

    let number: Int
    var loop: RunLoop
    var isDead = false
    /// Since when each mode is common; -1 where it is not.
    var commonSince = [0, -1, -1]
    /// Whether a wake-up was called in a run since the last turn began.
    var isWoken = false
    /// Whether a wake-up may wait: since the last sleep.
    var mayBeWoken = false
    /// When the callouts of blocks that are in progress began: older blocks may be in the hands of a drain.
    var drains: [Int] = []
    private unowned let simulation: Simulation

    init(_ number: Int, _ kernel: ManualKernel, _ simulation: Simulation) {
        self.number = number
        self.simulation = simulation
        loop = RunLoop(kernel: kernel, threadID: SystemCalls.threadID)
        loop.tracer = self
    }

    func trace(_ event: LoopEvent) {
        switch event {
        case .runBegins: simulation.runBegins(self)
        case .passes(let activity): simulation.passes(activity, self)
        case .runEnds(let result): simulation.runEnds(result, self)
        case .calls, .wanted, .returns, .sleeps, .wakes: break
        }
    }

    /// Since when a closure for these modes may run in a mode; `nil` if it may not.
    func mayRun(_ modes: [Int], in mode: Int, posted: Int) -> Int? {
        if modes.contains(mode) { return posted }
        guard modes.contains(SimulatedAction.common), commonSince[mode] >= 0 else { return nil }
        return max(posted, commonSince[mode])
    }
}

/// A run in progress.
final class SimulatedRun {
    let loop: SimulatedLoop
    let mode: Int
    let limit: SimulatedLimit
    let deadline: Int64
    let endsAfterSource: Bool
    var handle: RunLoop.RunID?
    /// The activity that the run has passed last.
    var passed: RunLoop.Activities = []
    var isStopped = false
    var wasStoppedBeforeExit = false
    var turns = 0
    /// When the present turn began to look at blocks and signals.
    var looked = Int.max
    /// Whether the turn has got to what is ready: step 9.
    var isServing = false
    var hasHandledSource = false
    /// Observers of the present activity that have not been called yet.
    var expected: ArraySlice<SimulatedItem> = []
    /// The latest time seen since the turn began, on each clock.
    var latest = WaitLimit.forever

    init(_ loop: SimulatedLoop, mode: Int, _ limit: SimulatedLimit, deadline: Int64, endsAfterSource: Bool) {
        self.loop = loop
        self.mode = mode
        self.limit = limit
        self.deadline = deadline
        self.endsAfterSource = endsAfterSource
    }

    var sleeps: Bool {
        switch limit {
        case .poll, .idle: false
        case .never, .milliseconds: true
        }
    }
}
