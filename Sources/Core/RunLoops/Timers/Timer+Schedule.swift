// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension RunLoop.Timer {
    /// The date of a timer's first fire, and the interval of its repeats.
    ///
    /// Thread safety: a value; any thread.
    public struct Schedule: Sendable, Hashable {
        enum Start: Sendable, Hashable {
            case after(Duration)
            /// A date on the clock, in nanoseconds.
            case at(Int64)
        }

        let clock: RunLoop.ClockID
        let start: Start
        /// The time between two fires; `nil` for a timer that fires once.
        let interval: Duration?

        /// Fires after `delay`, and then, if `interval` is given, repeatedly.
        ///
        /// **The delay counts from the moment at which the timer is made, and not from the moment at which it is
        /// added.** If you add a timer later than you make it, call ``RunLoop/Timer/restart(after:)`` first. If `delay`
        /// is not positive, the timer fires in the next turn.
        ///
        /// - Precondition: `interval` is `nil` or at least one nanosecond. **An interval of zero or less traps**, see
        ///   ``every(_:clock:)``.
        public static func after(
            _ delay: Duration, every interval: Duration? = nil, clock: RunLoop.ClockID = .monotonic
        ) -> Schedule {
            Schedule(clock: clock, start: .after(delay), interval: interval)
        }

        /// Fires repeatedly, for the first time after one interval.
        ///
        /// The first interval counts from the moment at which the timer is made. **An interval of zero or less traps.**
        /// Give a computed interval a lower bound, such as `max(interval, .milliseconds(1))`. For a timer that fires
        /// once, use ``after(_:every:clock:)`` with `every: nil`.
        ///
        /// Corresponds to `CFRunLoopTimerCreate`, where such an interval makes a timer that fires once.
        /// - Precondition: `interval` is at least one nanosecond.
        public static func every(_ interval: Duration, clock: RunLoop.ClockID = .monotonic) -> Schedule {
            Schedule(clock: clock, start: .after(interval), interval: interval)
        }

        /// Fires at `instant`, on the clock of `instant`, and then, if `interval` is given, repeatedly.
        ///
        /// An instant of the `.realtime` clock is a date: it keeps its meaning when the wall clock is changed.
        /// An instant that has passed counts as the present instant, as in Core Foundation.
        ///
        /// - Precondition: `interval` is `nil` or at least one nanosecond. **An interval of zero or less traps**, see
        ///   ``every(_:clock:)``.
        public static func at(_ instant: RunLoop.Instant, every interval: Duration? = nil) -> Schedule {
            Schedule(clock: instant.clock, start: .at(instant.nanoseconds), interval: interval)
        }

        private init(clock: RunLoop.ClockID, start: Start, interval: Duration?) {
            if let interval {
                require(
                    interval >= .nanoseconds(1),
                    "A timer was asked to repeat every \(interval): an interval must be at least a nanosecond. Give a computed one a lower bound, such as max(interval, .milliseconds(1)), or leave it out for a timer that fires once."
                )
            }
            self.clock = clock
            self.start = start
            self.interval = interval
        }

        /// The first date, never before `now`.
        func firstDate(now: Int64) -> Int64 {
            switch start {
            case .after(let delay): now.clampedAdding(max(0, delay.clampedNanoseconds))
            case .at(let date): max(now, date)
            }
        }
    }
}

/// The arithmetic of dates, in functions that use nothing but their parameters.
enum TimerGrid {
    /// Returns the first of the dates `date` + n · `interval`, n ≥ 1, that is after `now`.
    ///
    /// Dates that passed while the thread was busy are skipped.
    static func next(after date: Int64, interval: Int64, now: Int64) -> Int64 {
        // The whole intervals that have passed, plus the interval to come.
        let behind = max(0, now.clampedSubtracting(date))
        let steps = (behind / interval).clampedAdding(1)
        let (distance, overflow) = steps.multipliedReportingOverflow(by: interval)
        return overflow ? .max : date.clampedAdding(distance)
    }

    /// The tolerance of a fire: the requested one, and at most half the interval for a timer that repeats, so that two
    /// fires never coincide (the rule of Core Foundation and libdispatch).
    static func tolerance(_ wished: Int64, interval: Int64) -> Int64 {
        max(0, interval > 0 ? min(wished, interval / 2) : wished)
    }

    /// The time after a timer's date for which the thread may sleep: a little less than the tolerance, since waking up
    /// takes time too.
    ///
    /// An eighth of the tolerance is kept in reserve, a millisecond at most.
    static func slack(_ tolerance: Int64) -> Int64 { tolerance - min(tolerance / 8, 1_000_000) }
}
