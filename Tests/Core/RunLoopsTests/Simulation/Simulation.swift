// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting

/// Runs a program on loops of the manual kernel, and holds what they do against what the program asked for.
///
/// One thread owns all loops. Another thread acts where the program says so, while the first one waits for it: any two
/// steps of the threads can follow each other, and the same program always does the same.
// Unchecked: one thread at a time touches it.
final class Simulation: @unchecked Sendable {
    let program: SimulatedProgram
    let kernel = ManualKernel()
    private let other: SimulatedThread
    private(set) var loops: [SimulatedLoop] = []
    var items: [SimulatedItem] = []
    var blocks: [SimulatedBlock] = []
    var delays: [SimulatedDelay] = []
    /// The runs in progress, innermost last.
    var runs: [SimulatedRun] = []
    /// The run that was asked for and has not begun.
    var nextRun: SimulatedRun?
    /// Counts everything that happens.
    private(set) var tick = 0
    /// When the thread that is acting forks a child; usually never.
    private let forkTick: Int?
    /// Whether no step is done any more.
    var isOver = false
    /// The first rule that was broken.
    private(set) var failure: String?

    private var next = 0
    private var passesLeft: Int?
    /// Closures that live.
    fileprivate(set) var lives = 0
    /// The errors of the next calls that make the kernel watch a descriptor, and how many were given.
    var refusals: [CInt] = []
    private(set) var refused = 0
    var isInterrupted = false
    var lateness: Int64 = 0
    /// How often each descriptor may be served before it is no longer ready.
    var readiness: [CInt: Int] = [:]
    /// Descriptors that were ready at any time.
    var everReady: Set<CInt> = []
    /// Whether the order of blocks says nothing: a nested run takes the newer ones.
    var isOrderOpen = false
    /// Whether a step of the other thread is under way.
    private(set) var isByOther = false

    private init(_ program: SimulatedProgram, _ other: SimulatedThread, forkingAt forkTick: Int?) {
        self.program = program
        self.other = other
        self.forkTick = forkTick
    }

    /// Runs a program; returns which rule it broke.
    static func run(_ program: SimulatedProgram, _ other: SimulatedThread) -> String? {
        run(program, other, forkingAt: nil).failure
    }

    /// Runs a program that forks a child when the given number of things have happened; returns also how many have
    /// happened in the end.
    static func run(
        _ program: SimulatedProgram, _ other: SimulatedThread, forkingAt forkTick: Int?
    ) -> (failure: String?, ticks: Int) {
        let simulation = Simulation(program, other, forkingAt: forkTick)
        simulation.run()
        return (simulation.failure, simulation.tick)
    }

    func fail(_ text: @autoclosure () -> String) {
        if failure == nil { failure = text() }
    }

    @discardableResult
    func expect(_ condition: Bool, _ text: @autoclosure () -> String) -> Bool {
        if !condition { fail(text()) }
        return condition
    }

    /// Something happens; returns when.
    @discardableResult
    func count() -> Int {
        tick += 1
        if tick == forkTick { fork() }
        return tick
    }

    // MARK: From beginning to end

    private func run() {
        kernel.world = self
        kernel.sleepsForever = { [unowned self] in stopInnermost() }
        loops = (0..<program.loops).map { SimulatedLoop($0, kernel, self) }
        let outer = RunLoop.replaceCurrent(with: loops[0].loop)
        while next < program.steps.count {
            let step = program.steps[next]
            next += 1
            passesLeft = nil
            perform(step)
            checkEverything()
        }
        drain()
        checkDelivery()
        _ = RunLoop.replaceCurrent(with: outer)
        tearDown()
    }

    /// Runs every mode until nothing is left to do.
    private func drain() {
        kernel.ready = []
        refusals = []
        for round in 0..<3 {
            for loop in loops {
                for mode in SimulatedLoop.modes.indices {
                    perform(.run(loop: loop.number, mode: mode, .idle, afterSource: false))
                }
            }
            // Every timer that fires once and every delay is due after this; repeating timers go on for ever.
            if round == 0 { kernel.advance(to: kernel.now(.monotonic) + longestWait) }
        }
    }

    private var longestWait: Int64 {
        var longest: Int64 = 0
        for item in items where item.isTimer && item.isValid {
            longest = max(longest, item.date + item.tolerance - kernel.now(item.clock))
        }
        for delay in delays where delay.state == .waiting {
            longest = max(longest, delay.date - kernel.now(.monotonic))
        }
        return longest
    }

    private func tearDown() {
        for loop in loops where !loop.isDead { end(loop) }
        let watched = kernel.watched
        expect(watched == 0, "\(watched) descriptors are watched after the end of the threads")
        items = []
        blocks = []
        delays = []
        let left = releaseLoops()
        expect(lives == 0, "\(lives) closures live after everything was released")
        // A tool of another suite that looks at all loops of the process has them for a moment.
        let limit = ContinuousClock.now + plenty
        while ContinuousClock.now < limit, !left.allSatisfy({ $0.loop == nil }) { usleep(20_000) }
        expect(left.allSatisfy { $0.loop == nil }, "a loop lives after everything was released")
    }

    private func releaseLoops() -> [WeakLoop] {
        defer { loops = [] }
        return loops.map { loop in
            // A loop keeps the tracer before the present one, which here keeps the loop.
            loop.loop.tracer = nil
            loop.loop.tracer = nil
            return WeakLoop(loop.loop)
        }
    }

    private struct WeakLoop {
        weak var loop: RunLoop?
        init(_ loop: RunLoop) { self.loop = loop }
    }

    // MARK: Steps

    /// Does the steps that are next, if they want to be done here.
    func act(at spot: SimulatedStep.Spot) {
        // A step of the other thread is one step, and a program that has failed is over.
        if isByOther || isOver || failure != nil { return }
        while next < program.steps.count, program.steps[next].spot == spot {
            let step = program.steps[next]
            let passes = passesLeft ?? step.passes
            if passes > 0 {
                passesLeft = passes - 1
                return
            }
            passesLeft = nil
            next += 1
            perform(step)
        }
    }

    /// Whether the next step wants to be done here.
    private func isNext(at spot: SimulatedStep.Spot) -> Bool {
        next < program.steps.count && program.steps[next].spot == spot && failure == nil
    }

    private func perform(_ step: SimulatedStep) {
        guard step.isByOther else { return perform(step.action) }
        isByOther = true
        other.run { [unowned self] in perform(step.action) }
        isByOther = false
    }

    /// A life of a closure, which counts the closure while it lives.
    final class Life: @unchecked Sendable {
        private unowned let simulation: Simulation
        init(_ simulation: Simulation) {
            self.simulation = simulation
            simulation.lives += 1
        }
        deinit { simulation.lives -= 1 }
    }
}

extension Simulation: ManualWorld {
    func refusal(
        of events: RunLoop.DescriptorEvents, former: RunLoop.DescriptorEvents?
    ) -> RunLoop.SystemCallError? {
        // To watch for less, the system needs nothing.
        if refusals.isEmpty || former.map(events.isSubset) ?? false { return nil }
        refused += 1
        return RunLoop.SystemCallError(call: "epoll_ctl", code: refusals.removeFirst())
    }

    func willSleep() {
        act(at: .fallingAsleep)
    }

    func whileAsleep(until limit: WaitLimit) -> ManualHappening {
        checkSleep(until: limit)
        if isNext(at: .asleep) {
            let before = next
            act(at: .asleep)
            if isInterrupted {
                isInterrupted = false
                return .interruption
            }
            if next > before { return .news }
        }
        defer { lateness = 0 }
        return .nothing(late: lateness)
    }
}

/// The other thread of a simulation, which acts while the first one waits.
final class SimulatedThread: @unchecked Sendable {
    private let asked = Permit()
    private let answered = Permit()
    private var body: (() -> Void)?
    private var thread: TestThread?

    init() {
        thread = TestThread { [unowned self] in
            while true {
                asked.wait()
                guard let body else { return }
                body()
                answered.signal()
            }
        }
    }

    /// Runs `body` on the other thread to its end.
    func run(_ body: @escaping () -> Void) {
        self.body = body
        asked.signal()
        answered.wait()
        self.body = nil
    }

    /// Ends the thread.
    func end() {
        asked.signal()
        thread?.join()
    }
}
