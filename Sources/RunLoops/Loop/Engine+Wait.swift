// Sleeping, and finding out what there is to do. The loop's thread.
//
// Who has been ready longest goes first: a wake-up since it was called, a timer since it was due (or timers were served
// last), a descriptor since the look before the one that found it. That one rule keeps any kind of item from starving another, and is what an epoll with all of them in
// it would do (Documentation/Decisions/0004-who-goes-first.md).

extension Engine {
    /// The token of the main queue's descriptor, which no port has.
    private static let mainQueueToken: UInt64 = 0x7FFF_FFFF_FFFF_FFFF

    // MARK: The main queue

    /// Whether a run in this mode does the main queue's work; asked when it begins.
    func servesMainQueue(_ state: ModeState) -> Bool { mainQueue != nil && state.isCommon && !isInMainQueue }

    /// Has the queue's descriptor watched by a run that does its work, and not by one that does not: it would stay
    /// readable, and the thread would not sleep.
    ///
    /// Asked before each look, because runs in one mode can be of both kinds: one that is nested in the queue's own work,
    /// or one that began before the mode was marked as common.
    private func watchMainQueue(_ mainQueue: MainQueue, _ run: Run) {
        let state = run.state
        if state.watchesMainQueue == run.servesMainQueue { return }
        state.watchesMainQueue = run.servesMainQueue
        lock.withLock {
            guard run.servesMainQueue else { return state.ports.readiness.unregister(mainQueue.descriptor) }
            do {
                try state.ports.readiness.register(mainQueue.descriptor, for: .readable, token: Self.mainQueueToken)
            } catch {
                fatalError(
                    """
                    The main loop cannot wait for the main queue's descriptor \(mainQueue.descriptor): \(error). \
                    EEXIST: a port source is on that number, which was closed before the queue got it. \
                    EMFILE: raise the limit of open files.
                    """)
            }
        }
    }

    /// Step 6: the main queue before all others, unless it was the last to be served.
    func mainQueueGoesFirst(_ run: Run) -> Bool {
        guard run.servesMainQueue, !run.didMainQueue, let mainQueue else { return false }
        return mainQueue.takeReadiness()
    }

    // MARK: Looking and sleeping

    /// Looks at everything without sleeping.
    func poll(_ run: Run) -> Cause { findReady(run) ?? .nothing }

    /// The same; `nil` if there is nothing, not even a wake-up.
    func findReady(_ run: Run) -> Cause? {
        look(run, waiting: false, until: .forever)
        return first(run)
    }

    /// Sleeps until there is something to do, or the time is over.
    func sleep(_ run: Run) -> Cause {
        let state = run.state
        if guest != nil { stopWaitingInHost() }
        wakeWord.enter(.sleeping)
        defer { sleepingMode.end() }
        while true {
            // From here on, who brings something earlier finds the mode and the limit and wakes the thread.
            lock.lock()
            var limit = state.sleepLimit()
            sleepingMode.begin(state.mode)
            sleepLimit = limit
            let isDue = state.hasTimers && dueSince(state, false) != nil
            lock.unlock()
            limit.monotonic = min(limit.monotonic, run.limit)
            let isReady = isDue || wakeWord.wakeUp != nil || !state.ready.isEmpty
            look(run, waiting: !isReady, until: limit)
            if let cause = first(run) { return cause }
            if run.limit <= monotonicNow() { return .nothing }
        }
    }

    /// Tells of the sleep before it, and who records also what has ended it.
    @inline(never)
    func tellAndSleep(_ run: Run) -> Cause {
        tell(.beforeWaiting, run.state)
        guard let tracer else { return sleep(run) }
        let began = kernel.now(.monotonic)
        tracer.trace(.sleeps)
        let earlier = lastWakeUp
        let cause = sleep(run)
        switch cause {
        case .timers: tracer.trace(.wakes(LoopWaking(.timer, asleepSince: began)))
        case .port: tracer.trace(.wakes(LoopWaking(.port, asleepSince: began)))
        case .mainQueue: tracer.trace(.wakes(LoopWaking(.mainQueue, asleepSince: began)))
        case .nothing where lastWakeUp != earlier:
            tracer.trace(.wakes(LoopWaking(wakeUp: lastWakeUp, asleepSince: began)))
        case .nothing: tracer.trace(.wakes(LoopWaking(.limit, asleepSince: began)))
        }
        return cause
    }

    /// Asks the kernel what is ready, unless something that it said is still to be served.
    private func look(_ run: Run, waiting: Bool, until limit: WaitLimit) {
        let state = run.state
        if let mainQueue { watchMainQueue(mainQueue, run) }
        foundMainQueue = false
        if !state.ready.isEmpty { dropStaleEvents(state) }
        guard state.ready.isEmpty else { return }
        state.ports.readiness.wait(waiting, until: limit, into: &fetched)
        if waiting { knownNow = .min }
        if fetched.isEmpty { return }
        takeMainQueueEvent(state)
        if fetched.isEmpty { return }
        // The kernel does not say since when. The look before did not find them; they may have been ready ever since.
        state.ready.replace(with: &fetched, since: lastLook)
        if tracer != nil { state.ready.foundAt = kernel.now(.monotonic) }
        // Only compared with timers and wake-ups: without any, whatever comes is younger.
        if state.hasTimers || wakeWord.wakeUp != nil { lastLook = monotonicNow() }
    }

    /// Events of port sources that were taken out or made invalid since they were fetched must not make a turn, nor
    /// those of descriptors that another run has served.
    ///
    /// They are not fetched anew: the kernel would begin elsewhere, and those that were not served could wait for ever.
    private func dropStaleEvents(_ state: ModeState) {
        while let event = state.ready.peek, lock.withLock({ !state.ports.stands(event, state.ready.isDoubtful) }) {
            _ = state.ready.next()
        }
    }

    /// The main queue goes after all that is ready with it, as in Core Foundation, which asks for it last.
    private func takeMainQueueEvent(_ state: ModeState) {
        guard mainQueue != nil, let index = fetched.firstIndex(where: { $0.token == Self.mainQueueToken }) else {
            return
        }
        fetched.remove(at: index)
        foundMainQueue = true
    }

    /// Who has been ready longest.
    private func first(_ run: Run) -> Cause? {
        let state = run.state
        var cause: Cause?
        var since = Int64.max
        let wakeUp = wakeWord.wakeUp
        if let wakeUp {
            cause = .nothing
            since = state.wakeUpPlace.since(wakeUp)
        }
        let isAwakeAnyway = wakeUp != nil || foundMainQueue || !state.ready.isEmpty
        if let due = timersDueSince(state, isAwakeAnyway: isAwakeAnyway, before: since), due < since {
            cause = .timers
            since = due
        }
        if !state.ready.isEmpty, state.ready.since < since { return state.ready.next().map { .port($0) } }
        if case .nothing = cause, let wakeUp { serveWakeUp(wakeUp, state) }
        state.wakeUpPlace.passed(before: since)
        // Unlike the others this one may be wrong: step 6 was there before, or another loop drains the queue.
        if cause == nil, foundMainQueue, run.servesMainQueue, mainQueue?.takeReadiness() == true { return .mainQueue }
        return cause
    }

    /// Takes the wake-up for the turn of this mode.
    ///
    /// The others keep its place.
    private func serveWakeUp(_ date: Int64, _ state: ModeState) {
        wakeWord.serveWakeUp()
        lock.withLock {
            lastWakeUp = date
            for other in modes where other !== state { other.wakeUpPlace.servedElsewhere(date) }
        }
        state.wakeUpPlace.passed(before: .max)
    }
}
