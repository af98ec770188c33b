// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import Foundation
internal import RunLoops

// Foundation counts in seconds, as floating point numbers, from a date of the wall clock; the loop counts nanoseconds
// of the monotonic clock.

extension Duration {
    /// The duration of that many seconds, within what a clock can count.
    ///
    /// - Precondition: `seconds` is a number.
    init(seconds: TimeInterval) {
        require(!seconds.isNaN, "A time interval was not a number: check the computation that it comes from.")
        self = .nanoseconds(Int64(clampingNanoseconds: seconds))
    }

    /// The time from now until `date`; negative if it has passed.
    init(until date: Date) { self.init(seconds: date.timeIntervalSinceNow) }
}

extension Int64 {
    /// The nanoseconds of that many seconds, rounded to the nearest, or the last value that there is.
    fileprivate init(clampingNanoseconds seconds: TimeInterval) {
        let nanoseconds = (seconds * 1e9).rounded()
        if nanoseconds >= 0x1p63 {
            self = .max
        } else if nanoseconds <= -0x1p63 {
            self = .min
        } else {
            self = Int64(nanoseconds)
        }
    }
}

extension Date {
    /// The date of the wall clock at that instant of the monotonic clock, as far as both go on as they do now.
    init(_ instant: RunLoops.RunLoop.Instant) {
        let left = instant.nanoseconds.clampedAdding(-instant.base.threadNow)
        self.init(timeIntervalSinceNow: TimeInterval(left) / 1e9)
    }
}

extension RunLoops.RunLoop.Instant {
    /// The instant of the monotonic clock, or of a test's, when `duration` has passed from now.
    init(after duration: Duration) {
        self.init(nanoseconds: RunLoops.RunLoop.TimeBase.monotonic.threadNow.clampedAdding(duration.clampedNanoseconds))
    }
}
#endif
