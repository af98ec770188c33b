// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel

extension Duration {
    /// The duration in nanoseconds, or the nearest that 64 bits can hold (292 years).
    package var clampedNanoseconds: Int64 {
        let attoseconds = attoseconds
        if attoseconds < 0 {
            let positive = Duration(attoseconds: -max(attoseconds, -.max)).clampedNanoseconds
            return positive == .max ? .min : -positive
        }
        let high = UInt64(truncatingIfNeeded: attoseconds >> 64)
        let perNanosecond: UInt64 = 1_000_000_000
        // One division instruction; a division of 128-bit integers is a loop in a library. The quotient must fit.
        if high >= perNanosecond / 2 { return .max }
        return Int64(bitPattern: rl_divide(high, UInt64(truncatingIfNeeded: attoseconds), perNanosecond))
    }
}

extension Int64 {
    /// The difference, or `Int64.min` or `Int64.max` if it does not fit.
    func clampedSubtracting(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    /// The sum, or `Int64.min` or `Int64.max` if it does not fit.
    package func clampedAdding(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
