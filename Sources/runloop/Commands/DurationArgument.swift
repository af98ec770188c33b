// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A duration as it is typed: `3s`, `500ms`, `1.5s`, `2m`.
enum DurationArgument {
    /// Units and their length in nanoseconds; the longer names first, for `ms` ends in `s`.
    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ]

    /// A decimal number and a unit.
    ///
    /// Exact, in integers; nil for anything else, and for what does not fit in 64 bits of nanoseconds (292 years).
    static func parse(_ text: String) -> Duration? {
        guard let unit = units.first(where: { text.hasSuffix($0.name) }) else { return nil }
        let parts = text.dropLast(unit.name.count).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let first = parts.first, isDigits(first), let whole = Int64(first) else { return nil }
        let (product, isTooLong) = whole.multipliedReportingOverflow(by: unit.nanoseconds)
        guard !isTooLong else { return nil }
        var nanoseconds = product
        if parts.count == 2 {
            guard isDigits(parts[1]) else { return nil }
            var weight = unit.nanoseconds
            for digit in parts[1].utf8 {
                // Digits finer than a nanosecond count for nothing.
                let part = weight * Int64(digit - UInt8(ascii: "0")) / 10
                let (sum, isTooLong) = nanoseconds.addingReportingOverflow(part)
                guard !isTooLong else { return nil }
                nanoseconds = sum
                weight /= 10
            }
        }
        return .nanoseconds(nanoseconds)
    }

    private static func isDigits(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }
}
