// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoops
import RunLoopsCalendar
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

import class RunLoops.RunLoop

/// Schedules beside an oracle that walks through the zone's clock changes.
@Suite(.ownThread, .leavesNothing) struct CenturyTests {
    typealias Rules = CalendarSchedule.Rules

    /// Every pair of rules for what zones do.
    static let zoneRules = [CalendarSchedule.MissingTime.whenGapEnds, .sameOffset, .skip].flatMap { missing in
        [CalendarSchedule.RepeatedTime.first, .second, .both].map { repeated in
            var rules = Rules()
            (rules.missingTime, rules.repeatedTime) = (missing, repeated)
            return rules
        }
    }

    /// The dates of a timer that runs through a century in virtual time, and how often its thread slept for them.
    private func play(_ schedule: CalendarSchedule) throws -> (dates: [Int], sleeps: Int) {
        try ManualRunLoop.with { manual in
            let start = RunLoop.Instant(nanoseconds: Int64(Almanac.century.start) * 1_000_000_000 - 1, clock: .realtime)
            manual.changeWallClock(by: manual.now(.realtime).duration(to: start))
            var dates: [Int] = []
            var isOnTime = true
            let timer = CalendarTimer(schedule) { _, date in
                isOnTime = isOnTime && RunLoop.Instant(date) == manual.now(.realtime)
                dates.append(date.second)
            }
            try manual.loop.add(timer, in: .default)
            manual.advance(by: .seconds(Almanac.century.end - Almanac.century.start))
            #expect(isOnTime)
            return (dates, manual.sleeps)
        }
    }

    private func expect(
        _ schedule: CalendarSchedule, _ days: [Almanac.Day], _ time: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let (dates, sleeps) = try play(schedule)
        let expected = ZoneOracle.of(schedule.zone).dates(on: days, at: Place.second(of: time), schedule.rules)
            .filter { Almanac.century.start..<Almanac.century.end ~= $0 }
        let difference = zip(dates, expected).first { $0 != $1 }
        #expect(difference?.0 == difference?.1, sourceLocation: sourceLocation)
        #expect(dates.count == expected.count, sourceLocation: sourceLocation)
        // One sleep a date, and the last one until the end: nothing wakes the thread in between.
        #expect(sleeps == dates.count + 1, sourceLocation: sourceLocation)
    }

    @Test(arguments: Place.sample) func `A daily timer serves each date of a century and sleeps in between`(
        place: Place
    ) throws {
        let time = place.times[0]
        let schedule = CalendarSchedule.daily(at: try Place.time(time), in: place.zone)
        try expect(schedule, Almanac.century.days, time)
    }

    @Test(arguments: Place.all) func `A weekly timer serves each date of a century`(place: Place) throws {
        let time = place.times[0]
        // Clocks change on Sundays; Samoa skipped a Friday.
        let schedule = try CalendarSchedule.weekly(on: [.sunday, .friday], at: Place.time(time), in: place.zone)
        try expect(schedule, Almanac.century.days.filter { $0.weekday == 7 || $0.weekday == 5 }, time)
    }

    @Test(arguments: Place.all) func `A monthly timer serves each date of a century`(place: Place) throws {
        let time = place.times[0]
        let days = Almanac.century.days
        let last = try CalendarSchedule.monthly(on: .last, at: Place.time(time), in: place.zone)
        try expect(last, days.filter(\.isLastOfMonth), time)
        var thirtieth = try CalendarSchedule.monthly(on: .day(30), at: Place.time(time), in: place.zone)
        try expect(thirtieth, days.filter { $0.day == 30 || ($0.isLastOfMonth && $0.day < 30) }, time)
        thirtieth.rules.missingDay = .skip
        try expect(thirtieth, days.filter { $0.day == 30 }, time)
    }

    /// Around each change of a century, with every pair of rules, forwards and backwards.
    @Test(arguments: Place.all)
    func `With every pair of rules the dates near each clock change match those of the oracle`(
        place: Place
    ) throws {
        let oracle = ZoneOracle.of(place.zone)
        // Other days would take most of the time.
        let near = Set(oracle.changes.flatMap { change in (-6...6).map { change / 86_400 + $0 } })
        let days = Almanac.century.days.filter { near.contains($0.start / 86_400) }
        var changes = 0
        var differences: [String] = []
        for time in place.times {
            var schedule = CalendarSchedule.daily(at: try Place.time(time), in: place.zone)
            for rules in Self.zoneRules {
                schedule.rules = rules
                let all = oracle.dates(on: days, at: Place.second(of: time), rules)
                var index = 0
                for change in oracle.changes
                where Almanac.century.start + 8 * 86_400..<Almanac.century.end - 8 * 86_400 ~= change {
                    changes += 1
                    while all[index] <= change - 3 * 86_400 { index += 1 }
                    var last = index - 1
                    while all[last] < change + 3 * 86_400 {
                        let (date, next) = (all[last], all[last + 1])
                        last += 1
                        let found = [
                            schedule.next(after: Date(second: date)), schedule.next(after: Date(second: next - 1)),
                            schedule.latest(notAfter: Date(second: next)),
                        ]
                        let before = schedule.latest(notAfter: Date(second: next - 1))
                        if found.map({ $0?.second }) != [next, next, next] || before?.second != date {
                            differences.append(
                                "\(time) \(rules): \(date), \(next): \(found), \(String(describing: before))")
                        }
                    }
                }
            }
        }
        #expect(differences.first == nil)
        #expect(changes == 0 ? place.name == "UTC" : place.name != "UTC")
    }
}
