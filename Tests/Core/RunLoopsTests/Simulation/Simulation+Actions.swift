// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting

// What each step does, to the loops and to what is expected of them. What is expected changes first: a call may call
// out, and whoever is called looks.
extension Simulation {
    func perform(_ action: SimulatedAction) {
        count()
        switch action {
        case .makeTimer, .makeSource, .makeObserver, .makeDescriptor: make(action)
        case .add(let number, let loop, let mode): withItem(number) { add($0, to: loops[loop], mode) }
        case .remove(let number, let loop, let mode): withItem(number) { remove($0, from: loops[loop], mode) }
        case .invalidate(let number): withItem(number) { invalidate($0) }
        case .signal(let number): signal(number)
        case .wakeUp(let loop):
            if isRunning(loops[loop]) { wakes(loops[loop]) }
            loops[loop].loop.wakeUp()
        case .stop(let loop): stop(loops[loop])
        case .stopRun(let loop, let depth): stopRun(of: loops[loop], depth)
        case .post(let loop, let modes, let wakes): post(to: loops[loop], modes, wakes: wakes)
        case .postpone(let loop, let mode, let delay): postpone(in: loops[loop], mode, delay)
        case .cancel(let number): cancel(number)
        case .restart, .setFire, .setTolerance: change(action)
        case .setEvents(let number, let events): setEvents(number, events)
        case .markCommon(let loop, let mode): markCommon(loops[loop], mode)
        case .threadEnds(let loop):
            if !isByOther, !loops[loop].isDead, !isRunning(loops[loop]) { end(loops[loop]) }
        case .run(let loop, let mode, let limit, let afterSource):
            if !isByOther, runs.count < 4 { run(loops[loop], mode, limit, afterSource) }
        case .ready(let descriptor, let events, let times):
            kernel.ready.removeAll { $0.descriptor == descriptor }
            kernel.ready.append((descriptor, events))
            readiness[descriptor] = times
            everReady.insert(descriptor)
        case .unready(let descriptor): kernel.ready.removeAll { $0.descriptor == descriptor }
        case .reorder: kernel.ready.reverse()
        case .refuse(let code): refusals.append(code)
        case .interrupt: isInterrupted = true
        case .late(let milliseconds): lateness = Self.nanoseconds(milliseconds)
        case .advance(let milliseconds): kernel.advance(to: kernel.now(.monotonic) + Self.nanoseconds(milliseconds))
        case .suspend(let milliseconds): kernel.suspend(for: Self.nanoseconds(milliseconds))
        case .changeWallClock(let milliseconds): kernel.changeWallClock(by: Self.nanoseconds(milliseconds))
        }
    }

    private static func nanoseconds(_ milliseconds: Int) -> Int64 { Int64(milliseconds) * 1_000_000 }

    private func withItem(_ number: Int, _ body: (SimulatedItem) -> Void) {
        if items.isEmpty { return }
        let item = items[number % items.count]
        body(item)
        check(item)
    }

    func isRunning(_ loop: SimulatedLoop) -> Bool { runs.contains { $0.loop === loop } }

    private func wakes(_ loop: SimulatedLoop) {
        loop.isWoken = true
        loop.mayBeWoken = true
    }

    // MARK: Items

    private func make(_ action: SimulatedAction) {
        let number = items.count
        let life = Life(self)
        let made: (item: SimulatedItem, loop: Int, mode: Int)
        switch action {
        case .makeTimer(let loop, let mode, let delay, let interval, let tolerance, let clock):
            let timer = RunLoop.Timer.sendable(
                .after(.milliseconds(delay), every: interval > 0 ? .milliseconds(interval) : nil, clock: clock),
                tolerance: .milliseconds(tolerance)
            ) { [unowned self, life] _ in withExtendedLifetime(life) { timerIsCalled(items[number]) } }
            let item = SimulatedItem(number, .timer(timer))
            item.clock = clock
            item.date = kernel.now(clock) + Self.nanoseconds(delay)
            item.interval = Self.nanoseconds(interval)
            item.tolerance = Self.tolerance(tolerance, item.interval)
            made = (item, loop, mode)
        case .makeSource(let loop, let mode, let order):
            let source = RunLoop.Source.sendable(
                order: order, schedule: { [unowned self] _, _ in schedule(number, 1) },
                cancel: { [unowned self] _, _ in schedule(number, -1) },
                handler: { [unowned self, life] _ in withExtendedLifetime(life) { sourceIsCalled(items[number]) } })
            let item = SimulatedItem(number, .source(source))
            item.order = order
            made = (item, loop, mode)
        case .makeObserver(let loop, let mode, let order, let activities, let repeats):
            let observer = RunLoop.Observer.sendable(activities, order: order, repeats: repeats) {
                [unowned self, life] _, activity in
                withExtendedLifetime(life) { observerIsCalled(items[number], activity) }
            }
            let item = SimulatedItem(number, .observer(observer))
            item.activities = activities
            item.order = order
            item.repeats = repeats
            made = (item, loop, mode)
        case .makeDescriptor(let loop, let mode, let descriptor, let events, let repeats):
            let source = RunLoop.DescriptorSource.sendable(descriptor, for: events, repeats: repeats) {
                [unowned self, life] _, told in
                withExtendedLifetime(life) { descriptorIsCalled(items[number], told) }
            }
            let item = SimulatedItem(number, .descriptor(source))
            item.events = events
            item.repeats = repeats
            made = (item, loop, mode)
        default: return
        }
        items.append(made.item)
        add(made.item, to: loops[made.loop], made.mode)
        check(made.item)
    }

    private static func tolerance(_ milliseconds: Int, _ interval: Int64) -> Int64 {
        interval > 0 ? min(nanoseconds(milliseconds), interval / 2) : nanoseconds(milliseconds)
    }

    private func add(_ item: SimulatedItem, to loop: SimulatedLoop, _ mode: Int) {
        if case .descriptor(let source) = item.item { return add(item, source, to: loop, mode) }
        let mayEnter = !item.isTaken(from: loop.number)
        if mayEnter { item.owner = loop.number }
        let isExpected = mayEnter && item.isValid && !loop.isDead
        if isExpected { enter(item, loop, mode) }
        let name = SimulatedLoop.mode(mode)
        let isIn =
            switch item.item {
            case .timer(let timer): loop.loop.addUnlessElsewhere(timer, in: name)
            case .source(let source): loop.loop.add(source, in: name)
            case .observer(let observer): loop.loop.addUnlessElsewhere(observer, in: name)
            case .descriptor: false
            }
        expect(isIn == isExpected, "add of \(item.name) returned \(isIn)")
    }

    /// A descriptor source that is refused stays where it was.
    private func add(
        _ item: SimulatedItem, _ source: RunLoop.DescriptorSource, to loop: SimulatedLoop, _ mode: Int
    ) {
        let isExpected = item.isValid && !loop.isDead
        let before = (refused: refused, code: refusals.first)
        do {
            let isIn = try loop.loop.add(source, in: SimulatedLoop.mode(mode))
            expect(isIn == isExpected, "add of \(item.name) returned \(isIn)")
            expect(refused == before.refused, "add of \(item.name) hid a refusal")
            if isExpected { enter(item, loop, mode) }
        } catch {
            expect(
                refused > before.refused && error.code == before.code && error.call == "epoll_ctl",
                "add of \(item.name) threw \(error)")
        }
    }

    private func enter(_ item: SimulatedItem, _ loop: SimulatedLoop, _ mode: Int) {
        guard mode == SimulatedAction.common else { return item.enter(loop.number, mode, tick) }
        item.isCommon[loop.number] = true
        for mode in loop.commonSince.indices where loop.commonSince[mode] >= 0 {
            item.enter(loop.number, mode, tick)
        }
    }

    private func remove(_ item: SimulatedItem, from loop: SimulatedLoop, _ mode: Int) {
        if mode != SimulatedAction.common {
            item.leave(loop.number, mode, tick)
        } else if item.isCommon[loop.number] {
            item.isCommon[loop.number] = false
            for mode in loop.commonSince.indices where loop.commonSince[mode] >= 0 {
                item.leave(loop.number, mode, tick)
            }
        }
        loop.loop.remove(item.object, from: SimulatedLoop.mode(mode))
    }

    private func invalidate(_ item: SimulatedItem) {
        becomesInvalid(item)
        item.object.invalidate()
    }

    func becomesInvalid(_ item: SimulatedItem) {
        item.isValid = false
        item.signalled = nil
        item.leaveAll(count())
    }

    private func schedule(_ number: Int, _ difference: Int) {
        // A source dies with its loop, when nothing is expected of it any more.
        guard number < items.count else { return }
        // Below zero where a schedule closure takes its source out of modes whose own schedule closures come after.
        items[number].scheduled += difference
        act(at: .callout)
    }

    private func signal(_ number: Int) {
        let sources = items.filter { if case .source = $0.item { true } else { false } }
        if sources.isEmpty { return }
        let item = sources[number % sources.count]
        guard case .source(let source) = item.item else { return }
        if item.isValid, item.signalled == nil { item.signalled = tick }
        source.signal()
        check(item)
    }

    private func change(_ action: SimulatedAction) {
        let timers = items.filter(\.isTimer)
        // Another thread has a clock of its own for timers that are in no loop.
        func withTimer(_ number: Int, _ body: (SimulatedItem, RunLoop.Timer) -> Void) {
            if timers.isEmpty { return }
            let item = timers[number % timers.count]
            guard case .timer(let timer) = item.item, !isByOther || item.isAnywhere else { return }
            body(item, timer)
            check(item)
        }
        switch action {
        case .restart(let number, let delay):
            withTimer(number) { item, timer in
                if item.isValid {
                    item.date = kernel.now(item.clock) + Self.nanoseconds(delay)
                    item.missed = 0
                    if item.calls > 0 { item.isRestarted = true }
                }
                timer.restart(after: .milliseconds(delay))
            }
        case .setFire(let number, let delay):
            withTimer(number) { item, timer in
                let now = kernel.now(item.clock)
                if item.isValid {
                    item.date = max(now, now + Self.nanoseconds(delay))
                    item.missed = 0
                }
                timer.deadline = RunLoop.Instant(nanoseconds: now + Self.nanoseconds(delay), clock: item.clock)
            }
        case .setTolerance(let number, let tolerance):
            withTimer(number) { item, timer in
                item.tolerance = Self.tolerance(tolerance, item.interval)
                timer.tolerance = .milliseconds(tolerance)
            }
        default: return
        }
    }

    private func setEvents(_ number: Int, _ events: RunLoop.DescriptorEvents) {
        let sources = items.filter { if case .descriptor = $0.item { true } else { false } }
        if sources.isEmpty { return }
        let item = sources[number % sources.count]
        guard case .descriptor(let source) = item.item else { return }
        let before = refused
        item.events = events
        source.events = events
        if refused > before {
            item.events = []
            // A closure reports the refusal to the source, and wakes its loops.
            if item.isAnywhere { item.refusals += 1 }
            for loop in loops where item.isIn(loop.number) && isRunning(loop) { wakes(loop) }
        }
        check(item)
    }

    // MARK: Closures

    private func post(to loop: SimulatedLoop, _ modes: [Int], wakes: Bool) {
        let block = SimulatedBlock(blocks.count, loop: loop.number, modes: modes, wakes: wakes, posted: tick)
        if loop.isDead { block.state = .dropped }
        blocks.append(block)
        if wakes, isByOther, isRunning(loop) { self.wakes(loop) }
        let life = Life(self)
        let names = modes.map(SimulatedLoop.mode)
        let number = block.number
        loop.loop.perform(in: names, wake: wakes) { [unowned self, life] in
            withExtendedLifetime(life) { blockIsCalled(blocks[number]) }
        }
    }

    private func postpone(in loop: SimulatedLoop, _ mode: Int, _ delay: Int) {
        let date = kernel.now(.monotonic) + Self.nanoseconds(delay)
        let pending = SimulatedDelay(delays.count, loop: loop.number, mode: mode, date: date)
        if loop.isDead { pending.state = .dropped }
        delays.append(pending)
        let life = Life(self)
        let number = pending.number
        pending.handle = loop.loop.perform(after: .milliseconds(delay), in: SimulatedLoop.mode(mode)) {
            [unowned self, life] in
            withExtendedLifetime(life) { delayIsCalled(delays[number]) }
        }
    }

    private func cancel(_ number: Int) {
        if delays.isEmpty { return }
        let delay = delays[number % delays.count]
        guard let handle = delay.handle else { return }
        let isExpected = delay.state == .waiting
        if isExpected { delay.state = .dropped }
        let isCancelled = loops[delay.loop].loop.cancel(handle)
        expect(isCancelled == isExpected, "cancel of delay \(delay.number) returned \(isCancelled)")
    }

    // MARK: Loops

    private func markCommon(_ loop: SimulatedLoop, _ mode: Int) {
        // A refusal traps here, as documented.
        refusals = []
        if !loop.isDead, loop.commonSince[mode] < 0 {
            loop.commonSince[mode] = tick
            if !runs.isEmpty { isOrderOpen = true }
            for item in items where item.isCommon[loop.number] && item.isValid {
                // A timer or observer that another loop has in a mode stays there.
                if item.isTaken(from: loop.number) { continue }
                item.owner = loop.number
                item.enter(loop.number, mode, tick)
            }
        }
        loop.loop.markCommon(SimulatedLoop.mode(mode))
    }

    /// The loop's thread ends with whatever is in the loop.
    func end(_ loop: SimulatedLoop) {
        loop.isDead = true
        for item in items {
            for mode in SimulatedLoop.modes.indices { item.leave(loop.number, mode, tick) }
            item.isCommon[loop.number] = false
        }
        for block in blocks where block.loop == loop.number && block.state == .waiting { block.state = .dropped }
        for delay in delays where delay.loop == loop.number && delay.state == .waiting { delay.state = .dropped }
        loop.loop.threadEnds()
    }

    private func stop(_ loop: SimulatedLoop) {
        if let run = runs.last(where: { $0.loop === loop }) {
            run.isStopped = true
            wakes(loop)
        }
        loop.loop.stop()
    }

    /// The innermost run would sleep for ever.
    func stopInnermost() {
        if let run = runs.last { stop(run.loop) }
    }

    private func stopRun(of loop: SimulatedLoop, _ depth: Int) {
        let own = runs.filter { $0.loop === loop }
        guard depth < own.count, let handle = own[own.count - 1 - depth].handle else { return }
        own[own.count - 1 - depth].isStopped = true
        if depth == 0 { wakes(loop) }
        loop.loop.stop(handle)
    }

    private func run(_ loop: SimulatedLoop, _ mode: Int, _ limit: SimulatedLimit, _ afterSource: Bool) {
        if isRunning(loop) { isOrderOpen = true }
        let name = SimulatedLoop.modes[mode]
        let now = kernel.now(.monotonic)
        func asked(_ deadline: Int64 = .max) {
            nextRun = SimulatedRun(
                loop, mode: mode, limit, deadline: deadline, endsAfterSource: afterSource)
        }
        let result: RunLoop.RunResult
        switch limit {
        case .poll:
            asked()
            result = loop.loop.runTurn(in: name, returnsAfterSource: afterSource)
        case .idle:
            asked()
            result = loop.loop.runUntilIdle(in: name)
        case .never:
            asked()
            result = loop.loop.run(in: name, until: nil, returnsAfterSource: afterSource)
        case .milliseconds(let length):
            asked(now + Self.nanoseconds(length))
            result = loop.loop.run(in: name, for: .milliseconds(length), returnsAfterSource: afterSource)
        }
        let outer = runs.last { $0.loop === loop }?.handle
        expect(loop.loop.currentRun == outer, "a run of \(name) returned, and the run around it is not the current one")
        if nextRun == nil { return }
        // No run has begun: there was nothing to run for.
        nextRun = nil
        expect(result == .finished, "a run of \(name) that did not begin returned \(result)")
        expect(loop.isDead || isEmpty(loop, mode), "a run of \(name) did not begin although the mode is not empty")
    }
}
