// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import Synchronization

/// A histogram of durations that one thread adds to and any thread reads.
final class SharedHistogram: Sendable {
    private static let sum = RunLoop.DurationHistogram.stepCount
    private static let longest = sum + 1
    private let words = SharedWords(count: longest + 1)

    @inline(__always)
    func add(_ nanoseconds: Int64) {
        let length = UInt64(max(nanoseconds, 0))
        words.add(RunLoop.DurationHistogram.step(nanoseconds))
        words.add(Self.sum, length)
        if length > words[Self.longest] { words[Self.longest] = length }
    }

    func snapshot() -> RunLoop.DurationHistogram {
        var histogram = RunLoop.DurationHistogram()
        for index in 0..<Self.sum { histogram.counts[index] = words[index] }
        histogram.sum = Int64(bitPattern: words[Self.sum])
        histogram.longest = Int64(bitPattern: words[Self.longest])
        return histogram
    }
}
