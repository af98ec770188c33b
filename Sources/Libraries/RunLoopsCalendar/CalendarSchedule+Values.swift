// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension CalendarSchedule {
    /// A time of day, as wall clocks show it.
    public struct Time: Hashable, Sendable, CustomStringConvertible {
        /// Seconds since the day's beginning on a day without a clock change.
        let second: Int

        /// Makes a time of a 24-hour clock.
        ///
        /// - Throws: ``ValueError/noSuchTime(hour:minute:second:)`` for an hour outside of 0 to 23, or a minute or second
        ///   outside of 0 to 59.
        public init(hour: Int, minute: Int = 0, second: Int = 0) throws(ValueError) {
            guard 0..<24 ~= hour, 0..<60 ~= minute, 0..<60 ~= second else {
                throw .noSuchTime(hour: hour, minute: minute, second: second)
            }
            self.second = (hour * 60 + minute) * 60 + second
        }

        init(second: Int) { self.second = second }

        /// Hour, minute and second, such as "02:30:00".
        public var description: String {
            [second / 3600, second / 60 % 60, second % 60].map { ($0 < 10 ? "0" : "") + "\($0)" }
                .joined(separator: ":")
        }
    }

    /// A day of the week.
    ///
    /// The numbers are those of ISO 8601.
    public enum Weekday: Int, Hashable, Sendable, CaseIterable {
        /// The first day of the week in ISO 8601.
        case monday = 1
        /// The day after Monday.
        case tuesday
        /// The day after Tuesday.
        case wednesday
        /// The day after Wednesday.
        case thursday
        /// The day after Thursday.
        case friday
        /// The day after Friday.
        case saturday
        /// The day after Saturday.
        case sunday
    }

    /// A day of the month.
    public enum MonthDay: Hashable, Sendable {
        /// The day with this number, 1 to 31.
        case day(Int)
        /// The last day, whatever its number.
        case last
    }

    /// A value that no schedule can have.
    public enum ValueError: Error, Hashable, Sendable, CustomStringConvertible {
        /// No day has this time.
        case noSuchTime(hour: Int, minute: Int, second: Int)
        /// A weekly schedule was made without a day of the week.
        case noWeekday
        /// No month has a day with this number.
        case noSuchDay(Int)

        /// One line that says what is wrong and what would be right.
        public var description: String {
            switch self {
            case .noSuchTime(let hour, let minute, let second):
                "no day has the time \(hour):\(minute):\(second): hours are 0 to 23, minutes and seconds 0 to 59"
            case .noWeekday: "a weekly schedule needs at least one day of the week"
            case .noSuchDay(let day): "no month has a day \(day): days are 1 to 31, or .last"
            }
        }
    }
}
