// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A loop inside another: its thread sleeps in the other loop, which waits for a descriptor of this one.
//
// While the host has the thread, the wake word says so, and other threads treat the loop as asleep: every event that
// would end the sleep makes the descriptor readable (Documentation/Decisions/0015-guest.md).

/// What the loop's thread alone knows of its host.
final class Guest {
    let set: any GuestDescriptor
    /// The mode of the last run; a copy is in ``GuardedState/hosted``.
    fileprivate(set) var mode: LoopMode

    /// The mode whose `beforeWaiting` observers were called and whose `afterWaiting` observers were not yet; `nil` if
    /// there is none.
    var waitObserved: LoopMode?
    /// Whether `prepareToPoll` asked the host to run the loop before it waits, and the host has not run it yet.
    var mustRun = false
    /// Whether the loop has run for that reason, and has called the observers of `beforeWaiting`.
    ///
    /// A run for another reason does not count: the host may have called its own callbacks since.
    var isReadyToWait = false
    /// The number of waiting blocks when the loop last looked: any others were posted since then.
    var blocksSeen = 0
    /// Whether the main queue's work is done in the loop, and not in the host.
    var servesMainQueue = true
    /// The number of times that the mode of the next wait was set explicitly; a run that ends keeps a mode that was set
    /// during the run.
    var modesSet = 0
    /// Whether ``RunLoop/silence(_:)`` keeps the descriptor from becoming readable until the next wait in the host.
    var isSilent = false

    init(_ set: any GuestDescriptor, in mode: LoopMode) {
        self.set = set
        self.mode = mode
    }
}

extension RunLoop {
    // MARK: In the host, and back

    /// Sets the mode in which the loop waits in its host.
    func setMode(_ mode: LoopMode, of guest: Guest) {
        guest.mode = mode
        // Not `hosted?.mode = mode` as the closure's only expression: Swift 6.3 without optimisation leaks the value then.
        withState { $0.hosted = HostedWait(set: guest.set, mode: mode) }
    }

    /// Makes the descriptor readable from now on while the loop has work in its mode.
    ///
    /// - Parameter isReady: Whether the loop has something to do already; `nil` to look whether blocks or signals wait.
    ///   After a turn that has found nothing, `false` leaves work that was added since then without a wake-up to the
    ///   next turn.
    func waitInHost(isReady: Bool? = nil) {
        guard let guest else { return }
        leaveHost()
        let mode = guest.mode
        var isReady =
            isReady ?? (blocks.hasBlock(in: mode.name, isCommon: mode.isCommon) || !mode.signals.isEmpty)
        if hasWakingBlock(mode) { isReady = true }
        guest.blocksSeen = blocks.waitingCount
        // Before the first look in the mode the kernel does not watch the main queue. If the kernel refuses the queue,
        // the next run says so.
        if guest.servesMainQueue, servesMainQueue(mode), !watchMainQueueInHost(mode) { isReady = true }
        if !guest.servesMainQueue { leaveMainQueueToHost(mode) }
        if withState({ $0.dueList.hasRest }) { putListedBack() }
        withState { state in
            state.sleep = Sleep(mode: mode.number, limit: state.sleepLimit(in: mode.number))
            if guest.isSilent { guest.set.speak() }
            guest.isSilent = false
            if !guest.set.link(mode.readiness) { isReady = true }
            guest.set.set(state.sleep.limit)
            // The lock is still held, so that a thread that adds a timer or a descriptor from now on finds the loop in
            // its host.
            if core.wakeWord.enterHost() { isReady = true }
        }
        if isReady { core.kernel.wake(core.wakeWord, .inHost) }
    }

    /// Makes wake-ups count from here on; called when the thread has returned from the host, or is about to enter it.
    ///
    /// A thread that is about to enter the host is awake, because it comes from a callout or has never run. Without
    /// this call, a wake-up between its last look at the blocks and the host would not be stored.
    func leaveHost() {
        guard let guest else { return }
        switch core.wakeWord.phase {
        case .inHost:
            core.wakeWord.leaveHost()
            guest.set.awaken()
        case .awake:
            core.wakeWord.leaveHost()
        case .goingToSleep, .asleepOnWord, .asleepOnDescriptors:
            break
        }
    }

    /// Keeps the descriptor from becoming readable until the next wait in the host; called when the thread is about to
    /// sleep in a run, or to watch the main queue for a run.
    ///
    /// During that time a host on another thread may still watch the descriptor. It would repeatedly find the
    /// descriptor readable for work that the run serves.
    @inline(never)
    func silence(_ guest: Guest) {
        leaveHost()
        if guest.isSilent { return }
        guest.isSilent = true
        withState { _ in guest.set.silence() }
    }

    /// Called when the thread ends: closes the guest's descriptors.
    func endGuest() {
        guard let guest else { return }
        self.guest = nil
        withState {
            $0.hosted = nil
            guest.set.close()
        }
    }
}

// Changes from any thread.
extension GuardedState {
    /// Makes the descriptor readable at the new limit, when a timer was added or removed, or its date was changed.
    @inline(never)
    mutating func datesChangedInHost() {
        guard let hosted, core.wakeWord.phase == .inHost else { return }
        let limit = sleepLimit(in: hosted.mode.number)
        if limit == sleep.limit { return }
        sleep.limit = limit
        hosted.set.set(limit)
    }

    /// Links the guest's descriptor to the epoll of the mode, if that is another one now; called when descriptors were
    /// added or removed.
    ///
    /// The host would not notice changes in an epoll that is not linked.
    func descriptorsChangedInHost(_ mode: Int) {
        guard let hosted else { return }
        if !hosted.set.link(modes[mode].mode.readiness) { core.kernel.wake(core.wakeWord, .inHost) }
        hosted.set.set(sleep.limit)
    }
}
