// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A loop inside another: its thread sleeps in the other loop, which waits for a descriptor of this one.
//
// While the host has the thread, the wake word says so, and other threads treat the loop as asleep: every event that
// would end the sleep makes the descriptor readable (Documentation/Decisions/0015-guest.md).

/// The descriptor that a host waits for, and the mode in which the loop waits.
///
/// Guarded by the loop's lock, unless a comment says otherwise.
final class Guest {
    let set: any GuestDescriptor
    /// The mode of the last run.
    @exclusivity(unchecked) var mode: ModeState

    // The loop's thread alone.
    /// The mode whose observers were called for the beginning of the wait, and not yet for its end.
    @exclusivity(unchecked) var waitObserved: ModeState?
    /// The number of waiting blocks when the loop last looked: any others were posted since then.
    @exclusivity(unchecked) var blocksSeen = 0
    /// Whether the main queue's work is done in the loop, and not in the host.
    @exclusivity(unchecked) var servesMainQueue = true
    /// The number of times that the mode of the next wait was set explicitly: a run that ends then keeps that mode.
    @exclusivity(unchecked) var modesSet = 0
    /// Whether the descriptor does not become readable until the next wait in the host.
    @exclusivity(unchecked) var isSilent = false

    init(_ set: any GuestDescriptor, in mode: ModeState) {
        self.set = set
        self.mode = mode
    }
}

extension RunLoop {
    // MARK: In the host, and back

    /// Makes the descriptor readable from now on while the loop has work in its mode.
    ///
    /// - Parameter isReady: Whether the loop has something to do already; `nil` to look whether blocks or signals wait.
    ///   A turn that has found nothing leaves work that was added since then without a wake-up to the next turn.
    func waitInHost(isReady: Bool? = nil) {
        guard let guest = state.guest else { return }
        leaveHost()
        let mode = guest.mode
        var isReady =
            isReady ?? (blocks.hasBlock(in: mode.mode, isCommon: mode.isCommon) || !mode.signals.isEmpty)
        if hasWakingBlock(mode) { isReady = true }
        guest.blocksSeen = blocks.waitingCount
        // Before the first look in the mode the kernel does not watch the main queue. If the kernel refuses the queue,
        // the next run says so.
        if guest.servesMainQueue, servesMainQueue(mode), !watchMainQueueInHost(mode) { isReady = true }
        if !guest.servesMainQueue { leaveMainQueueToHost(mode) }
        if state.dueList.hasRest { putListedBack() }
        withLock {
            state.sleep.mode = .passUnretained(mode)
            state.sleep.limit = mode.sleepLimit()
            if guest.isSilent { guest.set.speak() }
            guest.isSilent = false
            if !guest.set.link(mode.descriptors.readiness) { isReady = true }
            guest.set.set(state.sleep.limit)
            // With the lock held: a thread that adds a timer or a descriptor from now on finds the loop here.
            if state.wakeWord.enterHost() { isReady = true }
        }
        if isReady { state.kernel.wake(state.wakeWord, .inHost) }
    }

    /// The thread has returned from the host, or is about to enter it: from here on wake-ups count.
    ///
    /// A thread that enters the host comes from a callout, or has never run, and is awake: a wake-up between its last
    /// look at the blocks and the host would not be stored.
    func leaveHost() {
        guard let guest = state.guest else { return }
        switch state.wakeWord.phase {
        case .inHost:
            state.wakeWord.leaveHost()
            guest.set.awaken()
        case .awake:
            state.wakeWord.leaveHost()
        case .goingToSleep, .asleepOnWord, .asleepOnDescriptors:
            break
        }
    }

    /// Makes the descriptor not readable until the next wait in the host: the thread is about to sleep by itself, or to
    /// watch the main queue for a run of its own.
    ///
    /// A host may watch the descriptor from another thread meanwhile. It would repeatedly find the descriptor readable
    /// for work that this run serves.
    @inline(never)
    func silence(_ guest: Guest) {
        leaveHost()
        if guest.isSilent { return }
        guest.isSilent = true
        withLock { guest.set.silence() }
    }

    /// Called when the thread ends: closes the guest's descriptors.
    func endGuest() {
        guard let guest = state.guest else { return }
        withLock {
            state.guest = nil
            guest.set.close()
        }
    }
}

// Changes from any thread. With the lock held.
extension RunLoop.State {
    /// Called when a timer is added or removed, or its date is changed.
    @inline(never)
    func datesChangedInHost() {
        guard let guest, wakeWord.phase == .inHost else { return }
        let limit = guest.mode.sleepLimit()
        if limit == sleep.limit { return }
        sleep.limit = limit
        guest.set.set(limit)
    }

    /// Called when descriptors are added or removed: a host notices that by itself only if it waits for the right
    /// epoll.
    func descriptorsChangedInHost(_ mode: ModeState) {
        guard let guest else { return }
        if !guest.set.link(mode.descriptors.readiness) { kernel.wake(wakeWord, .inHost) }
        guest.set.set(sleep.limit)
    }
}
