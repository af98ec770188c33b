// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoopsCalendar
import RunLoopsTestSupport
import Testing

/// Schedules by example: one test a rule, with dates that an almanac has.
@Suite(.ownThread, .leavesNothing) struct CalendarScheduleTests {
    typealias Time = CalendarSchedule.Time

    private let berlin = TimeZone(identifier: "Europe/Berlin")!

    private func date(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

    /// The next dates, in Greenwich's time.
    private func dates(_ schedule: CalendarSchedule, after start: String, _ count: Int) throws -> [String] {
        try schedule.dates(after: date(start)).prefix(count).map { $0.formatted(.iso8601) }
    }

    private func daily(
        _ hour: Int, _ minute: Int, in zone: TimeZone, _ change: (inout CalendarSchedule.Rules) -> Void = { _ in }
    ) throws -> CalendarSchedule {
        var schedule = CalendarSchedule.daily(at: try Time(hour: hour, minute: minute), in: zone)
        change(&schedule.rules)
        return schedule
    }

    // MARK: Days

    @Test func `A daily time follows the zone's change from winter to summer time`() throws {
        let found = try dates(daily(9, 0, in: berlin), after: "2026-03-28T00:00:00Z", 3)
        #expect(found == ["2026-03-28T08:00:00Z", "2026-03-29T07:00:00Z", "2026-03-30T07:00:00Z"])
    }

    @Test func `next returns the first date after the given one, exact to a fraction of a second`() throws {
        let schedule = try daily(9, 0, in: .gmt)
        let nine = try date("2026-11-22T09:00:00Z")
        #expect(schedule.next(after: nine) == nine.addingTimeInterval(86_400))
        #expect(schedule.next(after: nine.addingTimeInterval(-1e-6)) == nine)
        #expect(schedule.latest(notAfter: nine) == nine)
        #expect(schedule.latest(notAfter: nine.addingTimeInterval(-1e-6)) == nine.addingTimeInterval(-86_400))
    }

    @Test func `A weekly schedule has dates only on its weekdays`() throws {
        let schedule = try CalendarSchedule.weekly(on: [.monday, .thursday], at: Time(hour: 18), in: berlin)
        // 22 November 2026 is a Sunday.
        let found = try dates(schedule, after: "2026-11-22T12:00:00Z", 3)
        #expect(found == ["2026-11-23T17:00:00Z", "2026-11-26T17:00:00Z", "2026-11-30T17:00:00Z"])
    }

    @Test func `A monthly schedule uses the last day of a month without the schedule's day, or skips the month`() throws
    {
        var schedule = try CalendarSchedule.monthly(on: .day(31), at: Time(hour: 12), in: .gmt)
        let clamped = try dates(schedule, after: "2028-01-15T00:00:00Z", 4)
        #expect(clamped == ["2028-01-31", "2028-02-29", "2028-03-31", "2028-04-30"].map { $0 + "T12:00:00Z" })
        schedule.rules.missingDay = .skip
        let skipped = try dates(schedule, after: "2028-01-15T00:00:00Z", 4)
        #expect(skipped == ["2028-01-31", "2028-03-31", "2028-05-31", "2028-07-31"].map { $0 + "T12:00:00Z" })
    }

    @Test func `The last day of February is the 28th in 2100 and the 29th in 2000`() throws {
        let schedule = try CalendarSchedule.monthly(on: .last, at: Time(hour: 0), in: .gmt)
        #expect(try dates(schedule, after: "2100-02-01T00:00:00Z", 1) == ["2100-02-28T00:00:00Z"])
        #expect(try dates(schedule, after: "2000-02-01T00:00:00Z", 1) == ["2000-02-29T00:00:00Z"])
    }

    // MARK: Clock changes. Berlin's clocks go forward on 29 March 2026 at 01:00 in Greenwich, and back on 25 October.

    @Test func `A time missing at a clock change becomes the end of the gap, keeps its offset, or is skipped`() throws {
        let after = "2026-03-28T12:00:00Z"
        let next = "2026-03-30T00:30:00Z"
        #expect(try dates(daily(2, 30, in: berlin), after: after, 2) == ["2026-03-29T01:00:00Z", next])
        let shifted = try daily(2, 30, in: berlin) { $0.missingTime = .sameOffset }
        #expect(try dates(shifted, after: after, 2) == ["2026-03-29T01:30:00Z", next])
        let skipped = try daily(2, 30, in: berlin) { $0.missingTime = .skip }
        #expect(try dates(skipped, after: after, 1) == [next])
    }

    @Test func `A time that occurs twice at a clock change is served the first time, the second time, or both times`()
        throws
    {
        let after = "2026-10-24T12:00:00Z"
        let next = "2026-10-26T01:30:00Z"
        #expect(try dates(daily(2, 30, in: berlin), after: after, 2) == ["2026-10-25T00:30:00Z", next])
        let second = try daily(2, 30, in: berlin) { $0.repeatedTime = .second }
        #expect(try dates(second, after: after, 2) == ["2026-10-25T01:30:00Z", next])
        let both = try daily(2, 30, in: berlin) { $0.repeatedTime = .both }
        #expect(try dates(both, after: after, 3) == ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", next])
    }

    @Test func `A daily date on a day that its zone skips moves to the next day, joins that day's date, or is skipped`()
        throws
    {
        let apia = TimeZone(identifier: "Pacific/Apia")!
        // 09:00 of the 29th in UTC-10; the 30th is missing; 09:00 of the 31st in UTC+14.
        let after = "2011-12-29T12:00:00Z"
        let (last, next) = ("2011-12-29T19:00:00Z", "2011-12-30T19:00:00Z")
        #expect(try dates(daily(9, 0, in: apia), after: after, 3) == [last, "2011-12-30T10:00:00Z", next])
        let shifted = try daily(9, 0, in: apia) { $0.missingTime = .sameOffset }
        #expect(try dates(shifted, after: after, 2) == [last, next])
        let skipped = try daily(9, 0, in: apia) { $0.missingTime = .skip }
        #expect(try dates(skipped, after: after, 2) == [last, next])
    }

    @Test func `A schedule follows Lord Howe's clock change of half an hour`() throws {
        let place = TimeZone(identifier: "Australia/Lord_Howe")!
        // From UTC+10:30 to +11 on 4 October 2026 at 02:00; 02:15 is missing.
        #expect(try dates(daily(2, 15, in: place), after: "2026-10-03T00:00:00Z", 1) == ["2026-10-03T15:30:00Z"])
        let shifted = try daily(2, 15, in: place) { $0.missingTime = .sameOffset }
        #expect(try dates(shifted, after: "2026-10-03T00:00:00Z", 1) == ["2026-10-03T15:45:00Z"])
    }

    @Test func `A clock set back over midnight repeats a part of the day before`() throws {
        // On 29 October 2006 at 00:01, which was 02:31 in Greenwich, 23:01 of the 28th followed.
        let place = TimeZone(identifier: "America/St_Johns")!
        let both = try daily(23, 30, in: place) { $0.repeatedTime = .both }
        #expect(
            try dates(both, after: "2006-10-28T12:00:00Z", 3)
                == ["2006-10-29T02:00:00Z", "2006-10-29T03:00:00Z", "2006-10-30T03:00:00Z"])
        // In the first minute of the 29th, one date of the 28th is still to come.
        #expect(try dates(both, after: "2006-10-29T02:30:30Z", 1) == ["2006-10-29T03:00:00Z"])
        // When it is the 28th again, the 29th has had its date.
        let midnight = try daily(0, 0, in: place)
        #expect(try midnight.latest(notAfter: date("2006-10-29T02:45:00Z")) == date("2006-10-29T02:30:00Z"))
        #expect(try midnight.next(after: date("2006-10-29T02:45:00Z")) == date("2006-10-30T03:30:00Z"))
    }

    // MARK: The edges

    @Test func `Invalid values of a schedule throw an error that names the value`() throws {
        typealias ValueError = CalendarSchedule.ValueError
        for (hour, minute, second) in [(25, 0, 0), (24, 0, 0), (-1, 0, 0), (2, 60, 0), (2, -1, 0), (2, 0, 60)] {
            #expect(throws: ValueError.noSuchTime(hour: hour, minute: minute, second: second)) {
                try Time(hour: hour, minute: minute, second: second)
            }
        }
        let noon = try Time(hour: 12)
        #expect(throws: ValueError.noWeekday) { try CalendarSchedule.weekly(on: [], at: noon, in: .gmt) }
        for day in [0, 32, -1, .max, .min] {
            #expect(throws: ValueError.noSuchDay(day)) {
                try CalendarSchedule.monthly(on: .day(day), at: noon, in: .gmt)
            }
        }
        #expect("\(ValueError.noSuchDay(32))" == "no month has a day 32: days are 1 to 31, or .last")
    }

    @Test func `The first date is in the year 1 and the last date in the year 9999`() throws {
        let schedule = try daily(12, 0, in: .gmt)
        // Foundation's calendar is the Julian one before 1582: by its count this is in the year 0.
        let first = Date(timeIntervalSince1970: -62_135_596_800 + 12 * 3600)
        let last = try date("9999-12-31T12:00:00Z")
        for seconds in [-1e300, -1e18, -9.3e18, -1e12, -.infinity] {
            #expect(schedule.next(after: Date(timeIntervalSince1970: seconds)) == first)
            #expect(schedule.latest(notAfter: Date(timeIntervalSince1970: seconds)) == nil)
        }
        for seconds in [1e12, 9.3e18, 1e300, .infinity] {
            #expect(schedule.next(after: Date(timeIntervalSince1970: seconds)) == nil)
            #expect(schedule.latest(notAfter: Date(timeIntervalSince1970: seconds)) == last)
        }
        #expect(schedule.next(after: .distantPast) == first)
        #expect(schedule.latest(notAfter: first.addingTimeInterval(-1)) == nil)
        #expect(schedule.next(after: last) == nil)
        #expect(schedule.next(after: last.addingTimeInterval(-1)) == last)
        #expect(schedule.next(after: Date(timeIntervalSince1970: .nan)) == nil)
        #expect(schedule.latest(notAfter: Date(timeIntervalSince1970: .nan)) == nil)
    }

    @Test func `A schedule describes itself`() throws {
        let time = try Time(hour: 2, minute: 30, second: 5)
        #expect("\(CalendarSchedule.daily(at: time, in: berlin))" == "daily at 02:30:05 in Europe/Berlin")
        let weekly = try CalendarSchedule.weekly(on: [.sunday, .monday], at: time, in: .gmt)
        #expect("\(weekly)" == "monday, sunday at 02:30:05 in GMT")
        let monthly = try CalendarSchedule.monthly(on: .last, at: time, in: .gmt)
        #expect("\(monthly)" == "last day of each month at 02:30:05 in GMT")
    }
}
