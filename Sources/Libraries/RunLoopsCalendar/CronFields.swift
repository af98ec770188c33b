// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension CalendarSchedule {
    /// One of the five fields of cron, in the order in which they are written.
    public enum CronField: Hashable, Sendable, CaseIterable {
        /// The minute, 0 to 59.
        case minute
        /// The hour, 0 to 23.
        case hour
        /// The day of the month, 1 to 31.
        case dayOfMonth
        /// The month, 1 to 12 or jan to dec.
        case month
        /// The day of the week, 0 to 7 or sun to sat; both 0 and 7 are Sunday.
        case dayOfWeek

        var range: ClosedRange<Int> {
            switch self {
            case .minute: 0...59
            case .hour: 0...23
            case .dayOfMonth: 1...31
            case .month: 1...12
            case .dayOfWeek: 0...7
            }
        }

        /// The names of the numbers, from the first on.
        var names: [String] {
            switch self {
            case .minute, .hour, .dayOfMonth: []
            case .month: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
            case .dayOfWeek: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
            }
        }

        /// The name of the field in error messages.
        var title: String {
            switch self {
            case .minute: "minute"
            case .hour: "hour"
            case .dayOfMonth: "day of month"
            case .month: "month"
            case .dayOfWeek: "day of week"
            }
        }
    }

    /// The reason why a text is not a cron schedule.
    public enum CronError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The text does not have five fields; the number is the number of fields that it has.
        case fieldCount(Int, text: String)
        /// A field is not written as cron's fields are, or names a number that the field does not have.
        case field(CronField, text: String)
        /// A text that begins with `@` is not a known abbreviation.
        case abbreviation(String)
        /// The schedule has no date: none of its days exists in any of its months, such as 30 February.
        case neverComes(text: String)

        /// One line that says what is wrong and what would be right.
        public var description: String {
            switch self {
            case .fieldCount(let count, let text):
                "\"\(text)\" has \(count) fields: cron has minute, hour, day of month, month and day of week"
            case .field(let field, let text):
                "\"\(text)\" is no \(field.title): a list of *, \(Self.values(field)), or ranges, with steps such as */2"
            case .abbreviation(let text):
                "\"\(text)\" is unknown: there are @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually"
            case .neverComes(let text): "\"\(text)\" never comes: none of its months has one of its days"
            }
        }

        private static func values(_ field: CronField) -> String {
            let numbers = "\(field.range.lowerBound) to \(field.range.upperBound)"
            return field.names.isEmpty ? numbers : "\(numbers), \(field.names[0]) to \(field.names.last ?? "")"
        }
    }
}

/// The five fields of cron.
struct CronFields: Hashable {
    /// The fields as they were written.
    let text: String
    let times: DayTimes
    private let days: NumberSet
    private let months: NumberSet
    private let weekdays: NumberSet
    /// Whether a day of the month or of the week is enough, since both are restricted; otherwise it must be both.
    private let isEither: Bool
    /// Whether the minutes or the hours begin with a star: dates that are a distance from each other apart, and not
    /// times of a day.
    let isInterval: Bool

    init(_ text: String) throws(CalendarSchedule.CronError) {
        self.text = text
        var parts = Self.split(text)
        if parts.count == 1, parts[0].hasPrefix("@") {
            guard let expansion = Self.abbreviations[parts[0].lowercased()] else { throw .abbreviation(text) }
            parts = Self.split(expansion)
        }
        guard parts.count == 5 else { throw .fieldCount(parts.count, text: text) }
        times = DayTimes(hours: try Self.numbers(.hour, parts[1]), minutes: try Self.numbers(.minute, parts[0]))
        days = try Self.numbers(.dayOfMonth, parts[2])
        months = try Self.numbers(.month, parts[3])
        weekdays = try Self.numbers(.dayOfWeek, parts[4])
        let isFree = parts.map { $0.hasPrefix("*") }
        isEither = !isFree[2] && !isFree[4]
        isInterval = isFree[0] || isFree[1]
        // In 400 years, each day of each month falls on each day of the week: 29 February too.
        let lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        let first = days.first(from: 0) ?? 0
        guard isEither || (1...12).contains(where: { months.contains($0) && first <= lengths[$0 - 1] }) else {
            throw .neverComes(text: text)
        }
    }

    func contains(_ day: CivilDay) -> Bool {
        let parts = day.parts
        guard months.contains(parts.month) else { return false }
        let (isDay, isWeekday) = (days.contains(parts.day), weekdays.contains(day.weekday.rawValue % 7))
        return isEither ? isDay || isWeekday : isDay && isWeekday
    }

    // MARK: Reading

    private static let abbreviations = [
        "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
        "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
    ]

    private static func split(_ text: String) -> [Substring] { text.split { $0 == " " || $0 == "\t" } }

    /// The numbers of a field: a list, with commas in between.
    private static func numbers(
        _ field: CalendarSchedule.CronField, _ text: Substring
    ) throws(CalendarSchedule.CronError) -> NumberSet {
        var numbers = NumberSet()
        for element in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let found = stride(field, element) else { throw .field(field, text: String(text)) }
            for number in found { numbers.insert(field == .dayOfWeek ? number % 7 : number) }
        }
        return numbers
    }

    /// A star, a number or a range; the first and the last may have a step.
    private static func stride(
        _ field: CalendarSchedule.CronField, _ text: Substring
    ) -> StrideThrough<Int>? {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let ends = parts[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        var range = field.range
        if parts[0] != "*" {
            guard let first = number(field, ends[0]), var last = number(field, ends.last ?? "") else { return nil }
            // The week's end may be written as the name of its first day: sat-sun.
            if field == .dayOfWeek, ends.count == 2, last == 0, first > 0 { last = 7 }
            guard first <= last else { return nil }
            range = first...last
        }
        var step = 1
        if parts.count == 2 {
            guard ends.count == 2 || parts[0] == "*", let found = digits(parts[1]), 1...field.range.upperBound ~= found
            else { return nil }
            step = found
        }
        return Swift.stride(from: range.lowerBound, through: range.upperBound, by: step)
    }

    private static func number(_ field: CalendarSchedule.CronField, _ text: Substring) -> Int? {
        if let index = field.names.firstIndex(of: text.lowercased()) { return field.range.lowerBound + index }
        return digits(text).flatMap { field.range.contains($0) ? $0 : nil }
    }

    /// A number without a sign.
    private static func digits(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? Int(text) : nil
    }
}
