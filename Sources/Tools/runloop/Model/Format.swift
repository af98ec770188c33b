// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Numbers and text in columns.
///
/// No Foundation, so the few formats that the tool needs are here.
enum Format {
    /// A fixed number of decimals, rounded towards zero: a time that has not come is not shown as come.
    static func seconds(_ duration: Duration, decimals: Int = 3) -> String {
        let (seconds, attoseconds) = duration.components
        let isNegative = seconds < 0 || attoseconds < 0
        let fraction = String(attoseconds.magnitude / 1_000_000_000)
        let digits = String(repeating: "0", count: 9 - fraction.count) + fraction
        return (isNegative ? "-" : "") + "\(seconds.magnitude).\(digits.prefix(decimals))"
    }

    /// A duration with the unit that suits it: `1.250 s`, `249.8 ms`, `13 us`.
    static func short(_ duration: Duration) -> String {
        if duration >= .seconds(1) { return seconds(duration) + " s" }
        let microseconds = max(duration, .zero).components.attoseconds / 1_000_000_000_000
        if microseconds >= 1000 { return "\(microseconds / 1000).\(microseconds % 1000 / 100) ms" }
        return "\(microseconds) us"
    }

    /// One decimal, of 100.
    static func percent(_ share: Double) -> String {
        let tenths = Int(min(max(share, 0), 1) * 1000)
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// A number a second, with a decimal where it is small.
    static func rate(_ rate: Double) -> String {
        if rate >= 99.95 || rate == 0 { return String(Int(min(rate.rounded(), 1e9))) }
        let tenths = Int((rate * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// `1 turn`, `2 turns`.
    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    static func aligned(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// A text in exactly so many columns; `~` says that it goes on.
    static func column(_ text: String, _ width: Int) -> String {
        text.count > width ? text.prefix(width - 1) + "~" : padded(text, width)
    }
}
