// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension CalendarSchedule {
    /// The rules for times and days that do not exist or exist twice, for dates that have passed, and for a clock that is set
    /// back.
    ///
    /// The default rules drop no day and serve no date twice.
    public struct Rules: Hashable, Sendable {
        /// The rule for a time that does not exist on its day, because the zone's clocks are put forward over the time.
        public var missingTime = MissingTime.whenGapEnds
        /// The rule for a time that exists twice on its day, because the zone's clocks are put back over the time.
        public var repeatedTime = RepeatedTime.first
        /// The rule of a monthly schedule for a month that does not have the schedule's day.
        public var missingDay = MissingDay.lastDay
        /// The rule of a ``CalendarTimer`` for dates that have passed before the timer can serve them.
        public var passedDates = PassedDates.once
        /// The rule of a ``CalendarTimer`` for a clock that is set back.
        public var clockSetBack = ClockSetBack.notAgain

        /// The default rules.
        public init() {}
    }

    /// The rule for a time that does not exist on its day, such as 02:30 on the day on which 03:00 follows 01:59.
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

    /// The rule for a time that exists twice on its day, such as 02:30 on the day on which 02:00 follows 02:59.
    public enum RepeatedTime: Hashable, Sendable {
        /// The date is the first of the two.
        case first
        /// The date is the second of the two.
        case second
        /// The day has two dates.
        case both
    }

    /// The rule for a day that does not exist in its month, such as 31 April.
    ///
    /// A schedule of cron has no date then, as in cron.
    public enum MissingDay: Hashable, Sendable {
        /// The date is on the last day of the month.
        case lastDay
        /// The month has no date.
        case skip
    }

    /// The rule for dates that have passed before the timer can serve them.
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
        /// The closure is called once, with the latest of these dates, unless that date is longer ago than the limit.
        case skip(laterThan: Duration)
    }

    /// The rule for a clock that is set back, so that it reaches dates again that it has reached before.
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
