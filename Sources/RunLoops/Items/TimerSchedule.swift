extension RunLoop.Timer {
    /// When a timer fires: the first time, and how often after that.
    ///
    /// Thread safety: a value; any thread.
    public struct Schedule: Sendable, Hashable {
        enum Start: Sendable, Hashable {
            case after(Duration, RunLoop.TimeBase)
            case at(RunLoop.Instant)
        }

        let start: Start
        /// `nil`: fires once.
        let interval: Duration?

        /// First after `delay`, then, if `interval` is given, again and again.
        ///
        /// **The delay counts from the moment at which the timer is made, and not from the moment at which it is added.** A
        /// timer that is made early and added late calls ``RunLoop/Timer/restart(after:)`` first. A `delay` that is not
        /// positive means as soon as the loop turns.
        ///
        /// Precondition: `interval` is `nil` or at least one nanosecond. **An interval of zero or less traps**, see
        /// ``every(_:clock:)``.
        public static func after(
            _ delay: Duration, every interval: Duration? = nil, clock: RunLoop.TimeBase = .monotonic
        ) -> Schedule {
            Schedule(start: .after(delay, clock), interval: interval)
        }

        /// Again and again, first when one interval has gone by.
        ///
        /// The first interval counts from the moment at which the timer is made. **An interval of zero or less traps.** Give a
        /// computed interval a lower bound, such as `max(interval, .milliseconds(1))`, or take ``after(_:every:clock:)`` with
        /// `every: nil` where the timer is to fire once.
        ///
        /// Precondition: `interval` is at least one nanosecond.
        /// Corresponds to `CFRunLoopTimerCreate`, where such an interval makes a timer that fires once.
        public static func every(_ interval: Duration, clock: RunLoop.TimeBase = .monotonic) -> Schedule {
            Schedule(start: .after(interval, clock), interval: interval)
        }

        /// First at `instant`, on that instant's clock; then, if `interval` is given, again and again.
        ///
        /// An instant of the `.realtime` clock is a date: it keeps its meaning when the wall clock is changed.
        /// An instant that has passed is taken as the present one, as Core Foundation does.
        ///
        /// Precondition: `interval` is `nil` or at least one nanosecond. **An interval of zero or less traps**, see
        /// ``every(_:clock:)``.
        public static func at(_ instant: RunLoop.Instant, every interval: Duration? = nil) -> Schedule {
            Schedule(start: .at(instant), interval: interval)
        }

        private init(start: Start, interval: Duration?) {
            if let interval {
                require(
                    interval >= .nanoseconds(1),
                    "A timer was asked to repeat every \(interval): an interval must be at least a nanosecond. Give a computed one a lower bound, such as max(interval, .milliseconds(1)), or leave it out for a timer that fires once."
                )
            }
            self.start = start
            self.interval = interval
        }

        var base: RunLoop.TimeBase {
            switch start {
            case .after(_, let base): base
            case .at(let instant): instant.base
            }
        }

        /// The first date, given the present one: never in the past.
        package func firstDate(now: Int64) -> Int64 {
            switch start {
            case .after(let delay, _): now.clampedAdding(max(0, delay.clampedNanoseconds))
            case .at(let instant): max(now, instant.nanoseconds)
            }
        }
    }
}
