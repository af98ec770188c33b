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

    /// How much of its tolerance a timer may be late by a sleep: not quite all, since waking up takes time too.
    ///
    /// An eighth of it is kept in hand, a millisecond at most.
    package static func slack(_ tolerance: Int64) -> Int64 { tolerance - min(tolerance / 8, 1_000_000) }
}
