// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoopsLibC

/// The kernel of Linux: in a mode without descriptors a thread sleeps on a futex, in a mode with descriptors in an
/// epoll.
final class EpollKernel: GuestKernel, @unchecked Sendable {
    let waker: EpollWaker

    init(calls: any KernelCalls = LinuxCalls.shared, fineWait: FineWait = .nanosecondCall) {
        waker = EpollWaker(calls: calls, fineWait: fineWait)
    }

    func now(_ clock: RunLoop.ClockID) -> Int64 { SystemCalls.now(clock) }

    func makeReadiness() -> any Readiness { EpollReadiness(waker: waker) }

    func wake(_ word: borrowing WakeWord, _ phase: WakeWord.Phase) { waker.wake(word, phase) }

    func makeGuest() throws(RunLoop.SystemCallError) -> any GuestDescriptor { try EpollGuest(waker: waker) }
}

/// An epoll that contains everything a loop waits for: the epoll of a mode, a timer descriptor for each clock, and the
/// descriptor that wake-ups write to.
///
/// The host could not wait for the mode's own epoll: that epoll is made late, is replaced when a closed descriptor is
/// stuck in it, and differs between modes. The host needs one number that never changes.
final class EpollGuest: GuestDescriptor {
    private enum Source {
        static let wake: UInt64 = 0
        static let mode: UInt64 = 1
        static let timer: UInt64 = 2
    }

    /// The epoll events of the wake-up descriptor that wake the host while the loop waits in it.
    private static var wakeBits: UInt32 { RL_EPOLLIN | RL_EPOLLET }

    let descriptor: CInt
    private let wake: CInt
    private let waker: EpollWaker
    private let calls: any KernelCalls
    /// The timer descriptors, one for each clock, in the order of the clocks.
    ///
    /// They are level-triggered and never read: setting a timer again ends its readiness.
    @exclusivity(unchecked) private var timers: [(clock: RunLoop.ClockID, descriptor: CInt, deadline: Int64)] = []
    /// The mode's epoll that is linked, with the count that tells it from earlier epolls of the same descriptor number.
    @exclusivity(unchecked) private var linked = EpollReadiness.Identity.none
    /// Whether the mode's epoll could not be linked, because the system has refused it or the epoll is stale.
    ///
    /// Every later call of ``link(_:)`` tries again.
    @exclusivity(unchecked) private var isBlind = false
    @exclusivity(unchecked) private var isClosed = false

    init(waker: EpollWaker) throws(RunLoop.SystemCallError) {
        self.waker = waker
        calls = waker.calls
        wake = try waker.makeWakeDescriptor()
        descriptor = try waker.open("epoll_create1", calls.epollCreate())
        do {
            // Edge-triggered, so that the descriptor need not be read: an edge is reported once, by the epoll_wait in
            // awaken().
            try check("epoll_ctl", calls.epollAdd(descriptor, wake, events: Self.wakeBits, token: Source.wake))
            for clock in RunLoop.ClockID.allCases { try makeTimer(clock) }
        } catch {
            close()
            throw error
        }
    }

    deinit { close() }

    private func makeTimer(_ clock: RunLoop.ClockID) throws(RunLoop.SystemCallError) {
        let timer = try waker.open("timerfd_create", calls.timerCreate(clock))
        timers.append((clock, timer, .max))
        let token = Source.timer + UInt64(clock.rawValue)
        try check("epoll_ctl", calls.epollAdd(descriptor, timer, events: RL_EPOLLIN, token: token))
    }

    func close() {
        if isClosed { return }
        isClosed = true
        for timer in timers { waker.close(timer.descriptor) }
        timers = []
        waker.close(descriptor)
    }

    // MARK: What the descriptor stands for

    func set(_ limit: WaitLimit) {
        var limit = limit
        if isBlind {
            // The host looks every millisecond, at a price, so that nothing is missed; a sleep does the same if the
            // system has no descriptors left.
            limit.monotonic = min(limit.monotonic, SystemCalls.now(.monotonic).clampedAdding(1_000_000))
        }
        for index in timers.indices { setTimer(&timers[index], to: limit[timers[index].clock]) }
    }

    private func setTimer(
        _ timer: inout (clock: RunLoop.ClockID, descriptor: CInt, deadline: Int64), to deadline: Int64
    ) {
        // A timer that has gone off stays readable until it is set again. A change of the wall clock may make the
        // realtime timer go off before its date, so that timer is always set.
        let unchanged = timer.deadline == deadline
        if unchanged, deadline == .max { return }
        if unchanged, timer.clock != .realtime, deadline > SystemCalls.now(timer.clock) { return }
        timer.deadline = deadline
        // Only EINVAL is possible, for a descriptor that is no timer: it was closed, and its number is another file's.
        _ = calls.timerSet(timer.descriptor, deadline: deadline, cancelOnSet: timer.clock == .realtime)
    }

    func silence() {
        relink(.none, false)
        for index in timers.indices { setTimer(&timers[index], to: .max) }
        // The descriptor stays in the epoll, because the system could refuse to add it again.
        _ = calls.epollModify(descriptor, wake, events: 0, token: Source.wake)
    }

    func speak() {
        // The wake-up descriptor is emptied first. Otherwise the epoll_ctl below would report what was written to it
        // earlier as a new edge, and the guest's descriptor would be readable until this thread takes the edge: a host
        // that watches from another thread would be called for nothing. No wake-up is lost: the writer has changed the
        // wake word before, and the loop checks that word when it enters its host.
        _ = calls.eventTake(wake)
        _ = calls.epollModify(descriptor, wake, events: Self.wakeBits, token: Source.wake)
    }

    func link(_ readiness: any Readiness) -> Bool {
        guard let readiness = readiness as? EpollReadiness else { return false }
        let (identity, isAlwaysReady, isStale) = readiness.identity
        if identity != linked || isStale { relink(identity, isStale) }
        return !isAlwaysReady
    }

    private func relink(_ identity: EpollReadiness.Identity, _ isStale: Bool) {
        // EBADF, ENOENT: it was closed, and has left the set by itself.
        if linked.epoll >= 0 { _ = calls.epollRemove(descriptor, linked.epoll) }
        isBlind = false
        linked = identity
        guard identity.epoll >= 0 else { return }
        // ENOMEM, ENOSPC: out of memory or watches. ELOOP: too many epolls inside each other.
        if isStale || calls.epollAdd(descriptor, identity.epoll, events: RL_EPOLLIN, token: Source.mode) < 0 {
            isBlind = true
            linked = .none
        }
    }

    // MARK: Being woken

    func awaken() {
        // Takes the edge of a wake-up. Whatever else is ready stays ready, and the loop finds it when it looks.
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 8) { events in
            _ = calls.epollWait(descriptor, events.baseAddress.unsafelyUnwrapped, 8, milliseconds: 0)
        }
    }
}
