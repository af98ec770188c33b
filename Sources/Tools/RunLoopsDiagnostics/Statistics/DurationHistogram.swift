// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// A histogram of durations from one nanosecond to five hours, which counts each duration with an error of at most
    /// an eighth.
    ///
    /// Each power of two is divided into eight steps of equal width, so that a percentile is at most 12.5 % too high,
    /// whatever its size. Durations below 16 ns are exact.
    ///
    /// Thread safety: a value; any thread.
    public struct DurationHistogram: Sendable, Equatable {
        /// The number of steps in each power of two, as an exponent of two.
        private static let stepBits = 3
        /// The exponent of the longest duration, 2^44 ns or five hours; a longer duration counts in the last step.
        private static let highestPower = 44
        static let stepCount = (highestPower - stepBits + 1) << stepBits

        /// The number of durations in each step.
        var counts: [UInt64] = Array(repeating: 0, count: stepCount)
        /// The sum of all durations, in nanoseconds.
        public internal(set) var sum: Int64 = 0
        /// The longest duration, in nanoseconds; 0 without durations.
        ///
        /// The value is exact, except in a result of ``since(_:)``: there it may be up to an eighth too high.
        public internal(set) var longest: Int64 = 0

        /// Makes an empty histogram.
        public init() {}

        /// The number of durations.
        ///
        /// - Complexity: O(1): the number of steps is fixed.
        public var count: UInt64 { counts.reduce(0, &+) }

        /// The mean duration in nanoseconds; 0 without durations.
        public var mean: Int64 {
            let count = Int64(clamping: count)
            return count == 0 ? 0 : sum / count
        }

        /// Counts a duration; a negative duration counts as 0.
        public mutating func add(nanoseconds: Int64) {
            counts[Self.step(nanoseconds)] += 1
            sum &+= max(nanoseconds, 0)
            longest = max(longest, nanoseconds)
        }

        /// Returns a duration in nanoseconds that the given share of all durations does not exceed: a share of 0.99
        /// gives the 99th percentile.
        ///
        /// Returns 0 without durations.
        ///
        /// The value is the upper end of a step, but never more than the longest duration.
        ///
        /// - Precondition: `share` is from 0 to 1.
        public func percentile(_ share: Double) -> Int64 {
            precondition((0...1).contains(share), "A percentile of \(share) was asked for: give a share from 0 to 1.")
            let total = count
            if total == 0 { return 0 }
            // At least one, so that the share 0 is the shortest.
            let wanted = max(1, UInt64((Double(total) * share).rounded(.up)))
            var seen: UInt64 = 0
            for (step, number) in counts.enumerated() {
                seen += number
                if seen >= wanted { return min(Self.upperEnd(step), longest) }
            }
            return longest
        }

        /// Returns a histogram of the durations that were counted since `earlier`, an earlier state of this histogram.
        public func since(_ earlier: DurationHistogram) -> DurationHistogram {
            var difference = self
            for step in counts.indices { difference.counts[step] &-= earlier.counts[step] }
            difference.sum &-= earlier.sum
            // The longest duration was measured before this interval.
            if longest == earlier.longest {
                let last = difference.counts.lastIndex { $0 > 0 }
                difference.longest = last.map { min(longest, Self.upperEnd($0)) } ?? 0
            }
            return difference
        }

        /// Returns the index of the step that contains a duration.
        @inline(__always)
        static func step(_ nanoseconds: Int64) -> Int {
            let value = UInt64(clamping: nanoseconds)
            if value < 1 << (stepBits + 1) { return Int(value) }
            let power = UInt64.bitWidth - 1 - value.leadingZeroBitCount
            if power >= highestPower { return stepCount - 1 }
            // The highest bit is known: the bits after it say which eighth.
            return (power - stepBits + 1) << stepBits + Int(value >> UInt64(power - stepBits)) & (1 << stepBits - 1)
        }

        /// Returns the longest duration that a step contains, in nanoseconds.
        static func upperEnd(_ step: Int) -> Int64 {
            if step < 1 << (stepBits + 1) { return Int64(step) }
            let power = step >> stepBits + stepBits - 1
            let eighth = Int64(step & (1 << stepBits - 1))
            return (Int64(1) << power) + (eighth + 1) << (power - stepBits) - 1
        }
    }
}
