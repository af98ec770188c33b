// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// A repeated time in a time zone: daily, on some days of the week, on one day of each month, or by the five fields of cron.
///
/// The dates follow the clocks of the zone through all their changes: 09:00 in Berlin is another instant in summer than
/// in winter. ``rules`` say what happens on the days on which the clocks change. The calendar is the Gregorian one.
///
/// A schedule computes its dates and keeps none. A ``CalendarTimer`` calls a closure at them.
///
/// Thread safety: a value; any thread.
public struct CalendarSchedule: Hashable, Sendable, CustomStringConvertible {
    /// The days that have a date, before the rules.
    private enum Days: Hashable, Sendable {
        case all
        case ofWeek(Set<Weekday>)
        case ofMonth(MonthDay)
        case cron(CronFields)
    }

    /// The years in which a schedule has dates: 1 to 9999, as seconds since 1970.
    private static let years = -62_135_596_800..<253_402_300_800

    private let days: Days
    private let times: DayTimes
    /// The time of day of the schedule's dates; the first of them, if a cron schedule has several.
    public var time: Time { Time(second: times.first(from: 0) ?? 0) }
    /// The time zone of the schedule's times.
    public let zone: TimeZone
    /// The rules for times and days that do not exist or exist twice, and for dates that have passed.
    public var rules = Rules()

    // MARK: Making

    /// Returns a schedule with one time on each day.
    ///
    /// - Parameters:
    ///   - time: The time, as the clocks of the zone show it.
    ///   - zone: The zone. A zone with a name knows its clock changes; a fixed distance from Greenwich has none.
    public static func daily(at time: Time, in zone: TimeZone) -> CalendarSchedule {
        CalendarSchedule(days: .all, time: time, zone: zone)
    }

    /// Returns a schedule with one time on some days of the week.
    ///
    /// - Parameters:
    ///   - weekdays: The days.
    ///   - time: The time, as the clocks of the zone show it.
    ///   - zone: The zone.
    /// - Throws: ``ValueError/noWeekday`` if there is no day.
    public static func weekly(
        on weekdays: Set<Weekday>, at time: Time, in zone: TimeZone
    ) throws(ValueError) -> CalendarSchedule {
        if weekdays.isEmpty { throw .noWeekday }
        return CalendarSchedule(days: .ofWeek(weekdays), time: time, zone: zone)
    }

    /// Returns a schedule with one time on one day of each month.
    ///
    /// - Parameters:
    ///   - day: The day. ``Rules/missingDay`` says what happens in a month without this day.
    ///   - time: The time, as the clocks of the zone show it.
    ///   - zone: The zone.
    /// - Throws: ``ValueError/noSuchDay(_:)`` if no month has the day.
    public static func monthly(
        on day: MonthDay, at time: Time, in zone: TimeZone
    ) throws(ValueError) -> CalendarSchedule {
        if case .day(let number) = day, !(1...31 ~= number) { throw .noSuchDay(number) }
        return CalendarSchedule(days: .ofMonth(day), time: time, zone: zone)
    }

    /// Returns the schedule that the five fields of a cron line describe: minute, hour, day of month, month, day of
    /// week.
    ///
    /// ```swift
    /// try CalendarSchedule.cron("*/15 9-17 * * mon-fri", in: .current)
    /// ```
    ///
    /// A field is `*`, a number, a name (`jan`, `mon`, in any case), a range (`9-17`), a star or range with a step
    /// (`*/15`, `0-30/10`), or a list of these with commas. Sunday is 0, 7 and `sun`. If neither the day of the month
    /// nor the day of the week begins with a star, a day that fits one of them has dates; otherwise it must fit both.
    /// In place of the fields, there are `@hourly`, `@daily` or `@midnight`, `@weekly`, `@monthly`, `@yearly` or
    /// `@annually`. A step that is larger than the largest number of its field is refused: `*/90` minutes would be each
    /// hour in cron.
    ///
    /// A day that does not exist in its month has no date, whatever ``Rules/missingDay`` says. If the minutes or the
    /// hours begin with a star, then the rules begin as cron serves such lines: ``MissingTime/skip`` and
    /// ``RepeatedTime/both``, so that `*/15` is each quarter of an hour also in the hour that clocks repeat. Other
    /// lines begin with the default rules. Both may be changed. Two schedules with different texts are different, even
    /// if their dates are the same.
    ///
    /// - Parameters:
    ///   - text: The fields, with spaces or tabs in between.
    ///   - zone: The zone.
    /// - Throws: ``CronError``, which names the field and its text. A schedule without any date, such as `0 0 30 2 *`,
    ///   is refused.
    public static func cron(_ text: String, in zone: TimeZone) throws(CronError) -> CalendarSchedule {
        let fields = try CronFields(text)
        var schedule = CalendarSchedule(days: .cron(fields), times: fields.times, zone: zone)
        if fields.isInterval {
            schedule.rules.missingTime = .skip
            schedule.rules.repeatedTime = .both
        }
        return schedule
    }

    private init(days: Days, time: Time, zone: TimeZone) {
        let minute = time.second / 60
        self.init(
            days: days,
            times: DayTimes(
                hours: NumberSet(minute / 60), minutes: NumberSet(minute % 60), second: time.second % 60),
            zone: zone)
    }

    private init(days: Days, times: DayTimes, zone: TimeZone) {
        self.days = days
        self.times = times
        self.zone = zone
    }

    // MARK: Dates

    /// The first date of the schedule after `date`.
    ///
    /// - Returns: A date with a whole second; `nil` if there is none until the year 9999, or if `date` is not a number. The
    ///   first date of all is in the year 1.
    /// - Complexity: O(1): a few looks at the zone's rules, and about twenty when its clocks change, for each time of a
    ///   schedule of cron in the hours that change. A monthly schedule also counts up to sixty days, and one of cron up
    ///   to forty years.
    public func next(after date: Date) -> Date? {
        Self.second(of: date).flatMap(next(after:)).map(Self.date)
    }

    /// The last date of the schedule that is not after `date`.
    ///
    /// - Returns: A date with a whole second; `nil` if there is none from the year 1 on, or if `date` is not a number. The
    ///   last date of all is in the year 9999.
    /// - Complexity: The same as for ``next(after:)-(Date)``.
    public func latest(notAfter date: Date) -> Date? {
        Self.second(of: date).flatMap(latest(notAfter:)).map(Self.date)
    }

    /// The dates of the schedule after `date`, one after the other, until the year 9999.
    public func dates(after date: Date) -> some Sequence<Date> & IteratorProtocol<Date> {
        var last = date
        return AnyIterator {
            guard let next = next(after: last) else { return nil }
            last = next
            return next
        }
    }

    /// The schedule in words, such as "daily at 02:30:00 in Europe/Berlin"; the text of a cron schedule.
    public var description: String {
        let words =
            switch days {
            case .all: "daily"
            case .ofWeek(let days): days.sorted { $0.rawValue < $1.rawValue }.map { "\($0)" }.joined(separator: ", ")
            case .ofMonth(.day(let day)): "day \(day) of each month"
            case .ofMonth(.last): "last day of each month"
            case .cron(let fields): fields.text
            }
        if case .cron = days { return "\(words) in \(zone.identifier)" }
        return "\(words) at \(time) in \(zone.identifier)"
    }

    // MARK: In whole seconds since 1970

    func next(after second: Int) -> Int? {
        guard second < Self.years.upperBound else { return nil }
        let second = max(second, Self.years.lowerBound - 1)
        let clock = LocalClock(zone: zone)
        var next: Int?
        // A later local time may have the earlier date, where a rule moves a date or clocks are put back: all that may be
        // before the best date are looked at.
        var local = second + clock.offsets(around: second).lowerBound
        var end = Int.max
        while let shown = localTime(after: local), shown < end {
            if let date = clock.seconds(showing: shown, rules).first(where: { $0 > second }), date < next ?? .max {
                next = date
                end = date + clock.offsets(around: date).upperBound
            }
            local = shown
        }
        return next.flatMap { $0 < Self.years.upperBound ? $0 : nil }
    }

    func latest(notAfter second: Int) -> Int? {
        guard second >= Self.years.lowerBound else { return nil }
        let second = min(second, Self.years.upperBound - 1)
        let clock = LocalClock(zone: zone)
        var latest: Int?
        var local = second + clock.offsets(around: second).upperBound + 1
        var end = Int.min
        while let shown = localTime(before: local), shown > end {
            if let date = clock.seconds(showing: shown, rules).last(where: { $0 <= second }), date > latest ?? .min {
                latest = date
                end = date + clock.offsets(around: date).lowerBound
            }
            local = shown
        }
        return latest.flatMap { $0 >= Self.years.lowerBound ? $0 : nil }
    }

    /// The first local time of the schedule after `local`.
    private func localTime(after local: Int) -> Int? {
        var (day, time) = (local + 1).dayAndTime
        // A day more than there is, for zones in which the last day begins later.
        while day * 86_400 < Self.years.upperBound + 86_400 {
            if hasDate(CivilDay(number: day)), let found = times.first(from: time) { return day * 86_400 + found }
            (day, time) = (day + 1, 0)
        }
        return nil
    }

    /// The last local time of the schedule before `local`.
    private func localTime(before local: Int) -> Int? {
        var (day, time) = (local - 1).dayAndTime
        while day * 86_400 >= Self.years.lowerBound - 86_400 {
            if hasDate(CivilDay(number: day)), let found = times.last(to: time) { return day * 86_400 + found }
            (day, time) = (day - 1, 86_399)
        }
        return nil
    }

    private func hasDate(_ day: CivilDay) -> Bool {
        switch days {
        case .all: return true
        case .ofWeek(let weekdays): return weekdays.contains(day.weekday)
        case .ofMonth(.last): return day.isLastOfMonth
        case .ofMonth(.day(let number)):
            let isShort = rules.missingDay == .lastDay && day.isLastOfMonth
            return day.parts.day == number || (isShort && day.parts.day < number)
        case .cron(let fields): return fields.contains(day)
        }
    }

    /// The second that `date` is in, or one far away on the same side; `nil` if `date` is not a number.
    private static func second(of date: Date) -> Int? {
        // From the value that a date keeps: the sum could be rounded up.
        let seconds = date.timeIntervalSinceReferenceDate.rounded(.down)
        if seconds.isNaN { return nil }
        return Int(max(-1e12, min(1e12, seconds))) + Int(Date.timeIntervalBetween1970AndReferenceDate)
    }

    private static func date(_ second: Int) -> Date { Date(timeIntervalSince1970: Double(second)) }
}

extension Int {
    /// The day and the second of the day that a local time is in.
    fileprivate var dayAndTime: (day: Int, time: Int) {
        let day = flooredQuotient(by: 86_400)
        return (day, self - day * 86_400)
    }
}
