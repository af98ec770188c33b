// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import RunLoopsCalendar

/// What the file `settings` says, a name and a value a line; without the file, the values here.
struct Settings: Equatable {
    struct Malformed: Error { let line: Substring }

    /// How many files are converted at a time.
    var workers = 2
    /// How many seconds a conversion may take, and how many results are kept.
    var (limit, keep) = (60, 86_400)
    /// When old results are removed, each day: hour, minute and second.
    var housekeeping = [3, 0, 0]
    /// The program that reads a file of readings and writes the sums, and its arguments.
    var converter = ["awk", "{ sum += $2 } END { print NR, sum }"]

    init(file: String) throws {
        guard FileManager.default.fileExists(atPath: file) else { return }
        for line in try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ").map { String($0) }
            let numbers = words.last?.split(separator: ":").compactMap { Int($0) } ?? []
            switch (words[0], numbers.count) {
            case ("workers", 1): workers = max(1, numbers[0])
            case ("limit", 1): limit = numbers[0]
            case ("keep", 1): keep = numbers[0]
            case ("housekeeping", 3): housekeeping = numbers
            case ("converter", _) where words.count > 1: converter = Array(words.dropFirst())
            default: throw Malformed(line: line)
            }
        }
    }

    /// Each day at the time of housekeeping, by the clock of this machine's zone.
    var schedule: CalendarSchedule {
        get throws {
            .daily(at: try .init(hour: housekeeping[0], minute: housekeeping[1], second: housekeeping[2]), in: .current)
        }
    }
}
