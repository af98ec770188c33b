// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Synchronization

@testable import RunLoops

/// Makes random changes of the state of a loop that no thread runs, and compares the state with a ``StateModel`` after each.
///
/// There is a lock with a state behind it, and no `RunLoop`: time is what the program says, no thread waits, and nothing is asked
/// of the system. A program is the same for the same seed.
final class StateProgram {
    private static let names: [RunLoop.Mode] = [.default, RunLoop.Mode("state 1"), RunLoop.Mode("state 2")]
    /// The number of timers, observers and descriptor sources of a program.
    private static let maxItems = 6
    /// The number of entries that the value lists before other threads may take the lock.
    private static let batchSize = 256

    private var random: SeededRandom
    private let kernel = StateKernel()
    private let memory: LoopMemory
    private var model = StateModel()
    private var timers: [RunLoop.Timer] = []
    private var closures: [RunLoop.DelayedPerform.Name] = []
    private var observers: [RunLoop.Observer] = []
    private var descriptors: [RunLoop.DescriptorSource] = []
    private let maxBuckets: Int
    private var hadItems = [false, false, false]
    private var timesEmptied = [0, 0, 0]
    /// The closure that was called last.
    private var calledClosure = -1

    private(set) var steps = 0
    /// The first difference between the state and the model.
    private(set) var failure: String?
    /// The steps, if the program was asked to keep them.
    private(set) var log: [String]?

    init(seed: UInt64, keepsLog: Bool = false) {
        random = SeededRandom(seed)
        // The first number of neighbouring seeds is alike.
        _ = random.next()
        // A thread of another process, so that each change counts as one of another thread.
        memory = LoopMemory(kernel: kernel, threadID: 1, blocks: BlockQueue())
        maxBuckets = random.oneIn(2) ? Int.random(in: 4...7, using: &random) : 100
        log = keepsLog ? [] : nil
        memory.publish()
        memory.withState { $0.maxTimerBuckets = maxBuckets }
    }

    /// Runs the program to the end of the loop, or to the first difference.
    func run() {
        for _ in 0..<upTo(25) + 2 where failure == nil && !model.isDead {
            if random.oneIn(3) { run(depth: 0) } else { act() }
            if random.oneIn(4) { checkEntries() }
        }
        if failure == nil, !model.isDead { end() }
        timers = []
        observers = []
        descriptors = []
        memory.unpublish()
        memory.free()
    }

    // MARK: Judging

    private func note(_ text: @autoclosure () -> String) { log?.append(text()) }

    private func expect(_ condition: Bool, _ text: @autoclosure () -> String) {
        if !condition, failure == nil { failure = text() }
    }

    /// A step is done: the state has to be what the model is.
    private func step(_ text: @autoclosure () -> String) {
        steps += 1
        note(text())
        check()
    }

    private func now(_ clock: Int) -> Int64 { kernel.now(StateModel.clocks[clock]) }
    private var allNow: [Int64] { [now(0), now(1), now(2)] }

    private func check() {
        let now = allNow
        let figures = model.figures(now)
        memory.withState { state in
            expect(state.isDead == model.isDead, "the state is \(state.isDead ? "dead" : "alive")")
            expect(state.modes.count == model.modes.count, "\(state.modes.count) modes, and not \(model.modes)")
            for (number, mode) in model.modes.enumerated() where failure == nil {
                check(figures[mode], number, mode, now, &state)
            }
            model.stateSequence = state.timerSequence
        }
        if model.sleep != nil {
            expect(kernel.wakes == (model.mustWake ? 1 : 0), "the sleeping thread was woken \(kernel.wakes) times")
        }
    }

    private func check(
        _ figures: StateModel.ModeFigures, _ number: Int, _ mode: Int, _ now: [Int64], _ state: inout GuardedState
    ) {
        let loopMode = state.modes[number].mode
        expect(loopMode.name == Self.names[mode], "mode \(number) is \(loopMode.name)")
        let limit = state.sleepLimit(in: number)
        for (index, clock) in StateModel.clocks.enumerated() {
            expect(
                limit[clock] == figures.limit[index],
                "mode \(mode): \(clock) limit \(limit[clock]), and not \(figures.limit[index])")
        }
        expect(loopMode.hasTimers == figures.hasTimers, "mode \(mode): hasTimers is \(loopMode.hasTimers)")
        expect(loopMode.hasNoItems != figures.hasItems, "mode \(mode): hasNoItems is \(loopMode.hasNoItems)")
        if hadItems[mode], !figures.hasItems {
            expect(loopMode.timesEmptied > timesEmptied[mode], "mode \(mode) became empty, and has not counted it")
        }
        hadItems[mode] = figures.hasItems
        timesEmptied[mode] = loopMode.timesEmptied
        let since = state.timersReadySince(in: number, now[0], isAwakeAnyway: false)
        expect((since != nil) == figures.isReady, "mode \(mode): timers ready since \(since ?? -1)")
        let sinceAwake = state.timersReadySince(in: number, now[0], isAwakeAnyway: true)
        expect(
            (sinceAwake != nil) == figures.isReadyAwake, "mode \(mode), awake: timers ready since \(sinceAwake ?? -1)")
        expect(max(since ?? .min, sinceAwake ?? .min) <= now[0], "mode \(mode): timers are ready since the future")
        let next = state.nextTimer(in: Self.names[mode])
        let distance = next.map { $0.nanoseconds.clampedSubtracting(kernel.now($0.clock)) }
        expect(
            distance == figures.distance,
            "mode \(mode): next timer in \(distance ?? -1), and not \(figures.distance ?? -1)")
    }

    /// Compares all entries of the state's queues, in each mode, and the tables of observers and descriptors.
    private func checkEntries() {
        for (number, mode) in model.modes.enumerated() where failure == nil {
            var found: [Int64] = []
            var expected: [Int64] = []
            memory.withState { state in
                state.visitTimers(in: number) { _, entry, timer, label in
                    expect((timer == nil) == (label != nil), "an entry is neither a timer nor a closure")
                    if let timer {
                        expect(
                            entry.date == timer.fire,
                            "an entry has another date than its timer")
                    }
                    found.append(timer?.fire ?? entry.date)
                }
            }
            for timer in model.timers where timer.isQueued && timer.modes & 1 << mode != 0 {
                expected.append(timer.date)
            }
            for closure in model.closures.values where closure.mode == mode { expected.append(closure.date) }
            expect(found.sorted() == expected.sorted(), "mode \(mode) has entries at \(found), and not \(expected)")
            checkObservers(number, mode)
            checkDescriptors(number, mode)
        }
    }

    private func checkObservers(_ number: Int, _ mode: Int) {
        let expected = model.observers(in: mode)
        memory.withState { state in
            let found = state.modes[number].observers
            expect(
                found.elementsEqual(expected.map { observers[$0] }, by: ===),
                "mode \(mode) has \(found.count) observers, and not \(expected)")
            for activity in [RunLoop.Activities.entry, .beforeTimers, .exit] {
                let isWanted = expected.contains { model.observers[$0].activities.contains(activity) }
                expect(state.modes[number].mode.observes(activity) == isWanted, "mode \(mode) observes \(activity)")
            }
        }
    }

    private func checkDescriptors(_ number: Int, _ mode: Int) {
        memory.withState { state in
            guard let set = state.modes[number].mode.readiness as? StateReadiness else { return }
            for descriptor in CInt(100)...102 {
                let sources = model.sources(on: descriptor, in: mode)
                let events = sources.reduce(RunLoop.DescriptorEvents()) { $0.union(model.descriptors[$1].events) }
                expect(
                    set.watched[descriptor]?.events ?? [] == events,
                    "mode \(mode) watches descriptor \(descriptor) for \(set.watched[descriptor]?.events ?? []), and not \(events)"
                )
                if let former = set.former[descriptor], former != set.watched[descriptor]?.token {
                    let stale = ReadyDescriptor(token: former, events: .readable)
                    expect(
                        state.modes[number].descriptors.firstSource(of: stale) == nil,
                        "mode \(mode) serves an event of a registration that has ended")
                }
                guard let watched = set.watched[descriptor] else { continue }
                let event = ReadyDescriptor(token: watched.token, events: watched.events)
                var found = state.modes[number].descriptors.firstSource(of: event).map { [$0] } ?? []
                found += state.modes[number].descriptors.otherSources(of: event) ?? []
                expect(
                    found.elementsEqual(sources.map { descriptors[$0] }, by: ===),
                    "mode \(mode), descriptor \(descriptor): \(found.count) sources, and not \(sources)")
            }
        }
    }

    // MARK: Choosing

    private func upTo(_ most: Int) -> Int { Int.random(in: 0...most, using: &random) }
    /// Most happens in the default mode: otherwise little would meet.
    private func mode() -> Int { [0, 0, 0, 1, 1, 2][upTo(5)] }
    private func modeOrCommon() -> Int? { random.oneIn(4) ? nil : mode() }
    private func clock() -> Int { [0, 0, 0, 0, 1, 2][upTo(5)] }
    /// Few different spans, so that many entries have the same date.
    private func span() -> Int64 { random.oneIn(50) ? .max : Int64(upTo(6)) * 1000 }
    private func tolerance() -> Int64 { random.oneIn(2) ? 0 : Int64([1, 8, 1000, 1000, 3000][upTo(4)]) }
    private func name(_ mode: Int?) -> RunLoop.Mode { mode.map { Self.names[$0] } ?? .common }

    /// Whether the state may make one more set of modes and clocks, or as many as it needs for `count` timers.
    private func fits(_ count: Int = 1, without timer: Int? = nil) -> Bool {
        maxBuckets == 100 || model.sets(without: timer) + count <= maxBuckets
    }

    // MARK: Changes from any thread

    private func act() {
        if failure != nil { return }
        switch upTo(29) {
        case 0...3: makeItem()
        case 4...8: addClosure()
        case 9...10: cancelClosure()
        case 11...13: withItem { add($0) }
        case 14...16: withItem { remove($0) }
        case 17: withItem { invalidate($0) }
        case 18...21: withTimer { changeDate($0) }
        case 22...23: withTimer { changeTolerance($0) }
        case 24: changeEvents()
        case 25: markCommon()
        case 26...27: passTime()
        case 28: withItem { ask($0) }
        default: doRareThing()
        }
    }

    private func withItem(_ body: (StateModel.Item) -> Void) {
        let all = timers.count + observers.count + descriptors.count
        if all == 0 { return }
        let number = upTo(all - 1)
        if number < timers.count { return body(.timer(number)) }
        if number < timers.count + observers.count { return body(.observer(number - timers.count)) }
        body(.descriptor(number - timers.count - observers.count))
    }

    private func withTimer(_ body: (Int) -> Void) {
        if !timers.isEmpty { body(upTo(timers.count - 1)) }
    }

    private func object(_ item: StateModel.Item) -> RunLoop.Item {
        switch item {
        case .timer(let number): timers[number]
        case .observer(let number): observers[number]
        case .descriptor(let number): descriptors[number]
        }
    }

    private func makeItem() {
        let item: StateModel.Item
        switch upTo(5) {
        case 0 where observers.count < Self.maxItems:
            let order = upTo(1)
            let activities: RunLoop.Activities = [.entry, .beforeTimers, .all][upTo(2)]
            observers.append(.sendable(activities, order: order) { _, _ in })
            model.observers.append(StateModel.Observer(order: order, activities: activities))
            item = .observer(observers.count - 1)
        case 1 where descriptors.count < Self.maxItems:
            let (descriptor, events) = (CInt(100 + upTo(2)), events())
            descriptors.append(.sendable(descriptor, for: events) { _, _ in })
            model.descriptors.append(StateModel.Descriptor(descriptor: descriptor, events: events))
            item = .descriptor(descriptors.count - 1)
        case 2... where timers.count < Self.maxItems:
            let clock = clock()
            let interval = random.oneIn(3) ? Int64(upTo(3) + 1) * 1000 : 0
            let date = now(clock).clampedAdding(span())
            let wished = tolerance()
            timers.append(
                .starting(
                    at: RunLoop.Instant(nanoseconds: date, clock: StateModel.clocks[clock]),
                    every: interval > 0 ? .nanoseconds(interval) : nil, tolerance: .nanoseconds(wished), label: "state"
                ) { _ in })
            model.timers.append(
                StateModel.Timer(
                    clock: clock, interval: interval, date: date,
                    tolerance: interval > 0 ? min(wished, interval / 2) : wished))
            item = .timer(timers.count - 1)
        default: return
        }
        _ = object(item).claim(for: memory.lock)
        add(item)
    }

    private func events() -> RunLoop.DescriptorEvents {
        [[.readable], [.writable], [.readable, .writable], []][upTo(3)]
    }

    private func add(_ item: StateModel.Item) {
        let mode = modeOrCommon()
        if case .timer(let number) = item, !fits(without: number) { return }
        let isExpected = model.isValid(item) && !model.isDead
        let before = kernel.refused
        do {
            var entered: [RunLoop.Mode] = []
            let isIn = try memory.withState { (state) throws(RunLoop.SystemCallError) in
                try state.add(object(item), in: name(mode), &entered)
            }
            expect(isIn == isExpected, "add of \(item) returned \(isIn)")
            expect(kernel.refused == before, "add of \(item) has hidden a refusal")
            if isExpected { model.add(item, mode) }
        } catch {
            expect(kernel.refused > before, "add of \(item) threw without a refusal")
        }
        step("add \(item) to \(name(mode)), refused: \(kernel.refused > before)")
        if case .timer = item {} else { checkEntries() }
    }

    private func remove(_ item: StateModel.Item) {
        let mode = modeOrCommon()
        if case .timer(let number) = item, !fits(without: number) { return }
        let left = memory.withState { $0.remove(object(item), from: name(mode)) }
        let before = model.modes(of: item)
        model.remove(item, mode)
        let count = (before & ~model.modes(of: item)).nonzeroBitCount
        expect(left.count == count, "remove of \(item) has left \(left)")
        step("remove \(item) from \(name(mode))")
    }

    private func invalidate(_ item: StateModel.Item) {
        object(item).invalidate()
        if model.isValid(item) { model.invalidate(item) }
        step("invalidate \(item)")
        checkEntries()
    }

    private func ask(_ item: StateModel.Item) {
        for mode in [nil, 0, 1, 2] as [Int?] {
            let isIn = memory.withState { $0.contains(object(item), in: name(mode)) }
            expect(isIn == model.contains(item, mode), "contains(\(item), in: \(name(mode))) is \(isIn)")
        }
        step("ask about \(item)")
    }

    private func changeDate(_ number: Int) {
        let span = random.oneIn(3) ? 0 : span()
        let date = now(model.timers[number].clock).clampedAdding(span)
        if random.oneIn(2) {
            if model.timers[number].isValid {
                if model.timers[number].isFiring { model.timers[number].isRestarted = true }
                model.setDate(date, ofTimer: number)
            }
            timers[number].restart(after: .nanoseconds(span))
            step("restart timer \(number) after \(span)")
        } else {
            if model.timers[number].isValid { model.setDate(date, ofTimer: number) }
            timers[number].deadline = RunLoop.Instant(nanoseconds: date, clock: timers[number].clock)
            step("set the deadline of timer \(number) to \(date)")
        }
    }

    private func changeTolerance(_ number: Int) {
        let wished = tolerance()
        model.setTolerance(wished, ofTimer: number)
        timers[number].tolerance = .nanoseconds(wished)
        step("set the tolerance of timer \(number) to \(wished)")
    }

    private func changeEvents() {
        if descriptors.isEmpty { return }
        let number = upTo(descriptors.count - 1)
        let wished = events()
        let before = kernel.refused
        do {
            try descriptors[number].change(to: wished)
            expect(kernel.refused == before, "a change of events has hidden a refusal")
            model.eventsChange(ofDescriptor: number, to: wished)
        } catch {
            expect(kernel.refused > before, "a change of events threw without a refusal")
            model.eventsChange(ofDescriptor: number, to: [])
        }
        step("set the events of descriptor source \(number) to \(wished)")
        checkEntries()
    }

    private func addClosure() {
        let (mode, date) = (mode(), now(0).clampedAdding(span()))
        if model.isDead || !fits() { return }
        let number = model.addClosure(date, in: mode)
        let body = DelayedBody(
            call: { [unowned self] in calledClosure = number }, location: CodeLocation(#fileID, #line))
        var given: DelayedBody? = consume body
        let made = memory.withState { state in
            state.putDelayed(given.take()!, at: date, in: Self.names[mode])
        }
        closures.append(made)
        step("closure \(number) in mode \(mode) at \(date)")
    }

    private func cancelClosure() {
        if closures.isEmpty { return }
        // An old one as often as a new one.
        let number = random.oneIn(2) ? upTo(closures.count - 1) : max(0, closures.count - 1 - upTo(4))
        let body = memory.withState { $0.takeDelayed(closures[number]) }
        let isExpected = model.cancel(closure: number)
        switch consume body {
        case .some(let body):
            body.call()
            expect(
                isExpected && calledClosure == number,
                "cancel of closure \(number) has removed closure \(calledClosure)")
        case .none: expect(!isExpected, "cancel of closure \(number) has found none")
        }
        step("cancel closure \(number)")
    }

    private func markCommon() {
        let mode = mode()
        // The value would end the process; and each common timer gets into another set of modes.
        if !fits(timers.count + 1) { return }
        let before = kernel.refused
        do {
            var entered: [RunLoop.Item] = []
            try memory.withState { (state) throws(RunLoop.SystemCallError) in
                try state.addCommonMode(Self.names[mode], reservesReadiness: false, &entered)
            }
            expect(kernel.refused == before, "addCommonMode has hidden a refusal")
            if !model.isDead { model.markCommon(mode) }
        } catch {
            expect(kernel.refused > before, "addCommonMode threw without a refusal")
        }
        step("mark mode \(mode) as common, refused: \(kernel.refused > before)")
        let common = memory.withState { $0.commonModeNames }
        expect(common == model.commonModes.map { Self.names[$0] }, "the common modes are \(common)")
        checkEntries()
    }

    private func passTime() {
        kernel.monotonic += Int64(upTo(4)) * 1000 + (random.oneIn(4) ? 1 : 0)
        if random.oneIn(6) { kernel.suspended += Int64(upTo(3)) * 1000 }
        if random.oneIn(6) { kernel.wallClock += Int64(upTo(8) - 4) * 1000 }
        step("it is \(allNow)")
    }

    private func doRareThing() {
        switch upTo(5) {
        case 0:
            memory.withState { $0.timerSequence = .max - UInt32(upTo(2)) }
            step("the sequence is near its end")
        case 1 where model.sleep == nil: kernel.refusalsLeft = 1 + upTo(1)
        case 2 where random.oneIn(60):
            // More than are listed in one access.
            for _ in 0..<Self.batchSize + upTo(100) { addClosure() }
        default: memory.withState { state in state.core.lastLook.store(now(0), ordering: .relaxed) }
        }
    }

    // MARK: The loop's thread

    /// Makes a run with a few turns, each of which may sleep.
    private func run(depth: Int) {
        let mode = mode()
        guard failure == nil, !model.isDead, let number = model.modes.firstIndex(of: mode) else { return }
        let (outer, mustPutBack) = memory.withState { $0.beginRun(in: $0.modes[number].mode) }
        expect(mustPutBack == model.hasRest, "a run has to put listed entries back: \(mustPutBack)")
        if mustPutBack { putListedBack() }
        model.runs.append(mode)
        step("begin a run in mode \(mode)")
        for _ in 0...upTo(1) where failure == nil && !model.isDead {
            for _ in 0..<upTo(2) { act() }
            if random.oneIn(3) { sleep(number, mode) }
            serve(number, mode, depth)
        }
        let outerMode = memory.withState { $0.endRun(outer) }
        model.runs.removeLast()
        expect(
            outerMode?.name == model.runs.last.map { Self.names[$0] },
            "the outer run is in \(outerMode?.name.rawValue ?? "none")")
        step("end a run in mode \(mode)")
    }

    private func putListedBack() {
        var place = 0
        while memory.withState({ $0.putSomeBack(from: &place) }) {}
        model.putListedBack()
    }

    /// Falls asleep, while other threads make changes that may end the sleep.
    private func sleep(_ number: Int, _ mode: Int) {
        let word = memory.unguarded
        let limit = memory.withState { state in
            let limit = state.sleepLimit(in: number)
            state.sleep = Sleep(mode: number, limit: limit)
            state.modes[number].order.passTimers()
            state.trimTimers(in: number, limit, now(0))
            return limit
        }
        _ = word.pointee.wakeWord.beginTurn()
        // The first try may find that something was marked since.
        guard word.pointee.wakeWord.fallAsleep(.asleepOnWord) ?? word.pointee.wakeWord.fallAsleep(.asleepOnWord) != nil
        else {
            return expect(false, "the thread does not fall asleep")
        }
        kernel.refusalsLeft = 0
        kernel.wakes = 0
        model.mustWake = false
        model.sleep = (mode, StateModel.clocks.map { limit[$0] })
        for _ in 0...upTo(2) { act() }
        model.sleep = nil
        word.pointee.wakeWord.beAwake()
        _ = word.pointee.wakeWord.beginTurn()
        step("awake after a sleep in mode \(mode)")
    }

    /// Waits in a host, whose descriptor has to show the next date after each change.
    private func waitInHost(_ number: Int, _ mode: Int) {
        if memory.withState({ $0.dueList.hasRest }) { putListedBack() }
        let word = memory.unguarded
        let set = memory.withState { state in
            let limit = state.sleepLimit(in: number)
            let set = StateGuestDescriptor(limit)
            state.sleep = Sleep(mode: number, limit: limit)
            state.hosted = HostedWait(set: set, mode: state.modes[number].mode)
            _ = word.pointee.wakeWord.enterHost()
            return set
        }
        note("wait in a host in mode \(mode)")
        for _ in 0...upTo(3) {
            act()
            let limit = memory.withState { $0.sleepLimit(in: number) }
            expect(set.limit == limit, "the host waits until \(set.limit), and not \(limit)")
        }
        word.pointee.wakeWord.leaveHost()
        memory.withState { $0.hosted = nil }
        step("back from the host")
    }

    /// Serves what is due in a mode, with changes in each callout.
    private func serve(_ number: Int, _ mode: Int, _ depth: Int) {
        guard failure == nil, !model.isDead else { return }
        let limit = allNow
        var serving = memory.withState { $0.beginServing(number, limit[0]) }
        model.beginServing(mode, limit)
        var hasMore = true
        while hasMore, failure == nil {
            hasMore = memory.withState { $0.listSome(serving) }
            expect(hasMore == model.list(Self.batchSize), "there is more to list: \(hasMore)")
            step("list what is due in mode \(mode)")
            if hasMore { for _ in 0..<upTo(2) { if random.oneIn(2) { addClosure() } else { cancelClosure() } } }
        }
        serveListed(&serving, depth)
    }

    private func serveListed(_ serving: inout TimerServing, _ depth: Int) {
        var called: FiringTimer?
        var firing: (number: Int, date: Int64)?
        while true {
            let step = memory.withState { $0.nextStep(of: &serving, after: &called) { kernel.now($0) } }
            if let firing { model.settle(firing.number, firing.date, allNow) }
            firing = nil
            let expected = model.nextStep(allNow)
            called.take()?.finish()
            let found: StateModel.Step
            switch consume step {
            case .callTimer(let next):
                let timer = next.timer.takeUnretainedValue()
                let number = timers.firstIndex { $0 === timer } ?? -1
                firing = (number, timer.fire)
                found = .call(.timer(number), date: timer.fire)
                called = consume next
            case .callClosure(let body, let date):
                body.call()
                found = .call(.closure(calledClosure), date: date)
            case .settleElsewhere(let next):
                called = consume next
                return expect(false, "a timer belongs to another loop")
            case .release(let timer): found = .release(timers.firstIndex { $0 === timer } ?? -1)
            case .goOn: found = .goOn
            case .end: found = .end
            }
            expect(found == expected, "the next step is \(found), and not \(expected)")
            self.step("\(found)")
            if found == .end { return }
            if failure != nil { break }
            if case .call = found { callOut(depth) }
        }
        // The value is not used again, and its references have to be released.
        called.take()?.finish()
    }

    private func callOut(_ depth: Int) {
        for _ in 0..<upTo(3) { act() }
        if depth < 2, random.oneIn(8) { run(depth: depth + 1) }
        if random.oneIn(20), let number = model.modes.firstIndex(of: 0), !model.isDead { waitInHost(number, 0) }
        if random.oneIn(200), !model.isDead { end() }
    }

    // MARK: The end

    private func end() {
        if failure != nil { return }
        var waste = memory.withState { $0.takeEverythingOut() }
        var found: [Int] = []
        for closure in waste.closures {
            closure()
            found.append(calledClosure)
        }
        expect(found.sorted() == model.closures.keys.sorted(), "the end has released closures \(found)")
        for item in items where model.modes(of: item) != 0 || model.commonItems.contains(item) {
            expect(waste.items.contains { $0 === object(item) }, "the end has kept \(item)")
        }
        waste.items = []
        model.end()
        step("the thread ends")
    }

    private var items: [StateModel.Item] {
        timers.indices.map { .timer($0) } + observers.indices.map { .observer($0) }
            + descriptors.indices.map { .descriptor($0) }
    }
}
