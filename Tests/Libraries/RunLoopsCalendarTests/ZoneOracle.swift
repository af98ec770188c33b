// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoopsCalendar
import RunLoopsTestSupport
import Testing

/// A zone whose clocks the tests look at, with times that its changes fall on.
struct Place: CustomTestStringConvertible, Sendable {
    let name: String
    let times: [String]

    static let all = [
        Place(name: "UTC", times: ["02:30"]),
        Place(name: "Europe/Berlin", times: ["02:30", "03:00"]),
        Place(name: "America/New_York", times: ["02:00", "01:30"]),
        // Half an hour in summer.
        Place(name: "Australia/Lord_Howe", times: ["02:15", "01:45"]),
        // Off summer time in Ramadan, whose dates are in the tables up to 2087.
        Place(name: "Africa/Casablanca", times: ["02:30"]),
        // Changes at midnight, until 2019: days without a beginning, and days with two ends.
        Place(name: "America/Sao_Paulo", times: ["00:00", "00:30", "23:30"]),
        // Put its clocks back from 00:01 to 23:01, until 2011.
        Place(name: "America/St_Johns", times: ["23:30", "00:00", "00:30"]),
        // Skipped 30 December 2011.
        Place(name: "Pacific/Apia", times: ["09:00", "00:00", "03:30"]),
        // Went from UTC-12 to UTC+12 in 1993.
        Place(name: "Pacific/Kwajalein", times: ["12:00"]),
    ]

    /// All, or three of the strangest if there is little time.
    static let sample =
        isThorough ? all : all.filter { ["Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia"].contains($0.name) }

    var zone: TimeZone { TimeZone(identifier: name)! }
    var testDescription: String { name }

    static func second(of time: String) -> Int {
        let parts = time.split(separator: ":").map { Int($0)! }
        return parts[0] * 3600 + parts[1] * 60
    }

    static func time(_ text: String) throws -> CalendarSchedule.Time {
        try CalendarSchedule.Time(hour: second(of: text) / 3600, minute: second(of: text) / 60 % 60)
    }
}

/// The days of a century and one day around it, as Foundation's calendar counts them.
///
/// In some zones a date of the neighbouring day is in the century.
struct Almanac {
    struct Day {
        /// Seconds since 1970 of its midnight in Greenwich.
        let start: Int
        /// As in ISO 8601, from Monday, 1.
        let weekday: Int
        let day: Int
        let isLastOfMonth: Bool
    }

    /// From 1 January 1970 until 31 December 2069.
    static let century = Almanac(from: 0, until: 3_155_760_000)

    let start: Int
    let end: Int
    let days: [Day]

    private init(from start: Int, until end: Int) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0)!
        let found = stride(from: start - 86_400, through: end + 86_400, by: 86_400).map { second in
            (second, calendar.dateComponents([.weekday, .day], from: Date(timeIntervalSince1970: Double(second))))
        }
        days = zip(found, found.dropFirst()).map { today, tomorrow in
            Day(
                // Foundation's weeks begin with Sunday, 1.
                start: today.0, weekday: (today.1.weekday! + 5) % 7 + 1, day: today.1.day!,
                isLastOfMonth: tomorrow.1.day == 1)
        }
        (self.start, self.end) = (start, end)
    }
}

/// What the clocks of a zone show in a century, as the stretches between their changes.
///
/// A schedule asks when the clocks show a time. The oracle goes the other way: it walks through the stretches and looks
/// which times the clocks show in each.
struct ZoneOracle {
    struct Stretch {
        let start: Int
        let end: Int
        let offset: Int

        /// What the clocks show.
        var shown: Range<Int> { start + offset..<end + offset }
    }

    let stretches: [Stretch]

    /// The oracles of all places, made once.
    private static let made = Locked<[String: ZoneOracle]>([:])

    static func of(_ zone: TimeZone) -> ZoneOracle {
        made.withLock { made in
            if let oracle = made[zone.identifier] { return oracle }
            let oracle = ZoneOracle(zone)
            made[zone.identifier] = oracle
            return oracle
        }
    }

    private init(_ zone: TimeZone) {
        func offset(_ second: Int) -> Int { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second))) }
        let (first, last) = (Almanac.century.start - 400 * 86_400, Almanac.century.end + 400 * 86_400)
        var stretches: [Stretch] = []
        var start = first
        for step in stride(from: first, to: last, by: 6 * 3600) where offset(step + 6 * 3600) != offset(step) {
            // The change is in these six hours: second by second would be too slow.
            var (before, after) = (step, step + 6 * 3600)
            while after - before > 1 {
                let middle = (before + after) / 2
                if offset(middle) == offset(before) { before = middle } else { after = middle }
            }
            stretches.append(Stretch(start: start, end: after, offset: offset(before)))
            start = after
        }
        self.stretches = stretches + [Stretch(start: start, end: last, offset: offset(start))]
    }

    /// The moments at which the clocks change.
    var changes: [Int] { stretches.dropLast().map(\.end) }

    /// The dates on these days, at a time in seconds, in order and each once.
    func dates(on days: [Almanac.Day], at time: Int, _ rules: CalendarSchedule.Rules) -> [Int] {
        var dates: [Int] = []
        var first = 0
        for day in days {
            let shown = day.start + time
            while stretches[first].shown.upperBound + 2 * 86_400 <= shown { first += 1 }
            let near = stretches[first...].prefix(3)
            let found = near.filter { $0.shown.contains(shown) }.map { shown - $0.offset }
            switch (found.count, rules.repeatedTime, rules.missingTime) {
            case (1, _, _): dates += found
            case (0, _, .skip): break
            case (0, _, .sameOffset): dates.append(shown - near.last { $0.shown.upperBound <= shown }!.offset)
            case (0, _, .whenGapEnds): dates.append(near.last { $0.shown.upperBound <= shown }!.end)
            case (_, .first, _): dates.append(found[0])
            case (_, .second, _): dates.append(found[1])
            case (_, .both, _): dates += found
            }
        }
        return Set(dates).sorted()
    }
}

extension Date {
    init(second: Int) { self.init(timeIntervalSince1970: Double(second)) }
    var second: Int { Int(timeIntervalSince1970) }
}
