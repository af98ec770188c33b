// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The arithmetic of dates: values in, values out.
package enum TimerGrid {
    /// The first date on the grid of `interval` through `date` that is after `now`: dates that passed while the thread
    /// was busy are skipped, never made up.
    package static func next(after date: Int64, interval: Int64, now: Int64) -> Int64 {
        // The whole intervals that have passed, plus the interval to come.
        let behind = max(0, now.clampedSubtracting(date))
        let steps = (behind / interval).clampedAdding(1)
        let (distance, overflow) = steps.multipliedReportingOverflow(by: interval)
        return overflow ? .max : date.clampedAdding(distance)
    }

    /// How late a fire may be: the wished tolerance, or half an interval at most for a timer that repeats, so that two
    /// fires never fall together (the rule of Core Foundation and libdispatch).
    package static func tolerance(_ wished: Int64, interval: Int64?) -> Int64 {
        let wished = max(0, wished)
        guard let interval else { return wished }
        return min(wished, interval / 2)
    }

    /// How late a sleep may make a timer: not quite its whole tolerance, since waking up takes time too.
    ///
    /// An eighth of the tolerance is kept in reserve, a millisecond at most.
    package static func slack(_ tolerance: Int64) -> Int64 { tolerance - min(tolerance / 8, 1_000_000) }
}
