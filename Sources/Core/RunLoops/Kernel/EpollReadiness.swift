// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoopsLibC
internal import Synchronization

/// The set of descriptors of one mode; it makes its epoll for the first descriptor.
///
/// A thread that waits for a set without descriptors sleeps on a futex.
final class EpollReadiness: Readiness {
    /// The maximum number of events that one call fetches.
    ///
    /// The next call fetches the rest, so that none is lost.
    private static let batch = 64

    /// The tokens of this package's own descriptors; they are greater than all tokens of sources.
    private enum OwnToken {
        static let wake = UInt64.max
        static let timer = UInt64.max - 1
        static let boottime = UInt64.max - 2
        static let realtime = UInt64.max - 3
    }

    private struct Registration {
        let events: UInt32
        let token: UInt64
    }

    /// A descriptor that epoll refuses because its file is always ready; `file` shows whether the number still means
    /// that file.
    private struct AlwaysReady {
        let file: FileIdentity
        var ready: ReadyDescriptor

        init(_ file: FileIdentity, _ events: RunLoop.DescriptorEvents, _ token: UInt64) {
            self.file = file
            ready = ReadyDescriptor(token: token, events: events.intersection([.readable, .writable]))
        }
    }

    private let waker: EpollWaker
    private let calls: any KernelCalls
    /// Whether fields that the lock guards have changed since the loop's thread read them; the thread takes the lock
    /// only then.
    private let hasNews = Atomic<Bool>(false)
    /// The copy that the loop's thread has made of `epoll`, and of whether there are any always ready descriptors.
    // Unchecked, here and below, where each wait or look uses the field: the checks cost an event a fifth
    // (Documentation/Decisions/0010-what-things-cost.md).
    @exclusivity(unchecked) private var seen: (epoll: CInt, hasAlwaysReady: Bool) = (-1, false)
    @exclusivity(unchecked) private var epoll: CInt = -1
    /// The number of epolls that the set has made so far; it tells an epoll from an earlier one whose descriptor had
    /// the same number.
    @exclusivity(unchecked) private var epollsMade = 0
    /// The buffer for fetched events; used by the loop's thread alone.
    @exclusivity(unchecked) private var events: UnsafeMutablePointer<epoll_event>?
    /// Whether a timer descriptor ends the present wait at the limit of the monotonic clock.
    ///
    /// This field and the next are used by the loop's thread alone.
    @exclusivity(unchecked) private var hasFineTimer = false
    /// The loop's thread's copy of `isStale`.
    @exclusivity(unchecked) private var isSleepless = false
    /// Guards the fields below, because other threads add and remove descriptors while the loop's thread waits.
    ///
    /// A thread may take this lock while it holds the loop's lock, and does not hold it during a wait.
    private let lock = Lock()
    /// Epolls that were replaced while a thread may have been about to wait for them; the next wait closes them.
    @exclusivity(unchecked) private var retired: [CInt] = []
    /// Whether the epoll reports a file that no descriptor names any more, and could not be replaced yet.
    @exclusivity(unchecked) private var isStale = false
    /// The user's registrations: needed to decide whether the epoll can be kept, and to build it anew.
    @exclusivity(unchecked) private var registered: [CInt: Registration] = [:]
    /// Descriptors that epoll refuses because they are always ready, as regular files are.
    @exclusivity(unchecked) private var alwaysReady: [CInt: AlwaysReady] = [:]
    /// Timer descriptors with their dates: the fallback for fine waits, and for the clocks that epoll cannot wait for.
    @exclusivity(unchecked) private var timers: [(clock: RunLoop.ClockID, descriptor: CInt, deadline: Int64)] = []

    init(waker: EpollWaker) {
        self.waker = waker
        calls = waker.calls
    }

    deinit { close() }

    func close() {
        for timer in timers { waker.close(timer.descriptor) }
        timers = []
        if epoll >= 0 { waker.close(epoll) }
        epoll = -1
        closeRetired()
        registered = [:]
        alwaysReady = [:]
        events?.deallocate()
        events = nil
    }

    private func closeRetired() {
        for old in retired { waker.close(old) }
        retired = []
    }

    // MARK: Descriptors

    func register(
        _ descriptor: CInt, for events: RunLoop.DescriptorEvents, token: UInt64
    ) throws(RunLoop.SystemCallError) {
        lock.lock()
        defer { lock.unlock() }
        try makeEpoll()
        // Other code has closed a descriptor of the program, or one of the loop, and the kernel has given the number away
        // again. The kernel's EINVAL, EEXIST and ELOOP name nothing, and it would accept a timer descriptor of the loop.
        if waker.isOwn(descriptor) {
            throw RunLoop.SystemCallError(
                call: "epoll_ctl", code: EINVAL,
                subject: "of descriptor \(descriptor), which belongs to the loop itself")
        }
        let result = calls.epollAdd(epoll, descriptor, events: Self.bits(events), token: token)
        if result == -EPERM {
            // Regular files and directories: poll(2) reports them as always ready, and so does this class.
            var file = FileIdentity()
            try check("fstat", calls.identify(descriptor, &file))
            alwaysReady[descriptor] = AlwaysReady(file, events, token)
            noteNews()
            return
        }
        try check("epoll_ctl", result)
        registered[descriptor] = Registration(events: Self.bits(events), token: token)
    }

    func reserve() throws(RunLoop.SystemCallError) {
        lock.lock()
        defer { lock.unlock() }
        try makeEpoll()
    }

    func modify(
        _ descriptor: CInt, for events: RunLoop.DescriptorEvents, token: UInt64
    ) throws(RunLoop.SystemCallError) {
        lock.lock()
        defer { lock.unlock() }
        if let always = findAlwaysReady(descriptor) {
            alwaysReady[descriptor] = AlwaysReady(always.file, events, token)
            return
        }
        let result = calls.epollModify(epoll, descriptor, events: Self.bits(events), token: token)
        // EPERM: the number belongs to a regular file now, which was never added to the epoll.
        try check("epoll_ctl", result == -EPERM ? -ENOENT : result)
        registered[descriptor] = Registration(events: Self.bits(events), token: token)
    }

    func unregister(_ descriptor: CInt) {
        lock.lock()
        defer { lock.unlock() }
        if alwaysReady.removeValue(forKey: descriptor) != nil { return noteNews() }
        guard registered.removeValue(forKey: descriptor) != nil else { return }
        let result = calls.epollRemove(epoll, descriptor)
        // EBADF, ENOENT, EPERM: the descriptor was closed before it was removed, and the number may be another file's.
        // Epoll forgets a closed descriptor without a call, unless a duplicate keeps the open file alive: then epoll
        // would go on reporting the file, although no number leads to its entry any more. Only a new epoll helps.
        if result == -EBADF || result == -ENOENT || result == -EPERM {
            isStale = true
            rebuild()
        }
    }

    func isWatching(_ descriptor: CInt) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        if alwaysReady[descriptor] != nil { return findAlwaysReady(descriptor) != nil }
        guard let entry = registered[descriptor] else { return false }
        // The call changes nothing. EBADF: closed. ENOENT, EPERM: the number is another file's.
        return calls.epollModify(epoll, descriptor, events: entry.events, token: entry.token) >= 0
    }

    func confirm(_ descriptor: CInt) -> RunLoop.DescriptorEvents {
        lock.lock()
        defer { lock.unlock() }
        if let always = findAlwaysReady(descriptor) { return always.ready.events }
        guard let entry = registered[descriptor] else { return [] }
        // The events of poll(2) have the numbers of epoll's.
        let result = calls.poll(descriptor, events: Int16(truncatingIfNeeded: entry.events & 0xFFFF))
        // EINTR and a closed descriptor: not ready now. If it is ready after all, the kernel will say so.
        return result > 0 ? Self.events(UInt32(result)) : []
    }

    /// Returns the entry of an always ready descriptor; removes the entry if the descriptor was closed or its number is
    /// another file's.
    private func findAlwaysReady(_ descriptor: CInt) -> AlwaysReady? {
        guard let always = alwaysReady[descriptor] else { return nil }
        var file = FileIdentity()
        if calls.identify(descriptor, &file) == 0, file == always.file { return always }
        alwaysReady[descriptor] = nil
        noteNews()
        return nil
    }

    private func makeEpoll() throws(RunLoop.SystemCallError) {
        if epoll >= 0 { return }
        let wake = try waker.makeWakeDescriptor()
        let made = try waker.open("epoll_create1", calls.epollCreate())
        let result = calls.epollAdd(
            made, wake, events: RL_EPOLLIN | RL_EPOLLET,
            token: OwnToken.wake)
        if result < 0 {
            waker.close(made)
            throw RunLoop.SystemCallError(call: "epoll_ctl", code: -result)
        }
        epoll = made
        epollsMade += 1
        noteNews()
    }

    /// Tells the loop's thread that fields which the lock guards have changed, so that it reads them again.
    ///
    /// Called with the lock held.
    private func noteNews() {
        // releasing: pairs with the load in wait; the lock hands over everything else.
        hasNews.store(true, ordering: .releasing)
    }

    /// Identifies the epoll that the set has at present.
    struct Identity: Equatable {
        static let none = Identity(epoll: -1, number: 0)
        let epoll: CInt
        let number: Int
    }

    /// The epoll, for a host that waits for it in place of this class, and whether something is ready that the epoll
    /// does not show.
    ///
    /// A stale epoll would keep the host awake, so the host does not wait for it, and the loop's descriptor becomes
    /// readable every millisecond instead.
    var identity: (Identity, isAlwaysReady: Bool, isStale: Bool) {
        lock.lock()
        defer { lock.unlock() }
        let isAlwaysReady = alwaysReady.values.contains { !$0.ready.events.isEmpty }
        return (epoll < 0 ? .none : Identity(epoll: epoll, number: epollsMade), isAlwaysReady, isStale)
    }

    /// Makes a new epoll with what is registered, and nothing else.
    private func rebuild() {
        let old = epoll
        epoll = -1
        do {
            try makeEpoll()
        } catch {
            // Out of descriptors: the old epoll goes on working. The next wait tries again.
            epoll = old
            noteNews()
            return
        }
        isStale = false
        for (descriptor, entry) in registered {
            // A failure means that this descriptor was closed as well; its own removal will notice.
            _ = calls.epollAdd(epoll, descriptor, events: entry.events, token: entry.token)
        }
        for timer in timers {
            _ = calls.epollAdd(
                epoll, timer.descriptor, events: RL_EPOLLIN | RL_EPOLLET, token: Self.token(of: timer.clock))
        }
        retired.append(old)
        noteNews()
    }

    // MARK: Waiting. The loop's thread.

    func look(into ready: inout [ReadyDescriptor]) {
        if hasNews.load(ordering: .acquiring) { takeNews() }
        if seen.hasAlwaysReady { appendAlwaysReady(to: &ready) }
        if seen.epoll >= 0 { look(seen.epoll, into: &ready) }
    }

    func wait(_ word: borrowing WakeWord, until limit: WaitLimit, into ready: inout [ReadyDescriptor]) {
        if hasNews.load(ordering: .acquiring) { takeNews() }
        if seen.hasAlwaysReady { appendAlwaysReady(to: &ready) }
        if !ready.isEmpty {
            look(seen.epoll, into: &ready)
        } else if seen.epoll < 0, limit.boottime == .max, limit.realtime == .max {
            sleepOnWord(word, until: limit.monotonic)
        } else if isSleepless {
            sleepBesideEpoll(word, until: limit, into: &ready)
        } else {
            sleepOnEpoll(word, until: limit, into: &ready)
        }
    }

    private func takeNews() {
        lock.lock()
        defer { lock.unlock() }
        hasNews.store(false, ordering: .relaxed)
        closeRetired()
        if isStale { rebuild() }
        seen = (epoll, !alwaysReady.isEmpty)
        isSleepless = isStale
    }

    private func appendAlwaysReady(to ready: inout [ReadyDescriptor]) {
        lock.lock()
        defer { lock.unlock() }
        for (descriptor, always) in alwaysReady where !always.ready.events.isEmpty {
            if let found = findAlwaysReady(descriptor) { ready.append(found.ready) }
        }
    }

    private func look(_ epoll: CInt, into ready: inout [ReadyDescriptor]) {
        fetch(calls.epollWait(epoll, buffer, CInt(Self.batch), milliseconds: 0), into: &ready)
    }

    private func sleepOnWord(_ word: borrowing WakeWord, until deadline: Int64) {
        guard let expected = word.fallAsleep(.asleepOnWord) else { return }
        if deadline != .max { waker.prepareTimedWait() }
        // A change of the word (0, or EAGAIN when it came first), the deadline (ETIMEDOUT) or a signal (EINTR) ends the
        // wait; the loop then looks in any case.
        _ = calls.futexWait(word.address, expected: expected, until: deadline)
    }

    private func sleepOnEpoll(
        _ word: borrowing WakeWord, until limit: WaitLimit, into ready: inout [ReadyDescriptor]
    ) {
        var limit = limit
        guard let epoll = prepareToSleep(until: &limit) else { return sleepOnWord(word, until: limit.monotonic) }
        guard word.fallAsleep(.asleepOnDescriptors) != nil else { return look(epoll, into: &ready) }
        fetch(epollWait(epoll, until: limit.monotonic), into: &ready)
    }

    /// Waits without the epoll, which is stale and would report something at once: sleeps for 10 ms at most, then
    /// fetches the epoll's events.
    private func sleepBesideEpoll(
        _ word: borrowing WakeWord, until limit: WaitLimit, into ready: inout [ReadyDescriptor]
    ) {
        var deadline = min(limit.monotonic, SystemCalls.now(.monotonic) + 10_000_000)
        for clock in [RunLoop.ClockID.boottime, .realtime] {
            deadline = min(deadline, Self.standIn(for: clock, limit[clock]))
        }
        sleepOnWord(word, until: deadline)
        look(seen.epoll, into: &ready)
    }

    /// Returns the epoll to wait for, with its timer descriptors set; `nil` if the set has none and the system refuses
    /// one.
    ///
    /// If the system refuses the timer descriptor of a clock (`EMFILE`, `ENFILE`, `ENOMEM`, `ENOSPC`), the limit of the
    /// monotonic clock is shortened instead, so that descriptors are still served.
    private func prepareToSleep(until limit: inout WaitLimit) -> CInt? {
        // Only this thread makes timer descriptors, so it may look whether there are any.
        if seen.epoll >= 0, timers.isEmpty, waker.fineWait == .nanosecondCall,
            limit.boottime == .max, limit.realtime == .max
        {
            return seen.epoll
        }
        lock.lock()
        defer { lock.unlock() }
        let hasEpoll = (try? makeEpoll()) != nil
        for clock in [RunLoop.ClockID.boottime, .realtime]
        where !hasEpoll || (try? setClock(clock, to: limit[clock])) == nil {
            limit.monotonic = min(limit.monotonic, Self.standIn(for: clock, limit[clock]))
        }
        guard hasEpoll else { return nil }
        hasFineTimer = waker.fineWait == .timerDescriptor && (try? setClock(.monotonic, to: limit.monotonic)) != nil
        return epoll
    }

    /// The instant at which a thread has to read a clock that cannot wake it.
    ///
    /// The clock may be set, or the system suspended, at any time, so the thread looks at it ten times a second. It then
    /// asks for a timer descriptor again.
    private static func standIn(for clock: RunLoop.ClockID, _ deadline: Int64) -> Int64 {
        if deadline == .max { return .max }
        let left = min(max(0, deadline.clampedSubtracting(SystemCalls.now(clock))), 100_000_000)
        return SystemCalls.now(.monotonic) + left
    }

    private func epollWait(_ epoll: CInt, until deadline: Int64) -> CInt {
        if hasFineTimer || deadline == .max {
            return calls.epollWait(epoll, buffer, CInt(Self.batch), milliseconds: -1)
        }
        waker.prepareTimedWait()
        let timeout = max(0, deadline - SystemCalls.now(.monotonic))
        if waker.fineWait == .timerDescriptor {
            // Without a descriptor for the timer: rounded up, so that the wait is late rather than too short.
            let milliseconds = CInt(clamping: (timeout + 999_999) / 1_000_000)
            return calls.epollWait(epoll, buffer, CInt(Self.batch), milliseconds: milliseconds)
        }
        let result = calls.epollWait(epoll, buffer, CInt(Self.batch), nanoseconds: timeout)
        // ENOSYS: a kernel before 5.11. EPERM: a seccomp filter older than the call. Both are permanent. The loop finds
        // nothing ready and waits again, then with the descriptor.
        if result == -ENOSYS || result == -EPERM { waker.fineWait = .timerDescriptor }
        return result
    }

    /// Sets the timer descriptor of `clock`, which the first call makes.
    ///
    /// The descriptor is edge-triggered and never read: setting the timer again ends its readiness.
    private func setClock(_ clock: RunLoop.ClockID, to deadline: Int64) throws(RunLoop.SystemCallError) {
        let index: Int
        if let found = timers.firstIndex(where: { $0.clock == clock }) {
            index = found
        } else {
            if deadline == .max { return }
            let descriptor = try waker.open("timerfd_create", calls.timerCreate(clock))
            let added = calls.epollAdd(
                epoll, descriptor, events: RL_EPOLLIN | RL_EPOLLET, token: Self.token(of: clock))
            if added < 0 {
                waker.close(descriptor)
                throw RunLoop.SystemCallError(call: "epoll_ctl", code: -added)
            }
            index = timers.count
            timers.append((clock, descriptor, .max))
        }
        // A timer that has gone off has to be set again even to the same instant; a timer in the future need not be.
        // The wall clock may have been changed in between, so the realtime timer is always set.
        let unchanged = timers[index].deadline == deadline
        if unchanged, deadline == .max { return }
        if unchanged, clock != .realtime, deadline > SystemCalls.now(clock) { return }
        try check(
            "timerfd_settime",
            calls.timerSet(timers[index].descriptor, deadline: deadline, cancelOnSet: clock == .realtime))
        // Not before: a date that was not set must be set by the next wait.
        timers[index].deadline = deadline
    }

    private func fetch(_ count: CInt, into ready: inout [ReadyDescriptor]) {
        // Negative: EINTR (a signal handler ran, the loop looks again), ENOSYS (above).
        guard count > 0 else { return }
        let buffer = buffer
        for index in 0..<Int(count) {
            let token = rl_epoll_token(buffer + index)
            if token >= OwnToken.realtime || isSleepless && !isRegistered(token) { continue }
            ready.append(ReadyDescriptor(token: token, events: Self.events(buffer[index].events)))
        }
    }

    /// Whether a source is still registered with this token.
    ///
    /// A stale epoll also reports files whose registered descriptors were closed. The check is in a function of its
    /// own, so that a wait whose epoll is not stale only tests a flag.
    /// - Complexity: O(n) in the descriptors of the set.
    private func isRegistered(_ token: UInt64) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        return registered.values.contains { $0.token == token }
    }

    private var buffer: UnsafeMutablePointer<epoll_event> {
        if let events { return events }
        let made = UnsafeMutablePointer<epoll_event>.allocate(capacity: Self.batch)
        events = made
        return made
    }

    // MARK: Bits

    private static func token(of clock: RunLoop.ClockID) -> UInt64 {
        switch clock {
        case .monotonic: OwnToken.timer
        case .boottime: OwnToken.boottime
        case .realtime: OwnToken.realtime
        }
    }

    private static func bits(_ events: RunLoop.DescriptorEvents) -> UInt32 {
        var bits: UInt32 = 0
        // The end of the peer's stream counts as readable, as with poll; RDHUP distinguishes it from data.
        if events.contains(.readable) { bits |= RL_EPOLLIN | RL_EPOLLRDHUP }
        if events.contains(.writable) { bits |= RL_EPOLLOUT }
        if events.contains(.priority) { bits |= RL_EPOLLPRI }
        // EPOLLHUP comes unasked, and of a socket only when both directions have ended.
        if events.contains(.hangUp) { bits |= RL_EPOLLRDHUP }
        return bits
    }

    private static func events(_ bits: UInt32) -> RunLoop.DescriptorEvents {
        var events: RunLoop.DescriptorEvents = []
        if bits & RL_EPOLLIN != 0 { events.insert(.readable) }
        if bits & RL_EPOLLOUT != 0 { events.insert(.writable) }
        if bits & RL_EPOLLPRI != 0 { events.insert(.priority) }
        if bits & RL_EPOLLERR != 0 { events.insert(.error) }
        if bits & (RL_EPOLLHUP | RL_EPOLLRDHUP) != 0 { events.insert(.hangUp) }
        return events
    }
}
