// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension CalendarSchedule {
    /// What a schedule does when clocks or the calendar get in its way: one rule for each way in which this happens.
    ///
    /// The default rules drop no day and serve no date twice.
    public struct Rules: Hashable, Sendable {
        /// What becomes of a time that its day does not have, because the zone's clocks are put forward over it.
        public var missingTime = MissingTime.whenGapEnds
        /// What becomes of a time that its day has twice, because the zone's clocks are put back over it.
        public var repeatedTime = RepeatedTime.first
        /// What a monthly schedule does in a month without its day.
        public var missingDay = MissingDay.lastDay
        /// What a ``CalendarTimer`` does about dates that have passed when it comes to serve them.
        public var passedDates = PassedDates.once
        /// What a ``CalendarTimer`` does when somebody sets the clock back.
        public var clockSetBack = ClockSetBack.notAgain

        /// The default rules.
        public init() {}
    }

    /// A time that its day does not have: 02:30 on the day on which 03:00 follows 01:59.
    public enum MissingTime: Hashable, Sendable {
        /// The date is the moment at which the clocks are put forward: when they show 03:00.
        ///
        /// Where a zone skips a whole day, as Samoa did on 30 December 2011, the moment is the beginning of the next day.
        case whenGapEnds
        /// The date is as long after midnight as usual: when the clocks show 03:30.
        ///
        /// Where this is also the date of another day, there is one date.
        case sameOffset
        /// The day has no date.
        case skip
    }

    /// A time that its day has twice: 02:30 on the day on which 02:00 follows 02:59.
    public enum RepeatedTime: Hashable, Sendable {
        /// The date is the first of the two.
        case first
        /// The date is the second of the two.
        case second
        /// The day has two dates.
        case both
    }

    /// A day that its month does not have: 31 April.
    ///
    /// A schedule of cron has no date then, as in cron.
    public enum MissingDay: Hashable, Sendable {
        /// The date is on the last day of the month.
        case lastDay
        /// The month has no date.
        case skip
    }

    /// Dates that have passed when the timer comes to serve them.
    ///
    /// The reason may be that somebody has set the clock forward over them, that the machine was suspended, that the thread
    /// was busy, or that the loop ran in a mode without the timer.
    public enum PassedDates: Hashable, Sendable {
        /// The closure is called once, with the latest of these dates.
        case once
        /// The closure is called for each of these dates, in order, one in a turn of the loop.
        ///
        /// On a machine that starts with its clock in 1970, the first setting of the clock passes very many dates.
        case each
        /// The closure is called once, with the latest of these dates, and not at all if even this one is later than the
        /// limit allows.
        case skip(laterThan: Duration)
    }

    /// Somebody sets the clock back, so that dates come again that the clock has reached before.
    ///
    /// This is a change of the machine's clock, and not of the zone's: see ``RepeatedTime``.
    public enum ClockSetBack: Hashable, Sendable {
        /// Each date is served once: dates that the clock reaches again are not served again.
        ///
        /// A clock that was a year ahead by mistake thus leaves the timer silent for a year.
        case notAgain
        /// Dates that the clock reaches again are served again, if the clock is at least this far behind the last date that was
        /// served, or behind the moment at which the timer was added if no date was.
        ///
        /// `cron` does so from three hours on, and takes smaller steps for small corrections. The timer then has a
        /// descriptor, which the kernel makes ready when the clock is set.
        case again(ifBehindBy: Duration)
    }
}
