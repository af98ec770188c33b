// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import Foundation
internal import RunLoops

// Foundation counts in seconds, as floating point numbers, from a date of the wall clock; the loop counts nanoseconds
// of the monotonic clock.

extension Duration {
    /// Makes a duration of this many seconds, limited to what a clock can count.
    ///
    /// - Precondition: `seconds` is a number.
    init(seconds: TimeInterval) {
        require(!seconds.isNaN, "A time interval was not a number: check the computation that it comes from.")
        self = .nanoseconds(Int64(clampingNanoseconds: seconds))
    }

    /// Makes the duration from now until `date`; negative if the date has passed.
    init(until date: Date) { self.init(seconds: date.timeIntervalSinceNow) }
}

extension Int64 {
    /// Makes the nearest number of nanoseconds to this many seconds, or the smallest or largest number if it does not
    /// fit.
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
    /// Makes the date of the wall clock at an instant of the monotonic clock, if both clocks continue as they run now.
    init(_ instant: RunLoops.RunLoop.Instant) {
        let left = instant.nanoseconds.clampedAdding(-instant.clock.threadNow)
        self.init(timeIntervalSinceNow: TimeInterval(left) / 1e9)
    }
}

extension RunLoops.RunLoop.Instant {
    /// Makes the instant that is `duration` from now, on the monotonic clock or on a test's virtual clock.
    init(after duration: Duration) {
        self.init(nanoseconds: RunLoops.RunLoop.ClockID.monotonic.threadNow.clampedAdding(duration.clampedNanoseconds))
    }
}
#endif
