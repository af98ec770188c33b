// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import Synchronization

// Steps 6 to 8: finding out what there is to do, and sleeping until there is. The loop's thread.
extension RunLoop {
    /// The token of the main queue's descriptor, which no source has.
    private static let mainQueueToken: UInt64 = 0x7FFF_FFFF_FFFF_FFFF

    // MARK: The main queue

    /// Whether a run in this mode does the main queue's work; asked when it begins.
    func servesMainQueue(_ mode: LoopMode) -> Bool { mainQueue != nil && mode.isCommon && !isInMainQueue }

    /// Step 6: the main queue goes before all others, unless it was the last to be served.
    func mainQueueGoesFirst(_ run: RunState) -> Cause? {
        guard run.servesMainQueue, !run.didMainQueue, let mainQueue else { return nil }
        return mainQueue.takeReadiness() ? .mainQueue : nil
    }

    /// Starts to watch the main queue's descriptor for a run that does the queue's work, and stops for any other run.
    ///
    /// In another run the descriptor would stay readable, and the thread would not sleep. Called before each look,
    /// because runs in one mode can be of both kinds: a run that is nested in the queue's own work does not serve the
    /// queue, nor does a run that began before the mode was marked as common.
    private func watchMainQueue(_ mainQueue: MainQueue, _ mode: LoopMode, servesMainQueue: Bool) {
        if mode.watchesMainQueue == servesMainQueue { return }
        mode.watchesMainQueue = servesMainQueue
        // A host that does the queue's work itself, and watches from another thread, would see the work of this run.
        if servesMainQueue, let guest, !guest.servesMainQueue { silence(guest) }
        withState { _ in
            guard servesMainQueue else { return mode.readiness.unregister(mainQueue.descriptor) }
            do {
                try register(mainQueue, mode)
            } catch {
                fatalError(
                    """
                    The main loop cannot wait for the main queue's descriptor \(mainQueue.descriptor): \(error). \
                    EEXIST: a descriptor source is on that number, which was closed before the queue got it. \
                    ENOMEM, ENOSPC: the kernel has no memory, or the user no more watches of epoll \
                    (fs.epoll.max_user_watches).
                    """)
            }
        }
    }

    /// Watches the queue's descriptor for a host that waits in the mode before any run; returns whether it is watched.
    func watchMainQueueInHost(_ mode: LoopMode) -> Bool {
        if let mainQueue, !mode.watchesMainQueue {
            mode.watchesMainQueue = withState { _ in (try? register(mainQueue, mode)) != nil }
        }
        return mode.watchesMainQueue
    }

    /// Stops watching the queue's descriptor, for a host that does the queue's work itself: an earlier run of the loop
    /// may still watch it, and each work of the queue would make the loop appear ready.
    func leaveMainQueueToHost(_ mode: LoopMode) {
        guard let mainQueue, mode.watchesMainQueue else { return }
        mode.watchesMainQueue = false
        withState { _ in mode.readiness.unregister(mainQueue.descriptor) }
    }

    private func register(_ mainQueue: MainQueue, _ mode: LoopMode) throws(RunLoop.SystemCallError) {
        try mode.readiness.register(mainQueue.descriptor, for: .readable, token: Self.mainQueueToken)
    }

    // MARK: Looking

    /// Looks at everything without sleeping.
    func look(_ run: RunState, _ mode: LoopMode) -> Cause {
        findReady(mode, servesMainQueue: run.servesMainQueue) ?? .nothing
    }

    /// Returns the kind that has been ready longest; `nil` if nothing is ready, not even a wake-up.
    // The run is six words, of which a look needs one bit.
    private func findReady(_ mode: LoopMode, servesMainQueue: Bool) -> Cause? {
        prepareToLook(mode, servesMainQueue: servesMainQueue)
        if mode.ready.isEmpty {
            mode.look(into: &fetched)
            takeFetched(mode)
        }
        return longestReady(mode, servesMainQueue: servesMainQueue)
    }

    private func prepareToLook(_ mode: LoopMode, servesMainQueue: Bool) {
        if let mainQueue { watchMainQueue(mainQueue, mode, servesMainQueue: servesMainQueue) }
        foundMainQueue = false
        if !mode.ready.isEmpty { dropStaleEvents(mode) }
    }

    /// Takes the ready descriptors that the kernel has reported, and records the instant of the look.
    @inline(__always)
    private func takeFetched(_ mode: LoopMode) {
        if !fetched.isEmpty { takeEvents(mode) }
        // The instant is only compared with timers and wake-ups. If there are none now, every later one is younger, and
        // no instant is needed.
        if mode.hasTimers {
            lookedForDescriptors(at: monotonicNow())
        } else if let wakeUp = core.wakeWord.wakeUp {
            lookedForDescriptors(at: wakeUp)
        }
    }

    private func lookedForDescriptors(at instant: Int64) {
        core.lastLook.store(max(instant, core.lastLook.load(ordering: .relaxed)), ordering: .relaxed)
    }

    private func takeEvents(_ mode: LoopMode) {
        // Work of the main queue comes after everything that is ready at the same time, as in Core Foundation, which
        // looks at the queue last.
        if mainQueue != nil, let index = fetched.firstIndex(where: { $0.token == Self.mainQueueToken }) {
            fetched.remove(at: index)
            foundMainQueue = true
            if fetched.isEmpty { return }
        }
        // The kernel does not say when the descriptors became ready. The look before did not find them ready, so they
        // may have been ready since then.
        mode.ready.replace(with: &fetched, readySince: core.lastLook.load(ordering: .relaxed))
        if tracer != nil { mode.ready.foundAt = now(.monotonic) }
    }

    /// Drops events that must not cause a turn: of descriptor sources that were removed or invalidated since the events
    /// were fetched, and of descriptors that another run has served.
    ///
    /// The remaining events are kept and not fetched anew: the kernel might then report other descriptors first, and
    /// unserved ones could wait forever.
    func dropStaleEvents(_ mode: LoopMode) {
        while let event = mode.ready.peek,
            withState({ !$0.modes[mode.number].descriptors.stands(event, isDoubtful: mode.ready.isDoubtful) })
        {
            _ = mode.ready.next()
        }
    }

    /// The kind that has been ready longest; `nil` if none is ready.
    private func longestReady(_ mode: LoopMode, servesMainQueue: Bool) -> Cause? {
        let wakeUp = core.wakeWord.wakeUp
        if wakeUp == nil, mode.ready.isEmpty, !mode.hasTimers, !foundMainQueue { return nil }
        return longestReady(wakeUp, mode, servesMainQueue: servesMainQueue)
    }

    // Apart from the look that finds nothing, which most turns of a busy loop make.
    @inline(never)
    private func longestReady(_ wakeUp: Int64?, _ mode: LoopMode, servesMainQueue: Bool) -> Cause? {
        let descriptors = mode.ready.isEmpty ? nil : mode.ready.since
        let isAwakeAnyway = wakeUp != nil || foundMainQueue || descriptors != nil
        let timers =
            mode.hasTimers ? timersReadySince(mode, isAwakeAnyway, before: wakeUp ?? .max) : nil
        let cause =
            chooseReady == nil
            ? ReadyOrder.first(wakeUp: wakeUp, timers: timers, descriptors: descriptors)
            : choose(wakeUp, timers, descriptors)
        if case .wakeUp = cause, let wakeUp {
            core.wakeWord.serveWakeUp()
            lastServedWakeUp = wakeUp
        }
        // Unlike the other causes this one may be wrong: step 6 may have done the work before, or another loop drains
        // the queue.
        if cause == nil, foundMainQueue, servesMainQueue, mainQueue?.takeReadiness() == true { return .mainQueue }
        return cause
    }

    /// The instant of the monotonic clock since which the mode's timers have been ready; `nil` if none is due.
    ///
    /// - Parameter date: The instant since which a wake-up has been ready. If no timer is due, and timers that are gone
    ///   by now were ready before `date`, the mode forgets that instant.
    @inline(__always)
    private func timersReadySince(_ mode: LoopMode, _ isAwakeAnyway: Bool, before date: Int64) -> Int64? {
        let now = monotonicNow()
        return withState { state in
            let since = state.timersReadySince(in: mode.number, now, isAwakeAnyway: isAwakeAnyway)
            if since == nil { state.modes[mode.number].order.passTimers(before: date) }
            return since
        }
    }

    /// The kind that the oracle chooses.
    @inline(never)
    private func choose(_ wakeUp: Int64?, _ timers: Int64?, _ descriptors: Int64?) -> Cause? {
        let kinds = [(wakeUp, Cause.wakeUp), (timers, .timers), (descriptors, .descriptor)]
        var ready = kinds.compactMap { since, cause in since.map { (since: $0, cause: cause) } }
        if ready.count < 2 { return ready.first?.cause }
        ready.sort { $0.since < $1.since }
        return ready[chooseReady?(ready.count) ?? 0].cause
    }

    // MARK: Sleeping

    /// Does steps 7 and 8; returns `nil` if the run ends where it would sleep, and has nothing to do.
    func sleep(_ run: RunState, _ mode: LoopMode) -> Cause? {
        if run.endsWhenIdle {
            return findReady(mode, servesMainQueue: run.servesMainQueue) ?? (hasUnserved(run, mode) ? .unserved : nil)
        }
        callObservers(.beforeWaiting, mode)
        let cause = tracer == nil ? sleepUntilReady(run, mode) : sleepAndTrace(run, mode)
        core.wakeWord.beAwake()
        callObservers(.afterWaiting, mode)
        return cause
    }

    /// Whether a run that does not sleep has something to look at in another turn.
    ///
    /// A run with the limit `idle` also serves what would not end a sleep: signals, and closures that do not wake.
    private func hasUnserved(_ run: RunState, _ mode: LoopMode) -> Bool {
        guard case .idle = run.limit else { return hasWakingBlock(mode) }
        return !mode.signals.isEmpty || blocks.hasBlock(in: mode.name, isCommon: mode.isCommon)
    }

    /// Whether a closure waits that has to run before the thread sleeps: Specification 3.7.5.
    func hasWakingBlock(_ mode: LoopMode) -> Bool {
        blocks.hasWakingBlock(in: mode.name, isCommon: mode.isCommon)
    }

    /// Sleeps until there is something to do, or the limit has passed.
    private func sleepUntilReady(_ run: RunState, _ mode: LoopMode) -> Cause {
        if let guest { silence(guest) }
        // From here until the thread has slept, it calls nothing; other threads wake it or make it look again.
        var hasBlock = hasWakingBlock(mode)
        while true {
            prepareToLook(mode, servesMainQueue: run.servesMainQueue)
            // From here on, a thread that brings something earlier finds the mode and the limit and makes this thread
            // look again.
            let isAwakeAnyway = hasBlock || core.wakeWord.wakeUp != nil || !mode.ready.isEmpty
            let limit = prepareToSleep(run, mode, isAwakeAnyway: isAwakeAnyway)
            if mode.ready.isEmpty {
                if var limit {
                    limit.monotonic = min(limit.monotonic, run.deadline)
                    mode.readiness.wait(core.wakeWord, until: limit, into: &fetched)
                    knownNow = .min
                } else {
                    mode.look(into: &fetched)
                }
                takeFetched(mode)
            }
            if let cause = longestReady(mode, servesMainQueue: run.servesMainQueue) { return cause }
            if hasBlock { return .unserved }
            if core.wakeWord.isStopped { return .stop }
            if run.deadline <= monotonicNow() { return .limit }
            if hasLostItems(run, mode) { return .nothing }
            sweepSignals()
            hasBlock = hasWakingBlock(mode)
        }
    }

    /// Records what the thread is going to wait for; returns the limit of the sleep, or `nil` if there is something to
    /// do already.
    private func prepareToSleep(_ run: RunState, _ mode: LoopMode, isAwakeAnyway: Bool) -> WaitLimit? {
        withState { state in
            let limit = state.sleepLimit(in: mode.number)
            state.sleep = Sleep(mode: mode.number, limit: limit)
            if isAwakeAnyway { return nil }
            if mode.hasTimers {
                let since = state.timersReadySince(in: mode.number, monotonicNow(), isAwakeAnyway: false)
                if since != nil { return nil }
            }
            if hasLostItems(run, mode) { return nil }
            // A thread that sleeps has looked at everything, and found nothing.
            state.modes[mode.number].order.passTimers()
            state.trimTimers(in: mode.number, limit, monotonicNow())
            return limit
        }
    }

    /// Sleeps until there is something to do, and reports to recorders when the sleep began and what has ended it.
    @inline(never)
    private func sleepAndTrace(_ run: RunState, _ mode: LoopMode) -> Cause {
        let began = now(.monotonic)
        report(.sleeps)
        let cause = sleepUntilReady(run, mode)
        var calledAt: Int64 = 0
        let reason: LoopEvent.WakeCause
        switch cause {
        case .timers: reason = .timer
        case .descriptor: reason = .descriptor
        case .mainQueue: reason = .mainQueue
        case .wakeUp: (reason, calledAt) = (.wakeUp, lastServedWakeUp)
        // The thread has not slept.
        case .unserved: (reason, calledAt) = (.wakeUp, began)
        case .stop, .limit, .nothing: reason = .limit
        }
        let thread = reason == .wakeUp ? rl_find_waker(calledAt) : 0
        report(.wakes((reason, asleepSince: began, calledAt, thread)))
        return cause
    }
}

// News for a thread that sleeps.
extension GuardedState {
    /// Shortens the sleep of the thread if a timer has to be served before its end, by `latest`; called when a timer is
    /// added or gets another date.
    @inline(__always)
    mutating func timerComes(_ latest: Int64, in bucket: BucketNumber) {
        let phase = core.wakeWord.phase
        if phase != .awake { timerComes(latest, in: bucket, phase) }
    }

    @inline(never)
    private mutating func timerComes(_ latest: Int64, in bucket: BucketNumber, _ phase: WakeWord.Phase) {
        guard let mode = sleep.mode, latest < sleep.limit[buckets[bucket].clock], buckets[bucket].contains(mode)
        else { return }
        // A host need not be woken for this: another instant is set.
        if phase == .inHost { datesChangedInHost() } else { lookAgain() }
    }

    /// Makes a thread that waits in the mode use the changed descriptors; called when descriptors are added or removed.
    ///
    /// The thread does not notice such a change without a call.
    func descriptorsChanged(in mode: Int) {
        let phase = core.wakeWord.phase
        guard phase != .awake, sleep.mode == mode else { return }
        if phase == .inHost { descriptorsChangedInHost(mode) } else { lookAgain() }
    }

    /// Makes a sleeping thread look again; called when a mode is marked as common.
    ///
    /// A block that waits for the common modes may now run in the mode, and the thread must not sleep before it has run
    /// the block.
    func modeBecameCommon() {
        // The loop's own thread must do this too: while the loop is in its host, that thread does not look.
        core.lookAgain()
    }

    func lookAgain() {
        // The loop's own thread is awake, whatever it is about to do, and looks before it sleeps.
        if SystemCalls.threadID != core.threadID { core.lookAgain() }
    }
}
