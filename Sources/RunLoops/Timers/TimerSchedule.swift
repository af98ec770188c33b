/// When a timer fires: the first time, and how often after that.
///
/// Thread safety: a value; any thread.
public struct RunLoopTimerSchedule: Sendable, Hashable {
    enum Start: Sendable, Hashable {
        case after(Duration, RunLoopTimeBase)
        case at(RunLoopInstant)
    }

    let start: Start
    /// `nil`: fires once.
    let interval: Duration?

    /// First after `delay`, then, if `interval` is given, again and again.
    ///
    /// Precondition: `interval` is `nil` or at least one nanosecond.
    /// A `delay` that is not positive means as soon as the loop turns.
    public static func after(
        _ delay: Duration, every interval: Duration? = nil, clock: RunLoopTimeBase = .monotonic
    ) -> RunLoopTimerSchedule {
        RunLoopTimerSchedule(start: .after(delay, clock), interval: interval)
    }

    /// Again and again, first when one interval has gone by.
    ///
    /// Precondition: `interval` is at least one nanosecond.
    public static func every(_ interval: Duration, clock: RunLoopTimeBase = .monotonic) -> RunLoopTimerSchedule {
        RunLoopTimerSchedule(start: .after(interval, clock), interval: interval)
    }

    /// First at `instant`, on that instant's clock; then, if `interval` is given, again and again.
    ///
    /// An instant of the `.realtime` clock is a date: it keeps its meaning when the wall clock is changed.
    /// An instant that has passed is taken as the present one, as Core Foundation does.
    /// Precondition: `interval` is `nil` or at least one nanosecond.
    public static func at(_ instant: RunLoopInstant, every interval: Duration? = nil) -> RunLoopTimerSchedule {
        RunLoopTimerSchedule(start: .at(instant), interval: interval)
    }

    private init(start: Start, interval: Duration?) {
        if let interval {
            require(
                interval >= .nanoseconds(1),
                "A timer was asked to repeat every \(interval): an interval must be at least a nanosecond. Leave it out for a timer that fires once."
            )
        }
        self.start = start
        self.interval = interval
    }

    var base: RunLoopTimeBase {
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

/// The arithmetic of dates: values in, values out.
package enum TimerGrid {
    /// The first date on the grid of `interval` through `date` that is after `now`: those that went by while the
    /// thread was busy are skipped, never made up.
    package static func next(after date: Int64, interval: Int64, now: Int64) -> Int64 {
        // Intervals that have gone by in whole, plus the one to come.
        let behind = max(0, now.clampedSubtracting(date))
        let steps = (behind / interval).clampedAdding(1)
        let (distance, overflow) = steps.multipliedReportingOverflow(by: interval)
        return overflow ? .max : date.clampedAdding(distance)
    }

    /// How late a fire may be: what was asked for, at most half an interval for a timer that repeats, so that two
    /// fires never fall together (the rule of Core Foundation and libdispatch).
    package static func tolerance(_ wished: Int64, interval: Int64?) -> Int64 {
        let wished = max(0, wished)
        guard let interval else { return wished }
        return min(wished, interval / 2)
    }

    /// Until when a thread may sleep that has to serve a timer in time: not quite to the end of its tolerance, since
    /// waking up takes time too.
    ///
    /// An eighth of it is kept in hand, a millisecond at most.
    package static func latest(_ date: Int64, tolerance: Int64) -> Int64 {
        date.clampedAdding(tolerance - min(tolerance / 8, 1_000_000))
    }
}
