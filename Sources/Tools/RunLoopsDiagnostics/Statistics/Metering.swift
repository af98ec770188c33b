// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Counts the activity of loops, for metrics and for programs that observe themselves.
    ///
    /// A loop counts on its own thread. Counting needs no timer, and wakes no sleeping loop. Any thread can read the
    /// counts at any time, also while a callout hangs:
    ///
    /// ```swift
    /// let metering = RunLoop.Metering()
    /// metering.add(RunLoop.current)
    /// …
    /// for loop in metering.readings() { print(loop.loop, loop.statistics.turns, loop.statistics.busyShare) }
    /// ```
    ///
    /// For regular reports, give a reporter and an interval. A loop's reporter is called when the loop is about to
    /// sleep, at most once per interval. A loop that sleeps for an hour reports nothing in that hour, unless
    /// ``report()`` is called.
    ///
    /// Thread safety: all members may be used by any thread, except where they say otherwise.
    public final class Metering: Sendable {
        /// Makes the reporter of one loop; called when the loop is added.
        public typealias ReporterMaker = @Sendable (Identity) -> @Sendable (Report) -> Void

        private let subscription: Subscription<MeteredLoop>

        /// Makes a metering that counts and never reports: call ``readings()`` for the counts.
        public init() {
            subscription = Subscription { MeteredLoop($0, $1, every: .max, nil) }
        }

        /// Makes a metering that counts and reports.
        ///
        /// - Parameters:
        ///   - interval: The shortest time between two reports of one loop; `nil` to report only when ``report()`` is
        ///     called.
        ///   - reporter: Called once for each loop; the closure that it returns is called with each report of that
        ///     loop. The loop's thread calls it when the interval has passed and the loop is about to sleep or its
        ///     outermost run has ended; the loop waits until the call returns. A thread that calls ``report()`` or
        ///     ``stop()`` calls it too. After the end of the loop's thread, the next addition of a loop, or the next
        ///     call of ``report()`` or ``readings()``, calls it a last time. It is called with no lock held.
        ///
        /// - Precondition: the interval is positive.
        public init(every interval: Duration?, reporter: @escaping ReporterMaker) {
            precondition(
                interval.map { $0 > .zero } ?? true,
                "A report was asked for at every instant: give a positive interval.")
            let nanoseconds = interval?.clampedNanoseconds ?? .max
            subscription = Subscription(
                whenOver: { $0.report() }, make: { MeteredLoop($0, $1, every: nanoseconds, reporter) })
        }

        deinit { stop() }

        /// Counts the activity of a loop from now on.
        ///
        /// Returns whether the loop is counted. It is not counted after ``stop()``, or while a `TraceRecorder` traces
        /// it. Adding a loop twice is the same as adding it once.
        ///
        /// - Precondition: called on the loop's own thread.
        @discardableResult
        public func add(_ loop: RunLoop) -> Bool { subscription.add(loop) }

        /// Adds every loop that is made from now on.
        public func addNewLoops() { subscription.addNewLoops() }

        /// Returns the counts so far of each loop whose thread has not ended.
        ///
        /// - Complexity: O(n) in the loops; for each loop some hundred words are copied.
        public func readings() -> [Report] {
            subscription.present.map { $0.subscriber.reading(isReport: false) }
        }

        /// Calls every loop's reporter, on the calling thread.
        ///
        /// Call this, for example, when a client requests metrics from the program.
        public func report() {
            for member in subscription.present { member.subscriber.report() }
        }

        /// Ends the counting, and calls each loop's reporter a last time.
        ///
        /// A second call does nothing. The release of the metering stops it too.
        public func stop() {
            for loop in subscription.stop() { loop.report() }
        }
    }
}

extension RunLoop.Metering {
    /// The counts of one loop, as ``Metering`` reports them.
    ///
    /// Thread safety: a value; any thread.
    public struct Report: Sendable {
        /// The loop.
        public var loop: RunLoop.Identity
        /// The counts since the loop was added, including the present sleep or time awake.
        public var statistics: RunLoop.Statistics
        /// The counts since the last report.
        public var change: RunLoop.Statistics
        /// Whether the loop was asleep when the report was made.
        public var isAsleep: Bool
        /// The number of posted blocks of other threads and of signalled sources that waited for the loop when the report
        /// was made.
        public var pending: Int
    }
}

/// Counts the activity of one loop, and reports it when the loop is awake.
// Unchecked: what is not guarded by the lock belongs to the loop's thread, or never changes.
final class MeteredLoop: LoopSubscriber, @unchecked Sendable {
    private let identity: RunLoop.Identity
    private let meter: LoopMeter
    /// Weak, so that counting does not keep the loop after its thread has ended.
    private weak let loop: RunLoop?
    /// The shortest time between two reports in nanoseconds; `max` to report only when ``RunLoop/Metering/report()`` is
    /// called.
    private let interval: Int64
    private let reporter: (@Sendable (RunLoop.Metering.Report) -> Void)?

    // The loop's thread.
    @exclusivity(unchecked) private var nextReport: Int64

    private let reported = Guarded(RunLoop.Statistics())

    init(
        _ loop: RunLoop, _ state: LoopState, every interval: Int64, _ makeReporter: RunLoop.Metering.ReporterMaker?
    ) {
        identity = RunLoop.Identity(thread: loop.threadID)
        meter = LoopMeter(state)
        self.loop = loop
        self.interval = interval
        reporter = makeReporter?(identity)
        nextReport = interval == .max ? .max : state.now.addingReportingOverflow(interval).partialValue
    }

    func hear(_ event: LoopEvent, at time: Int64, depth: UInt16) {
        meter.hear(event, at: time, depth: depth)
        switch event {
        case .sleeps: if time >= nextReport { reportInTime(time) }
        case .runEnds: if time >= nextReport, depth <= 1 { reportInTime(time) }
        default: break
        }
    }

    @inline(never)
    private func reportInTime(_ time: Int64) {
        nextReport = time + interval
        report()
    }

    // MARK: Any thread

    /// Calls the reporter with the counts and their change since the last report.
    func report() {
        // Without the lock held: the reporter may ask for reports itself.
        reporter?(reading(isReport: true))
    }

    /// Returns the counts so far.
    ///
    /// - Parameter isReport: Whether the change in the next report is counted from this reading on.
    func reading(isReport: Bool) -> RunLoop.Metering.Report {
        let pending = loop?.pendingCount ?? 0
        return reported.withLock { reported in
            let (statistics, isAsleep) = meter.read(endsRound: isReport)
            let change = statistics.since(reported)
            if isReport { reported = statistics }
            return RunLoop.Metering.Report(
                loop: identity, statistics: statistics, change: change, isAsleep: isAsleep, pending: pending)
        }
    }
}
