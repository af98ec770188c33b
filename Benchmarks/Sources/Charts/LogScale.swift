// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Values onto a line on which each step is ten times the one before.
public struct LogScale: Sendable {
    /// Powers of ten that bound it.
    private let lowest: Int
    private let highest: Int
    private let start: Double
    private let length: Double

    /// Wide enough for all `values`, which are above zero; `length` may be negative, to go upwards.
    public init(_ values: [Double], start: Double, length: Double) {
        let logs = values.filter { $0 > 0 }.map(log10)
        lowest = Int(floor(logs.min() ?? 0))
        highest = max(lowest + 1, Int(ceil(logs.max() ?? 1)))
        self.start = start
        self.length = length
    }

    public func place(_ value: Double) -> Double {
        start + (log10(value) - Double(lowest)) / Double(highest - lowest) * length
    }

    /// The powers of ten.
    public var ticks: [Double] { (lowest...highest).map { pow(10, Double($0)) } }
}

/// Nanoseconds as people say them.
public func timeText(_ nanoseconds: Double) -> String {
    for (unit, size) in [("s", 1e9), ("ms", 1e6), ("µs", 1e3)] where nanoseconds >= size {
        return significant(nanoseconds / size) + " " + unit
    }
    return significant(nanoseconds) + " ns"
}

/// Three digits that count.
private func significant(_ value: Double) -> String {
    if value >= 100 || value == value.rounded() { return String(Int(value.rounded())) }
    let factor = value >= 10 ? 10.0 : 100.0
    return String((value * factor).rounded() / factor)
}
