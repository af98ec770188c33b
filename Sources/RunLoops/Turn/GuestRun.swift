// A loop inside another: its thread sleeps there, and a descriptor stands for the sleep.
//
// While the host has the thread, the wake word says so, and other threads find the loop as if it slept: what would end the
// sleep makes the descriptor readable (Documentation/Decisions/0015-guest.md).

/// What a host waits for, and in which mode the loop waits in it.
///
/// Guarded by the loop's lock, but for what says otherwise.
final class Guest {
    let set: any GuestDescriptor
    /// The mode of the last run.
    @exclusivity(unchecked) var mode: ModeState
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

    init(_ set: any GuestDescriptor, in mode: ModeState) {
        self.set = set
        self.mode = mode
    }
}

extension RunLoop {
    /// Turns that one call makes at most: a loop that is never idle must not keep its host for itself.
    private static var turnsInARow: Int { 16 }

    // MARK: What a host calls. The loop's thread.

    /// The descriptor; the first to ask makes the loop a guest, for as long as it lives.
    func guestDescriptor() throws(SystemCallError) -> CInt {
        requireOwnThread()
        if let guest { return guest.set.descriptor }
        guard let kernel = kernel as? any GuestKernel else {
            fatalError("A loop with a manual kernel has no descriptor to wait for: its time goes on by hand.")
        }
        let descriptor = try withLock { () throws(SystemCallError) -> CInt in
            let set = try kernel.makeGuest()
            guest = Guest(set, in: defaultMode)
            return set.descriptor
        }
        waitInHost(isReady: false)
        return descriptor
    }

    /// One run of as many turns as there is something to do, without sleeping at the end.
    func runGuest(_ mode: Mode, servesMainQueue: Bool) -> RunResult {
        requireOwnThread()
        let mode = withLock { makeMode(mode) }
        if let guest {
            withLock { guest.mode = mode }
            guest.servesMainQueue = servesMainQueue
        }
        var run = RunState(limit: .inHost, returnsAfterSource: false)
        let outer = begin(&run, in: mode)
        run.servesMainQueue = servesMainQueue && run.servesMainQueue
        tellWaited()
        var last: RunResult?
        for _ in 0..<Self.turnsInARow {
            last = turn(&run, in: mode)
            if last != nil { break }
        }
        let isIdle = last == .timedOut
        if isIdle {
            tell(.beforeWaiting, mode)
            guest?.toldWaiting = mode
        }
        let result = last == .stopped ? .stopped : isEmpty(mode) ? RunResult.finished : .timedOut
        end(result, in: mode, outer)
        if guest != nil { waitInHost(isReady: !isIdle) }
        return result
    }

    private func tellWaited() {
        guard let guest, let mode = guest.toldWaiting else { return }
        guest.toldWaiting = nil
        tell(.afterWaiting, mode)
    }

    /// Makes the descriptor tell the truth, if a callout under way has made it silent, and says whether something waits
    /// that is not worth a wake-up.
    func prepareGuest(_ mode: Mode) -> Bool {
        requireOwnThread()
        guard let guest else {
            fatalError("Ask for pollDescriptor before the host waits: without it there is nothing to prepare.")
        }
        if wakeWord.phase != .inHost || guest.mode.mode != mode {
            leaveHost()
            withLock { guest.mode = makeMode(mode) }
            waitInHost()
        }
        return blocks.hasMore(than: guest.blocksSeen) || !guest.mode.signals.isEmpty || wakeWord.wakeUp != nil
    }

    // MARK: In the host, and back

    /// From here on the descriptor shows whatever the loop has to do in its mode.
    ///
    /// - Parameter isReady: Whether it has something to do already; `nil` to look whether blocks or signals wait. A turn
    ///   that has found nothing leaves those that came since then, and without a wake-up, to the next.
    func waitInHost(isReady: Bool? = nil) {
        guard let guest else { return }
        leaveHost()
        let mode = guest.mode
        var isReady =
            isReady ?? (blocks.hasBlock(in: mode.mode, isCommon: mode.isCommon) || !mode.signals.isEmpty)
        if hasWakingBlock(mode) { isReady = true }
        guest.blocksSeen = blocks.waitingCount
        // Of the main queue the first look in the mode tells the kernel.
        if guest.servesMainQueue, servesMainQueue(mode), !mode.watchesMainQueue { isReady = true }
        withLock {
            sleep.mode = .passUnretained(mode)
            sleep.limit = mode.sleepLimit()
            if !guest.set.link(mode.descriptors.readiness) { isReady = true }
            guest.set.set(sleep.limit)
            // With the lock held: whoever brings a timer or a descriptor from now on finds the loop here.
            if wakeWord.enterHost() { isReady = true }
        }
        if isReady { kernel.wake(wakeWord, .inHost) }
    }

    /// The thread is back.
    func leaveHost() {
        guard let guest, wakeWord.phase == .inHost else { return }
        wakeWord.leaveHost()
        guest.set.awaken()
    }

    /// The thread ends.
    func endGuest() {
        guard let guest else { return }
        withLock {
            self.guest = nil
            guest.set.close()
        }
    }

    // MARK: Changes from any thread. With the lock held.

    /// A timer has come or gone, or got another date.
    @inline(never)
    func datesChangedInHost() {
        guard let guest, wakeWord.phase == .inHost else { return }
        let limit = guest.mode.sleepLimit()
        if limit == sleep.limit { return }
        sleep.limit = limit
        guest.set.set(limit)
    }

    /// A thread that waits does not see descriptors come and go; a host does, once it waits for the right epoll.
    func descriptorsChangedInHost(_ mode: ModeState) {
        guard let guest else { return }
        if !guest.set.link(mode.descriptors.readiness) { kernel.wake(wakeWord, .inHost) }
        guest.set.set(sleep.limit)
    }
}
