// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoopsCalendar
import RunLoopsTestSupport
import Testing

/// The five fields of cron, beside a walk through all minutes of a year.
@Suite(.ownThread, .leavesNothing) struct CronTests {
    typealias CronError = CalendarSchedule.CronError

    /// A line, and what it means, written by hand.
    struct Line: CustomTestStringConvertible, Sendable {
        let text: String
        let contains: @Sendable (_ minute: Int, _ hour: Int, _ day: Int, _ month: Int, _ weekday: Int) -> Bool

        init(_ text: String, _ contains: @escaping @Sendable (Int, Int, Int, Int, Int) -> Bool) {
            (self.text, self.contains) = (text, contains)
        }

        var testDescription: String { text }

        // The days of the week are 0 for Sunday to 6 for Saturday.
        static let all = [
            Line("* * * * *") { _, _, _, _, _ in true },
            Line("*/15 9-17 * * mon-fri") { $0 % 15 == 0 && 9...17 ~= $1 && 1...5 ~= $4 },
            Line("30 2 * * *") { minute, hour, _, _, _ in minute == 30 && hour == 2 },
            Line("15,45 0-3,23 * * *") { minute, hour, _, _, _ in
                [15, 45].contains(minute) && (hour <= 3 || hour == 23)
            },
            Line("0 12 13 * FRI") { minute, hour, day, _, weekday in
                minute == 0 && hour == 12 && (day == 13 || weekday == 5)
            },
            Line("7 3 */2 * 7") { minute, hour, day, _, weekday in
                minute == 7 && hour == 3 && day % 2 == 1 && weekday == 0
            },
            Line("5 2 31 mar,Oct-dec sat-sun") { minute, hour, day, month, weekday in
                minute == 5 && hour == 2 && (month == 3 || month >= 10) && (day == 31 || weekday == 6 || weekday == 0)
            },
            Line("10-30/10 */5 * 1-12/3 *") { minute, hour, _, month, _ in
                [10, 20, 30].contains(minute) && hour % 5 == 0 && [1, 4, 7, 10].contains(month)
            },
            Line("\t0  0 \t1 * * ") { minute, hour, day, _, _ in minute == 0 && hour == 0 && day == 1 },
            Line("@hourly") { minute, _, _, _, _ in minute == 0 },
            Line("@weekly") { minute, hour, _, _, weekday in minute == 0 && hour == 0 && weekday == 0 },
            Line("@Yearly") { minute, hour, day, month, _ in minute == 0 && hour == 0 && day == 1 && month == 1 },
        ]
    }

    /// A year in which the clocks of a zone change.
    static let years = [
        ("Europe/Berlin", 2026), ("America/New_York", 2026), ("Australia/Lord_Howe", 2026), ("America/Sao_Paulo", 2018),
        ("America/St_Johns", 2006), ("Pacific/Apia", 2011),
    ]

    /// All minutes of a year, and of a week more, with what the clocks show, in minutes since 1970.
    private struct Walk {
        /// Day, month and day of the week of each local day, by Foundation's calendar.
        private var days: [Int: (day: Int, month: Int, weekday: Int)] = [:]
        private(set) var minutes: [(minute: Int, shown: Int)] = []
        /// The minutes that show a time which the clocks show twice.
        private var firstShowing: [Int: Int] = [:]
        private var lastShowing: [Int: Int] = [:]

        init(_ zone: TimeZone, _ year: Int) throws {
            let start = try Date("\(year)-01-01T00:00:00Z", strategy: .iso8601).second
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = TimeZone(secondsFromGMT: 0)!
            for day in start / 86_400 - 4...start / 86_400 + 380 {
                let parts = calendar.dateComponents([.day, .month, .weekday], from: Date(second: day * 86_400))
                days[day] = (parts.day!, parts.month!, parts.weekday! - 1)
            }
            minutes = (start / 60..<start / 60 + 372 * 1440).map { minute in
                (minute, minute + zone.secondsFromGMT(for: Date(second: minute * 60)) / 60)
            }
            for index in minutes.indices.dropFirst() {
                let repeated = minutes[index - 1].shown + 1 - minutes[index].shown
                for distance in 0..<max(0, repeated) {
                    let (first, last) = (minutes[index - repeated + distance], minutes[index + distance])
                    precondition(first.shown == last.shown)
                    firstShowing[first.shown] = first.minute
                    lastShowing[first.shown] = last.minute
                }
            }
        }

        func contains(_ shown: Int, _ line: Line) -> Bool {
            let day = days[shown / 1440]!
            return line.contains(shown % 60, shown / 60 % 24, day.day, day.month, day.weekday)
        }

        /// The dates of a line in some of the minutes, as seconds.
        func dates(_ line: Line, _ rules: CalendarSchedule.Rules, in indices: [Int]) -> [Int] {
            var found: Set<Int> = []
            for index in indices {
                let (minute, shown) = minutes[index]
                if index > 0, shown > minutes[index - 1].shown + 1 {
                    let missing = minutes[index - 1].shown + 1..<shown
                    for time in missing where contains(time, line) {
                        switch rules.missingTime {
                        case .skip: break
                        case .whenGapEnds: found.insert(minute)
                        case .sameOffset: found.insert(minute + time - missing.lowerBound)
                        }
                    }
                }
                guard contains(shown, line) else { continue }
                switch rules.repeatedTime {
                case .both: found.insert(minute)
                case .first: if firstShowing[shown] ?? minute == minute { found.insert(minute) }
                case .second: if lastShowing[shown] ?? minute == minute { found.insert(minute) }
                }
            }
            return found.sorted().map { $0 * 60 }
        }
    }

    @Test(arguments: isThorough ? years : [years[2]])
    func `Cron schedules match a walk through all minutes of a year, with every rule, in both directions`(
        zone: String, year: Int
    ) throws {
        let zone = TimeZone(identifier: zone)!
        let walk = try Walk(zone, year)
        let (start, end) = (walk.minutes[0].minute * 60, walk.minutes.last!.minute * 60)
        let changes = walk.minutes.indices.dropFirst().filter {
            walk.minutes[$0].shown - walk.minutes[$0 - 1].shown != 1
        }
        #expect(!changes.isEmpty)
        let near = changes.flatMap { Array($0 - 3 * 1440..<$0 + 3 * 1440) }
        // Near the edges a rule would need to know the neighbours.
        let inside = start + 2 * 86_400..<end - 2 * 86_400
        let nearInside = changes.map { change in
            let second = walk.minutes[change].minute * 60
            return second - 2 * 86_400..<second + 2 * 86_400
        }
        for line in Line.all {
            var schedule = try CalendarSchedule.cron(line.text, in: zone)
            // The whole year with the line's own rules, if there is time; the surroundings of the changes with each.
            let isWhole = isThorough
            for (number, rules) in ([schedule.rules] + CenturyTests.zoneRules).enumerated() {
                schedule.rules = rules
                let all = number == 0 && isWhole
                let dates = walk.dates(line, rules, in: all ? Array(walk.minutes.indices) : near)
                var difference: String?
                for (date, next) in zip(dates, dates.dropFirst()) {
                    guard
                        all
                            ? inside.contains(date)
                            : nearInside.contains(where: { $0.contains(date) && $0.contains(next) })
                    else { continue }
                    // Of each minute, some.
                    if line.text == "* * * * *", date / 60 % 7 != 0 { continue }
                    let found = [
                        schedule.next(after: Date(second: date)), schedule.next(after: Date(second: next - 1)),
                        schedule.latest(notAfter: Date(second: next)),
                    ].map { $0?.second }
                    let before = schedule.latest(notAfter: Date(second: next - 1))?.second
                    if found != [next, next, next] || before != date {
                        difference = "\(line.text) \(rules): \(date), \(next): \(found), \(String(describing: before))"
                        break
                    }
                }
                #expect(difference == nil)
            }
        }
    }

    @Test func `In a repeated hour a cron interval continues and a cron time of day is served once`() throws {
        let berlin = TimeZone(identifier: "Europe/Berlin")!
        func dates(_ text: String, after start: String, _ count: Int) throws -> [String] {
            try CalendarSchedule.cron(text, in: berlin).dates(after: Date(start, strategy: .iso8601)).prefix(count)
                .map { $0.formatted(.iso8601) }
        }
        let back = "2026-10-24T23:59:00Z"
        #expect(
            try dates("*/30 * * * *", after: back, 5)
                == ["00:00", "00:30", "01:00", "01:30", "02:00"].map { "2026-10-25T\($0):00Z" })
        #expect(try dates("30 2 * * *", after: back, 2) == ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"])
        let forward = "2026-03-29T00:29:00Z"
        #expect(try dates("30 * * * *", after: forward, 2) == ["2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"])
        #expect(try dates("30 2 * * *", after: forward, 2) == ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"])
    }

    @Test func `A cron schedule of 29 February has dates in leap years only`() throws {
        let schedule = try CalendarSchedule.cron("0 0 29 2 *", in: .gmt)
        let start = try Date("1896-03-01T00:00:00Z", strategy: .iso8601)
        #expect(schedule.next(after: start)?.formatted(.iso8601) == "1904-02-29T00:00:00Z")
        let last = try Date("9999-12-31T00:00:00Z", strategy: .iso8601)
        #expect(schedule.next(after: last) == nil)
        #expect(schedule.latest(notAfter: last)?.formatted(.iso8601) == "9996-02-29T00:00:00Z")
        // Sundays: 2004 and 2032. A star with a step counts as a star.
        let sundays = try CalendarSchedule.cron("0 0 29 2 */7", in: .gmt)
        let found = try sundays.dates(after: Date("2000-01-01T00:00:00Z", strategy: .iso8601)).prefix(2)
        #expect(found.map { $0.formatted(.iso8601) } == ["2004-02-29T00:00:00Z", "2032-02-29T00:00:00Z"])
    }

    @Test func `Each cron error names the field and its text`() throws {
        typealias Field = CalendarSchedule.CronField
        let texts: [(Field, [String])] = [
            (
                .minute,
                ["60", "-1", "+5", "a", "*/0", "*/60", "5/10", "1-", "1,,2", ",", "5-1", "*-5", "**", "1-2-3", "٣"]
            ),
            (.hour, ["24", "99999999999999999999", "mon", "1/", "?"]), (.dayOfMonth, ["0", "32", "L", "15W"]),
            (.month, ["0", "13", "january", "dec-jan", "mon"]), (.dayOfWeek, ["8", "monday", "fri-mon", "1#2", "5L"]),
        ]
        for (field, values) in texts {
            for value in values {
                var parts = Array(repeating: "*", count: 5)
                parts[Field.allCases.firstIndex(of: field)!] = value
                #expect(throws: CronError.field(field, text: value)) {
                    try CalendarSchedule.cron(parts.joined(separator: " "), in: .gmt)
                }
            }
        }
        for (text, count) in [("", 0), ("* * * *", 4), ("* * * * * true", 6)] {
            #expect(throws: CronError.fieldCount(count, text: text)) { try CalendarSchedule.cron(text, in: .gmt) }
        }
        #expect(throws: CronError.abbreviation("@reboot")) { try CalendarSchedule.cron("@reboot", in: .gmt) }
        for text in ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 30-31 feb */2"] {
            #expect(throws: CronError.neverComes(text: text)) { try CalendarSchedule.cron(text, in: .gmt) }
        }
        // A day of the week is enough.
        #expect(try CalendarSchedule.cron("0 0 30 2 mon", in: .gmt).next(after: .now) != nil)
        #expect(
            "\(CronError.field(.month, text: "13"))"
                == "\"13\" is no month: a list of *, 1 to 12, jan to dec, or ranges, with steps such as */2")
        #expect("\(CronError.fieldCount(4, text: "* * * *"))".hasPrefix("\"* * * *\" has 4 fields"))
    }

    @Test func `Random cron texts give a schedule with dates or an error that names a part of the text`() throws {
        var generator = SeededRandom(26)
        let pieces = [
            "*", "/", "-", ",", " ", " ", "0", "1", "5", "7", "29", "31", "mon", "sun", "feb", "dec", "@", "é", "\0",
            "\t",
        ]
        var accepted = 0
        for round in 0..<(isThorough ? 200_000 : 20_000) {
            let text: String
            if round % 2 == 0 {
                text = (0..<Int.random(in: 0...14, using: &generator)).map { _ in
                    pieces.randomElement(using: &generator)!
                }.joined()
            } else {
                let fields = ["*", "*/2", "1", "5-7", "1,5", "29", "30-31", "2", "feb", "sun", "0", "5-7/2"]
                text = (0..<5).map { _ in fields.randomElement(using: &generator)! }.joined(separator: " ")
            }
            let schedule: CalendarSchedule
            do {
                schedule = try CalendarSchedule.cron(text, in: .gmt)
            } catch {
                if case .field(_, let part) = error { #expect(text.contains(part)) }
                continue
            }
            accepted += 1
            let now = Date(second: Int.random(in: 0..<4_000_000_000, using: &generator))
            let next = try #require(schedule.next(after: now))
            #expect(schedule.latest(notAfter: next) == next && next > now)
        }
        #expect(accepted > 1000)
    }

    @Test func `A cron schedule describes itself with its text`() throws {
        let schedule = try CalendarSchedule.cron("*/15 9-17 * * mon-fri", in: .gmt)
        #expect("\(schedule)" == "*/15 9-17 * * mon-fri in GMT")
        #expect("\(schedule.time)" == "09:00:00")
    }
}
