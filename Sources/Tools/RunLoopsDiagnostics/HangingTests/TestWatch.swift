// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
package import RunLoops
internal import RunLoopsConcurrency
internal import RunLoopsLibC
internal import Synchronization

/// Watches the tests of this process, and reports those that do not end.
///
/// One thread waits until the first test passes its limit; while the tests end in time, it does nothing else. Only if a
/// test has a limit of idleness, the thread looks at the processor time of the process four times within that limit.
/// Nothing wakes the threads of tests, and nothing is recorded of loops and tasks before a test hangs.
// Unchecked: guarded by the lock, or the watching thread's.
package final class TestWatch: @unchecked Sendable {
    private static let watches = PerProcess { TestWatch() }
    /// The watch of this process; a forked child has a watch of its own, without tests.
    package static var shared: TestWatch { watches.own }

    /// For how long a test may take.
    package struct Limit: Sendable, Equatable {
        package var time: Duration
        package var idle: Duration?

        package init(time: Duration, idle: Duration? = nil) {
            self.time = time
            self.idle = idle
        }
    }

    /// One test under way.
    package final class Test: Sendable {
        let limit: Limit
        /// The name of the task that the test runs in.
        let task: String?
        /// The thread that the test runs on, if it runs on one.
        let thread: Int32?
        let handler: @Sendable (TestHang) -> Void
        let whenStuck: (@Sendable (String) -> Void)?
        /// Whether the test's own code goes on after the report.
        let isAcknowledged = Atomic<Bool>(false)

        init(
            _ limit: Limit, task: String?, thread: Int32?, whenStuck: (@Sendable (String) -> Void)?,
            handler: @escaping @Sendable (TestHang) -> Void
        ) {
            (self.limit, self.task, self.thread) = (limit, task, thread)
            (self.handler, self.whenStuck) = (handler, whenStuck)
        }

        /// Says that the code which the handler has resumed runs.
        package func acknowledge() { isAcknowledged.store(true, ordering: .relaxed) }
    }

    private struct Entry {
        let test: Test
        var patience: TestPatience
    }

    /// A reported test whose code has to go on.
    private struct Reported {
        let test: Test
        let deadline: Int64
        let report: String
    }

    /// How long the code that goes on after a report is waited for at least, in nanoseconds; a test that may take longer has its
    /// own time, because other tests may keep all threads busy for as long.
    private static let grace: Int64 = 10_000_000_000

    /// The futex that the thread sleeps on; its value is the number of wake-ups so far.
    private let word = Atomic<UInt32>(0)
    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var entries: [ObjectIdentifier: Entry] = [:]
    @exclusivity(unchecked) private var hasThread = false
    /// When the thread wakes up by itself.
    @exclusivity(unchecked) private var wanted: Int64 = .min
    @exclusivity(unchecked) private var loops: [WeakLoop] = []
    @exclusivity(unchecked) private var runners: @Sendable () -> [UInt64: Int32] = { [:] }
    // The watching thread's.
    @exclusivity(unchecked) private var reported: [Reported] = []

    private struct WeakLoop { weak var loop: RunLoop? }

    /// Watches a test until ``end(_:)``.
    ///
    /// - Parameters:
    ///   - limit: The limits of the test, from now on.
    ///   - task: The name of the test's task, which no other task should have.
    ///   - thread: The test's thread, for a test that stays on one.
    ///   - whenStuck: Called with the report, on the watching thread, if ``Test/acknowledge()`` is not called within ten
    ///     seconds after `handler`, or the time of the limit if that is longer; `nil` for a test that nothing goes on after.
    ///   - handler: Called on the watching thread if the test hangs; once at most, and not after ``end(_:)``.
    /// - Throws: if the system cannot create the watching thread for the first test.
    package func begin(
        _ limit: Limit, task: String? = nil, thread: Int32? = nil, whenStuck: (@Sendable (String) -> Void)? = nil,
        handler: @escaping @Sendable (TestHang) -> Void
    ) throws(RunLoop.SystemCallError) -> Test {
        try start()
        let test = Test(limit, task: task, thread: thread, whenStuck: whenStuck, handler: handler)
        let now = SystemCalls.now(.monotonic)
        let patience = TestPatience(
            began: now, time: limit.time.clampedNanoseconds, idle: limit.idle?.clampedNanoseconds)
        let next = patience.look(now: now, idleSince: nil).next
        let isEarlier = lock.withLock {
            entries[ObjectIdentifier(test)] = Entry(test: test, patience: patience)
            return next < wanted
        }
        if isEarlier { poke() }
        return test
    }

    /// Ends the watching of a test; returns whether the test had not been reported as hanging.
    @discardableResult
    package func end(_ test: Test) -> Bool {
        // The thread is not woken: at the old deadline it finds nothing.
        lock.withLock { entries.removeValue(forKey: ObjectIdentifier(test)) } != nil
    }

    /// Sets the function that returns which threads run tasks, by the tasks' ids.
    package func setRunners(_ runners: @escaping @Sendable () -> [UInt64: Int32]) {
        lock.withLock { self.runners = runners }
    }

    private func poke() {
        word.wrappingAdd(1, ordering: .releasing)
        withUnsafePointer(to: word) { _ = rl_futex_wake($0, 1) }
    }

    // MARK: The thread

    private func start() throws(RunLoop.SystemCallError) {
        lock.lock()
        defer { lock.unlock() }
        if hasThread { return }
        let code = rl_thread_start_detached(
            { _ in
                rl_become_helper("test watch")
                TestWatch.shared.run()
            }, nil)
        if code < 0 { throw RunLoop.SystemCallError(call: "pthread_create", code: -code) }
        hasThread = true
        TaskWaits.retain()
        NewLoops.add(self) { [weak self] loop in
            self?.lock.withLock {
                self?.loops.removeAll { $0.loop == nil }
                self?.loops.append(WeakLoop(loop: loop))
            }
        }
    }

    private func run() -> Never {
        var clock = StandstillClock()
        var idle = IdleClock()
        var (next, askedAt) = (Int64.max, SystemCalls.now(.monotonic))
        var seenBefore: UInt32 = 0
        while true {
            // acquiring: pairs with poke().
            let seen = word.load(ordering: .acquiring)
            let instants = Instants.now()
            // A wake-up that was asked for is not late.
            let standstill = clock.standstill(
                instants, wanted: seen == seenBefore ? next : instants.monotonic, askedAt: askedAt)
            seenBefore = seen
            let now = instants.monotonic
            idle.look(now: now, processor: Self.processorTime())
            let due = takeDue(now, standstill: standstill, idleSince: idle.since)
            if !due.isEmpty { report(due) }
            endStuck(now)
            askedAt = SystemCalls.now(.monotonic)
            next = lock.withLock {
                wanted = nextLook(askedAt, idleSince: idle.since)
                return wanted
            }
            // A change before the wait, or EINTR, only causes one more look.
            withUnsafePointer(to: word) { _ = rl_futex_wait($0, seen, next) }
        }
    }

    /// The processor time of the process without this thread, in nanoseconds.
    private static func processorTime() -> Int64 {
        func read(_ clock: clockid_t) -> Int64 {
            var time = timespec()
            clock_gettime(clock, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
        return read(CLOCK_PROCESS_CPUTIME_ID) - read(CLOCK_THREAD_CPUTIME_ID)
    }

    /// Removes the tests that hang, and returns them.
    private func takeDue(
        _ now: Int64, standstill: Int64, idleSince: Int64?
    ) -> [(test: Test, reason: TestHang.Reason)] {
        lock.withLock {
            var due: [(began: Int64, test: Test, reason: TestHang.Reason)] = []
            for (key, var entry) in entries {
                // A time in which the process was stopped is not the test's.
                entry.patience.began += standstill
                entries[key] = entry
                guard let reason = entry.patience.look(now: now, idleSince: idleSince).reason else { continue }
                due.append((entry.patience.began, entry.test, reason))
                entries[key] = nil
            }
            return due.sorted { $0.began < $1.began }.map { ($0.test, $0.reason) }
        }
    }

    /// Called with the lock held.
    private func nextLook(_ now: Int64, idleSince: Int64?) -> Int64 {
        let tests = entries.values.map { entry in
            let look = entry.patience.look(now: now, idleSince: idleSince)
            return look.reason == nil ? look.next : now
        }
        return (tests + reported.map(\.deadline)).min() ?? .max
    }

    private func report(_ due: [(test: Test, reason: TestHang.Reason)]) {
        let (known, runners) = lock.withLock { (loops.compactMap(\.loop), self.runners) }
        let process = StandingProcess(loops: known, runners: runners())
        let report = process.text
        for (index, (test, reason)) in due.enumerated() {
            let sentence = test.limit.sentence(reason)
            let lines = process.lines(task: test.task, thread: test.thread)
            let limit = reason == .idle ? test.limit.idle ?? .zero : test.limit.time
            test.handler(
                TestHang(
                    reason: reason, limit: limit, text: ([sentence] + lines).joined(separator: "\n"), report: report,
                    isRepeated: index > 0))
            if test.whenStuck != nil {
                let grace = max(Self.grace, test.limit.time.clampedNanoseconds)
                let deadline = SystemCalls.now(.monotonic).clampedAdding(grace)
                reported.append(Reported(test: test, deadline: deadline, report: report))
            }
        }
    }

    private func endStuck(_ now: Int64) {
        reported.removeAll { $0.test.isAcknowledged.load(ordering: .relaxed) }
        for one in reported where one.deadline <= now { one.test.whenStuck?(one.report) }
        reported.removeAll { $0.deadline <= now }
    }
}
