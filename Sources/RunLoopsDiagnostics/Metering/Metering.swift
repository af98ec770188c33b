// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Counts what loops do, for metrics and for programs that look at themselves.
    ///
    /// A loop counts on its own thread. Counting adds no timer, and no wake-up to a loop that sleeps. Any thread can
    /// ask for the counts at any time, also while a callout hangs:
    ///
    /// ```swift
    /// let metering = RunLoop.Metering()
    /// metering.add(RunLoop.current)
    /// …
    /// for loop in metering.readings() { print(loop.loop, loop.statistics.turns, loop.statistics.busyShare) }
    /// ```
    ///
    /// For regular reports, give a reporter and an interval. A loop's reporter is called when the loop is about to
    /// sleep, at most once an interval. A loop that sleeps for an hour reports nothing in that hour; ``report()`` asks
    /// it.
    ///
    /// Thread safety: all members may be used by any thread, except where they say otherwise.
    public final class Metering: Sendable {
        /// Makes the reporter of one loop, when that loop is added.
        public typealias ReporterMaker = @Sendable (Identity) -> @Sendable (Report) -> Void

        private let group: ListenerGroup<MeteredLoop>

        /// Counts and reports nothing by itself: ask for ``readings()``.
        public init() {
            group = ListenerGroup({ MeteredLoop($0, every: .max, nil) }, whenOver: { _ in })
        }

        /// Counts and reports.
        ///
        /// - Parameters:
        ///   - interval: The least time between two reports of one loop; `nil` for only the reports that ``report()``
        ///     asks for.
        ///   - reporter: Called once for each loop; what it returns is called with each of the loop's reports. The
        ///     callers are the loop's thread, when the loop is about to sleep or its outermost run has ended, if the
        ///     interval has passed; the thread that calls ``report()`` or ``stop()``; and a last time, after the end of
        ///     the loop's thread, the thread that adds or reports next. No lock is held meanwhile. The loop waits until
        ///     the call returns.
        ///
        /// - Precondition: the interval is positive.
        public init(every interval: Duration?, reporter: @escaping ReporterMaker) {
            precondition(
                interval.map { $0 > .zero } ?? true,
                "A report was asked for at every instant: give a positive interval.")
            let nanoseconds = interval?.clampedNanoseconds ?? .max
            group = ListenerGroup({ MeteredLoop($0, every: nanoseconds, reporter) }, whenOver: { $0.report() })
        }

        deinit { stop() }

        /// Counts what a loop does from here on.
        ///
        /// Returns whether the loop is counted: not after ``stop()``, not while a `TraceRecorder` has the loop. Adding
        /// a loop twice is the same as adding it once.
        ///
        /// - Precondition: called on the loop's own thread.
        @discardableResult
        public func add(_ loop: RunLoop) -> Bool { group.add(loop) }

        /// Counts what every loop does that is made from here on.
        public func addNewLoops() { group.addNewLoops() }

        /// The counts so far of each loop whose thread has not ended.
        ///
        /// - Complexity: O(n) in the loops; for each loop some hundred words are copied.
        public func readings() -> [Report] {
            group.present.map { $0.reading(isReport: false) }
        }

        /// Calls every loop's reporter, on the calling thread.
        ///
        /// For an endpoint that is asked for metrics.
        public func report() {
            for loop in group.present { loop.report() }
        }

        /// Ends the counting, with a last report of each loop.
        ///
        /// A second call does nothing. The counting ends by itself with the metering's life.
        public func stop() {
            for loop in group.stop() { loop.report() }
        }
    }
}
