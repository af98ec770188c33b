// A loop inside another: its thread sleeps there, and a descriptor stands for the sleep.
//
// While the host has the thread, other threads find the loop as if it slept: the mode, the limit and the phase are those of
// a sleep. What would end it makes the descriptor readable (Documentation/Decisions/0015-guest.md).

/// What a host waits for, and in which mode the loop waits in it.
///
/// Guarded by the loop's lock, but for what says otherwise.
final class Guest {
    let set: any GuestDescriptor
    /// The mode of the last run.
    @exclusivity(unchecked) var state: ModeState
    /// Whether the loop stands as asleep in the host.
    @exclusivity(unchecked) var isWaiting = false
    /// The mode whose observers were told that the loop is about to wait, and not yet that it has waited.
    ///
    /// The loop's thread alone.
    @exclusivity(unchecked) var toldWaiting: ModeState?
    /// How many blocks waited when the loop had looked at them last: others have come since then.
    ///
    /// The loop's thread alone.
    @exclusivity(unchecked) var blocksSeen = 0
    /// Whether the main queue's work is done in the loop, and not in the host.
    ///
    /// The loop's thread alone.
    @exclusivity(unchecked) var servesMainQueue = true

    init(_ set: any GuestDescriptor, in state: ModeState) {
        self.set = set
        self.state = state
    }
}

extension Engine {
    /// Turns that one call makes at most: a loop that is never idle must not keep its host for itself.
    private static let turnsInARow = 16

    // MARK: What a host calls. The loop's thread.

    /// The descriptor; the first to ask makes the loop a guest, for as long as it lives.
    package func pollDescriptor() throws(RunLoopSystemCallError) -> CInt {
        requireOwnThread()
        if let guest { return guest.set.descriptor }
        guard let kernel = kernel as? any GuestKernel else {
            fatalError("A loop with a manual kernel has no descriptor to wait for: its time goes on by hand.")
        }
        let descriptor = try lock.withLock { () throws(RunLoopSystemCallError) -> CInt in
            let set = try kernel.makeGuest()
            guest = Guest(set, in: defaultMode)
            return set.descriptor
        }
        waitInHost(isReady: false)
        return descriptor
    }

    /// One run of as many turns as there is something to do, without sleeping at the end.
    package func runReady(_ mode: RunLoopMode, servesMainQueue: Bool) -> RunLoopRunResult {
        requireOwnThread()
        let state = lock.withLock { makeMode(mode) }
        if let guest {
            stopWaitingInHost()
            lock.withLock { guest.state = state }
            guest.servesMainQueue = servesMainQueue
            // What the run puts back at its end: a wake-up that comes then counts.
            wakeWord.enter(.sleeping)
        }
        // Time has gone by in the host.
        knownNow = .min
        let outerMode = enter(state)
        let outer = wakeWord.beginRun()
        tracer?.trace(.runBegins(mode))
        tell(.entry, state)
        var run = Run(
            state: state, limit: .max, returnsAfterSource: false, servesMainQueue: false, sleepsInHost: true)
        run.servesMainQueue = servesMainQueue && self.servesMainQueue(state)
        tellWaited()
        var end: RunLoopRunResult?
        for _ in 0..<Self.turnsInARow {
            end = turn(&run)
            if end != nil { break }
        }
        let isIdle = end == .timedOut
        if isIdle {
            tell(.beforeWaiting, state)
            guest?.toldWaiting = state
        }
        tell(.exit, state)
        let result = end == .stopped ? .stopped : isEmpty(state) ? RunLoopRunResult.finished : .timedOut
        tracer?.trace(.runEnds(result))
        wakeWord.endRun(outer)
        leave(to: outerMode)
        if guest != nil { waitInHost(isReady: !isIdle) }
        return result
    }

    private func tellWaited() {
        guard let guest, let state = guest.toldWaiting else { return }
        guest.toldWaiting = nil
        tell(.afterWaiting, state)
    }

    /// Makes the descriptor tell the truth, if a callout under way has made it silent, and says whether something waits
    /// that is not worth a wake-up.
    package func prepareToPoll(_ mode: RunLoopMode) -> Bool {
        requireOwnThread()
        guard let guest else {
            fatalError("Ask for pollDescriptor before the host waits: without it there is nothing to prepare.")
        }
        if !guest.isWaiting || guest.state.mode != mode {
            if guest.isWaiting { stopWaitingInHost() }
            lock.withLock { guest.state = makeMode(mode) }
            waitInHost()
        }
        return blocks.hasMore(than: guest.blocksSeen) || !guest.state.signals.isEmpty || wakeWord.wakeUp != nil
    }

    // MARK: Standing as asleep

    /// From here on the descriptor shows whatever the loop has to do in its mode.
    ///
    /// - Parameter isReady: Whether it has something to do already; `nil` to look whether blocks or signals wait. A turn
    ///   that has found nothing leaves those that came since then, and without a wake-up, to the next.
    func waitInHost(isReady: Bool? = nil) {
        guard let guest else { return }
        if guest.isWaiting { stopWaitingInHost() }
        let state = guest.state
        var isReady = isReady ?? (hasBlock(for: state) || !state.signals.isEmpty)
        guest.blocksSeen = blocks.waitingCount
        // Of the main queue the first look in the mode tells the kernel.
        if guest.servesMainQueue, servesMainQueue(state), !state.watchesMainQueue { isReady = true }
        let isShown = lock.withLock {
            guest.isWaiting = true
            sleepingMode.begin(state.mode)
            sleepLimit = state.sleepLimit()
            let isShown = guest.set.link(state.ports.readiness)
            guest.set.set(sleepLimit)
            return isShown
        }
        if !isShown { isReady = true }
        wakeWord.enter(.sleeping)
        while !guest.set.fallAsleep() { isReady = true }
        // One that came while wake-ups counted and nobody slept has told nobody.
        if isReady || wakeWord.wakeUp != nil { kernel.wake() }
    }

    /// The thread is back, or goes to sleep in the loop itself.
    func stopWaitingInHost() {
        guard let guest, guest.isWaiting else { return }
        lock.withLock {
            guest.isWaiting = false
            sleepingMode.end()
        }
        guest.set.awaken()
    }

    /// The thread ends.
    func endGuest() {
        guard let guest else { return }
        lock.withLock {
            self.guest = nil
            sleepingMode.end()
            guest.set.close()
        }
    }

    // MARK: Changes from any thread. With the lock held.

    /// A timer comes that is due before the end of the sleep.
    @inline(never)
    func sleepsTooLong() {
        // A host need not be woken for it: another instant is set.
        if let guest, guest.isWaiting { datesChangedInHost() } else { kernel.wake() }
    }

    /// A timer goes, or is put off.
    @inline(never)
    func datesChangedInHost() {
        guard let guest, guest.isWaiting else { return }
        let limit = guest.state.sleepLimit()
        if limit == sleepLimit { return }
        sleepLimit = limit
        guest.set.set(limit)
    }

    /// A thread that waits does not see descriptors come and go; a host does, once it waits for the right epoll.
    func portsOfSleeperChanged(_ state: ModeState) {
        guard let guest, guest.isWaiting else { return kernel.wake() }
        if !guest.set.link(state.ports.readiness) { kernel.wake() }
        guest.set.set(sleepLimit)
    }
}
