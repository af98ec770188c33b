// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Formats numbers and text for columns.
///
/// The tool does not use Foundation, so the few formats that it needs are here.
enum Format {
    /// Formats a duration in seconds with a fixed number of decimals, rounded towards zero, so that a time is not shown
    /// before it has passed.
    static func seconds(_ duration: Duration, decimals: Int = 3) -> String {
        let (seconds, attoseconds) = duration.components
        let isNegative = seconds < 0 || attoseconds < 0
        let fraction = String(attoseconds.magnitude / 1_000_000_000)
        let digits = String(repeating: "0", count: 9 - fraction.count) + fraction
        return (isNegative ? "-" : "") + "\(seconds.magnitude).\(digits.prefix(decimals))"
    }

    /// Formats a duration with the unit that fits: `1.250 s`, `249.8 ms`, `13 us`.
    static func short(_ duration: Duration) -> String {
        if duration >= .seconds(1) { return seconds(duration) + " s" }
        let microseconds = max(duration, .zero).components.attoseconds / 1_000_000_000_000
        if microseconds >= 1000 { return "\(microseconds / 1000).\(microseconds % 1000 / 100) ms" }
        return "\(microseconds) us"
    }

    /// Formats a share from 0 to 1 as a percentage with one decimal.
    static func percent(_ share: Double) -> String {
        let tenths = Int(min(max(share, 0), 1) * 1000)
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// Formats a rate per second, with one decimal below 100.
    static func rate(_ rate: Double) -> String {
        if rate >= 99.95 || rate == 0 { return String(Int(min(rate.rounded(), 1e9))) }
        let tenths = Int((rate * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// Formats a number with its noun: `1 turn`, `2 turns`.
    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    static func aligned(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// Fits a text into a fixed number of columns; `~` at the end shows that the text was cut off.
    static func column(_ text: String, _ width: Int) -> String {
        text.count > width ? text.prefix(width - 1) + "~" : padded(text, width)
    }
}
