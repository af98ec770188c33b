// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTesting

@testable import RunLoops

// The rules that hold at each point of a run.
extension Simulation {
    // MARK: Runs and their activities

    func runBegins(_ loop: SimulatedLoop) {
        count()
        guard let run = nextRun, run.loop === loop else { return fail("a run began that nobody asked for") }
        nextRun = nil
        run.handle = loop.loop.currentRun
        runs.append(run)
        act(at: .passing)
    }

    func runEnds(_ result: RunLoop.RunResult, _ loop: SimulatedLoop) {
        count()
        guard let run = runs.popLast(), run.loop === loop else { return fail("a run ended that had not begun") }
        leaveActivity(run)
        // A nested run may have taken the wake-up that came for the outer one, as in Core Foundation.
        loop.isWoken = false
        expect(run.passed == .exit, "a run ended after \(run.passed)")
        switch result {
        case .stopped: expect(run.wasStoppedBeforeExit, "a run was stopped by a stop that was not meant for it")
        case .finished:
            expect(!run.wasStoppedBeforeExit, "a stopped run returned finished")
        case .timedOut:
            expect(!run.sleeps || kernel.now(.monotonic) >= run.deadline, "a run timed out before its deadline")
        case .handledSource:
            expect(run.endsAfterSource && run.hasHandledSource, "a run returned after a source that it did not handle")
        }
    }

    func passes(_ activity: RunLoop.Activities, _ loop: SimulatedLoop) {
        count()
        guard let run = runs.last, run.loop === loop else { return fail("\(activity) without a run") }
        leaveActivity(run)
        let allowed: [RunLoop.Activities]
        switch activity {
        case .entry: allowed = [[]]
        case .beforeTimers: allowed = [.entry, .beforeSources, .afterWaiting]
        case .beforeSources: allowed = [.beforeTimers]
        case .beforeWaiting: allowed = run.sleeps ? [.beforeSources] : []
        case .afterWaiting: allowed = [.beforeWaiting]
        default: allowed = [.entry, .beforeSources, .afterWaiting]
        }
        expect(allowed.contains(run.passed), "\(activity) came after \(run.passed)")
        switch activity {
        case .beforeTimers: turnBegins(run)
        case .afterWaiting: checkReason(run)
        case .exit: run.wasStoppedBeforeExit = run.isStopped
        default: break
        }
        run.passed = activity
        run.isServing = false
        act(at: .passing)
        if activity == .beforeSources {
            run.looked = count()
            run.latest = WaitLimit()
            for clock in RunLoop.ClockID.allCases { run.latest[clock] = kernel.now(clock) }
            loop.isWoken = false
        }
        if activity == .afterWaiting { see(run) }
        // The list is taken now: an observer that is added later is called at the next activity.
        run.expected = ArraySlice(
            items.filter { item in
                item.isObserver && item.isValid && item.calls == 0 && item.isIn(loop.number, run.mode)
                    && item.activities.contains(activity)
            }.sorted { left, right in
                let first = (left.order, left.since(loop.number, run.mode), left.number)
                return first < (right.order, right.since(loop.number, run.mode), right.number)
            })
    }

    private func see(_ run: SimulatedRun) {
        for clock in RunLoop.ClockID.allCases { run.latest[clock] = max(run.latest[clock], kernel.now(clock)) }
    }

    /// All observers of the activity that had to be called were called.
    private func leaveActivity(_ run: SimulatedRun) {
        for item in run.expected { expectPassedOver(item, run) }
        run.expected = []
    }

    /// An observer that was not called had become invalid, or was being called, or had gone to another loop.
    private func expectPassedOver(_ item: SimulatedItem, _ run: SimulatedRun) {
        expect(
            !item.isValid || item.calls > 0 || item.owner != run.loop.number, "\(item.name) was not told \(run.passed)")
    }

    private func turnBegins(_ run: SimulatedRun) {
        expect(!run.isStopped, "a stopped run goes on with another turn")
        if run.turns > 0 { checkLooked(run) }
        run.turns += 1
        for item in items where isDue(item, run) {
            item.missed += 1
            expect(item.missed < 20, "\(item.name) has been due for \(item.missed) turns")
        }
        if run.turns > 40 { expect(run.turns < 45, "a run goes on for ever") }
        if run.turns > 30 { perform(.stop(loop: run.loop.number)) }
    }

    private func isDue(_ item: SimulatedItem, _ run: SimulatedRun) -> Bool {
        item.isTimer && item.isValid && item.calls == 0 && item.isIn(run.loop.number, run.mode)
            && item.date + item.tolerance <= kernel.now(item.clock)
    }

    /// What was there when the turn looked at blocks and signals was done in the turn.
    private func checkLooked(_ run: SimulatedRun) {
        let loop = run.loop
        for item in items {
            guard let signalled = item.signalled, item.isIn(loop.number, run.mode) else { continue }
            expect(
                max(signalled, item.since(loop.number, run.mode)) > run.looked,
                "\(item.name) was signalled and not performed in the turn")
        }
        for block in waitingBlocks(run) {
            let since = loop.mayRun(block.modes, in: run.mode, posted: block.posted) ?? .max
            expect(since > run.looked, "block \(block.number) was not run in the turn")
        }
    }

    /// The blocks that a drain of the mode would run, except those that a drain in progress may have taken.
    private func waitingBlocks(_ run: SimulatedRun) -> [SimulatedBlock] {
        blocks.filter { block in
            block.state == .waiting && block.loop == run.loop.number
                && block.posted > run.loop.drains.last ?? .min
                && run.loop.mayRun(block.modes, in: run.mode, posted: block.posted) != nil
        }
    }

    // MARK: Sleeping

    /// The thread sleeps until `limit`.
    func checkSleep(until limit: WaitLimit) {
        guard let run = runs.last else { return fail("a sleep without a run") }
        let loop = run.loop
        loop.mayBeWoken = false
        expect(run.sleeps && run.passed == .beforeWaiting, "a run slept after \(run.passed)")
        expect(!loop.isWoken, "a run slept over a wake-up")
        expect(!run.isStopped, "a run slept over a stop")
        expect(limit.monotonic <= run.deadline, "a run sleeps past its deadline")
        checkLooked(run)
        for block in waitingBlocks(run) where block.wakes {
            fail("a run slept over block \(block.number)")
        }
        for item in items where item.isTimer && item.isValid && item.calls == 0 && item.isIn(loop.number, run.mode) {
            expect(limit[item.clock] <= item.date + item.tolerance, "a run sleeps past \(item.name)")
        }
        for delay in delays where delay.state == .waiting && delay.loop == loop.number {
            guard loop.mayRun([delay.mode], in: run.mode, posted: 0) != nil else { continue }
            expect(limit.monotonic <= delay.date, "a run sleeps past delay \(delay.number)")
        }
    }

    /// A sleep ends only for something.
    private func checkReason(_ run: SimulatedRun) {
        let loop = run.loop
        if loop.mayBeWoken || run.isStopped || kernel.now(.monotonic) >= run.deadline { return }
        // A run does not sleep in a mode without items, nor past the date of a timer that has left it: Specification 4.5.1.
        if waitingBlocks(run).contains(where: \.wakes) || hasNoItems(loop, run.mode) { return }
        for item in items {
            // The closure that reports a refusal waits, even if the source has gone.
            if item.refusals > 0 { return }
            guard item.isValid, item.isIn(loop.number, run.mode) else { continue }
            switch item.item {
            case .timer: if item.date <= kernel.now(item.clock) { return }
            case .descriptor(let source): if everReady.contains(source.descriptor) { return }
            case .source, .observer: break
            }
        }
        for delay in delays where delay.state == .waiting && delay.loop == loop.number {
            let mayRun = loop.mayRun([delay.mode], in: run.mode, posted: 0) != nil
            if mayRun, delay.date <= kernel.now(.monotonic) { return }
        }
        fail("a sleep ended for nothing")
    }

    // MARK: Callouts

    /// A callout begins in the innermost run; returns the run.
    private func calloutBegins(
        _ name: String, isServing: Bool = false,
        after activities: [RunLoop.Activities] = [.beforeSources, .afterWaiting]
    ) -> SimulatedRun? {
        count()
        guard let run = runs.last else {
            fail("\(name) was called outside a run")
            return nil
        }
        leaveActivity(run)
        expect(activities.contains(run.passed), "\(name) was called after \(run.passed)")
        if isServing { run.isServing = true }
        return run
    }

    /// The callout of an item, inside of which the program goes on.
    private func call(_ item: SimulatedItem) {
        item.calls += 1
        act(at: .callout)
        item.calls -= 1
    }

    func timerIsCalled(_ item: SimulatedItem) {
        guard let run = calloutBegins(item.name, isServing: true) else { return }
        expect(item.isValid, "\(item.name) was called after it became invalid")
        expect(item.calls == 0, "\(item.name) was called inside its own callout")
        // A timer that was taken out of this mode alone still fires.
        expect(item.isIn(run.loop.number), "\(item.name) was called by a loop that it is not in")
        see(run)
        expect(item.date <= run.latest[item.clock], "\(item.name) was called before its date")
        let date = item.date
        item.missed = 0
        item.isRestarted = false
        call(item)
        guard item.isValid else { return }
        if item.interval == 0, !item.isRestarted { return becomesInvalid(item) }
        if !item.isRestarted, item.date <= date {
            let now = kernel.now(item.clock)
            while item.date <= max(date, now) { item.date += item.interval }
        }
    }

    func sourceIsCalled(_ item: SimulatedItem) {
        guard let run = calloutBegins(item.name, after: [.beforeSources]) else { return }
        expect(item.isValid, "\(item.name) was called after it became invalid")
        expect(item.signalled != nil, "\(item.name) was called without a signal")
        expect(!run.isServing, "\(item.name) was called after what was ready")
        let (loop, mode) = (run.loop.number, run.mode)
        // A source that was signalled and is taken out by the source before is performed in this turn, as in Core Foundation.
        expect(
            item.isIn(loop, mode) || item.left(loop, mode) > run.looked,
            "\(item.name) was called by a mode that it is not in")
        let place = (item.order, item.signalled ?? .max)
        for other in items {
            guard let signalled = other.signalled, other.isIn(loop, mode) else { continue }
            expect(
                max(signalled, other.since(loop, mode)) > run.looked || place <= (other.order, signalled),
                "\(item.name) was called before \(other.name)")
        }
        item.signalled = nil
        run.hasHandledSource = true
        call(item)
    }

    func descriptorIsCalled(_ item: SimulatedItem, _ told: RunLoop.DescriptorEvents) {
        guard case .descriptor(let source) = item.item else { return }
        let isRefusal = told == .error
        guard let run = calloutBegins(item.name, isServing: !isRefusal) else { return }
        expect(item.isValid, "\(item.name) was called after it became invalid")
        if isRefusal {
            expect(item.refusals > 0, "\(item.name) was told of a refusal that was none")
            expect(item.isIn(run.loop.number), "\(item.name) was called by a loop that it is not in")
            item.refusals -= 1
            // A block of the loop makes this call.
            run.loop.drains.append(count())
        } else {
            expect(item.isIn(run.loop.number, run.mode), "\(item.name) was called by a mode that it is not in")
            expect(!item.events.isEmpty, "\(item.name) was called without having asked")
            expect(
                !told.isEmpty && told.isSubset(of: item.events.union([.hangUp, .error])),
                "\(item.name) was told \(told), and asked for \(item.events)")
            run.hasHandledSource = true
            if !item.repeats { item.events = [] }
            let left = (readiness[source.descriptor] ?? 0) - 1
            readiness[source.descriptor] = left
            if left <= 0 { kernel.ready.removeAll { $0.descriptor == source.descriptor } }
        }
        call(item)
        if isRefusal { run.loop.drains.removeLast() }
    }

    func observerIsCalled(_ item: SimulatedItem, _ activity: RunLoop.Activities) {
        count()
        guard let run = runs.last else { return fail("\(item.name) was called outside a run") }
        expect(item.isValid, "\(item.name) was called after it became invalid")
        expect(activity == run.passed, "\(item.name) was told \(activity) instead of \(run.passed)")
        while let first = run.expected.first, first !== item {
            expectPassedOver(first, run)
            run.expected.removeFirst()
        }
        expect(run.expected.first === item, "\(item.name) was told \(activity) out of order")
        run.expected = run.expected.dropFirst()
        call(item)
        if item.isValid, !item.repeats { becomesInvalid(item) }
    }

    func blockIsCalled(_ block: SimulatedBlock) {
        guard let run = calloutBegins("block \(block.number)") else { return }
        expect(block.state == .waiting, "block \(block.number) was run after it was \(block.state)")
        let since = run.loop.mayRun(block.modes, in: run.mode, posted: block.posted)
        expect(
            run.loop.number == block.loop && since != nil, "block \(block.number) was run in a mode that is not its own"
        )
        if !isOrderOpen {
            let overtaken = blocks.prefix(block.number).first {
                $0.state == .waiting && $0.loop == block.loop
                    && run.loop.mayRun($0.modes, in: run.mode, posted: $0.posted) != nil
            }
            expect(overtaken == nil, "block \(block.number) was run before an older block")
        }
        block.state = .done
        run.loop.drains.append(count())
        act(at: .callout)
        run.loop.drains.removeLast()
    }

    func delayIsCalled(_ delay: SimulatedDelay) {
        guard let run = calloutBegins("delay \(delay.number)", isServing: true) else { return }
        expect(delay.state == .waiting, "delay \(delay.number) was run after it was \(delay.state)")
        expect(delay.date <= kernel.now(.monotonic), "delay \(delay.number) was run before its date")
        expect(run.loop.number == delay.loop, "delay \(delay.number) was run by another loop")
        delay.state = .done
        act(at: .callout)
    }
}
