// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import RunLoops

// A `Date` counts seconds in floating point, from 2001 on; the wall clock of the system counts nanoseconds, from 1970 on.

extension RunLoop.Instant {
    /// Converts a date to an instant of the wall clock (`.realtime`).
    ///
    /// Converting back gives the same date, to the nanosecond. A date before 1677 or after 2262 becomes the first or
    /// the last instant that the clock can count.
    ///
    /// - Precondition: `date` is a number.
    public init(_ date: Date) {
        require(
            !date.timeIntervalSinceReferenceDate.isNaN,
            "A date was not a number: check the computation that it comes from.")
        // Within more than an instant can count, in either direction.
        let seconds = max(-1e11, min(1e11, date.timeIntervalSinceReferenceDate))
        // The parts apart, because the nanoseconds of the whole would be rounded to 128.
        let whole = seconds.rounded(.down)
        let (nanoseconds, overflow) = Int64(whole + Date.timeIntervalBetween1970AndReferenceDate)
            .multipliedReportingOverflow(by: 1_000_000_000)
        let fraction = Int64(((seconds - whole) * 1e9).rounded())
        self.init(
            nanoseconds: overflow ? (whole < 0 ? .min : .max) : nanoseconds.clampedAdding(fraction), base: .realtime)
    }
}

extension Date {
    /// Converts an instant of the wall clock to the nearest value that a `Date` can have: about 0.1 µs.
    ///
    /// - Precondition: `instant` is on the `.realtime` clock. The other clocks do not know the date.
    public init(_ instant: RunLoop.Instant) {
        require(
            instant.clock == .realtime,
            "An instant of the \(instant.clock) clock names no date: use an instant of the realtime clock, or add its distance from now to Date.now."
        )
        let (seconds, nanoseconds) = instant.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        self.init(
            timeIntervalSinceReferenceDate:
                Double(seconds) - Date.timeIntervalBetween1970AndReferenceDate + Double(nanoseconds) / 1e9)
    }
}

extension RunLoop.Timer.Schedule {
    /// Returns a schedule that fires at `date` on the wall clock, and then, if `interval` is given, again after each
    /// interval.
    ///
    /// The date stays valid when the clock is set and when the machine sleeps. If it has passed, the timer fires as
    /// soon as the loop turns. The interval has a fixed length: for a time of each day, see ``CalendarTimer``.
    ///
    /// - Precondition: `date` is a number, and `interval` is `nil` or at least one nanosecond.
    public static func at(_ date: Date, every interval: Duration? = nil) -> RunLoop.Timer.Schedule {
        .at(RunLoop.Instant(date), every: interval)
    }
}
