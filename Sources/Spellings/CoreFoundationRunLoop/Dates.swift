// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CoreFoundation
internal import RunLoops

/// Core Foundation's dates and intervals, in seconds, and the loop's, in nanoseconds.
///
/// As in Core Foundation, a date means the moment on the monotonic clock that it had when it was given: a change of the
/// wall clock does not move a timer.
enum Dates {
    /// Core Foundation's own limits: later dates and longer waits count as these.
    static let latest: CFAbsoluteTime = 4_039_289_856
    static let longestWait: CFTimeInterval = 504_911_232

    /// The date, at most the latest.
    static func bounded(_ date: CFAbsoluteTime) -> CFAbsoluteTime { date > latest ? latest : date }

    /// The moment of `date`; the present one for a date that has passed, and for one that is not a number.
    static func instant(of date: CFAbsoluteTime) -> RunLoop.Instant {
        let wait = date - CFAbsoluteTimeGetCurrent()
        return RunLoop.Instant.now.advanced(by: .nanoseconds(wait > 0 ? Int64(min(wait, longestWait) * 1e9) : 0))
    }

    static func date(of instant: RunLoop.Instant) -> CFAbsoluteTime {
        let wait = instant.nanoseconds - RunLoop.Instant.now(instant.base).nanoseconds
        return CFAbsoluteTimeGetCurrent() + Double(wait) / 1e9
    }

    /// The interval of a timer; `nil` for a timer that fires once, which is what an interval of zero or less means.
    static func interval(_ seconds: CFTimeInterval) -> Duration? {
        seconds > 0 ? .nanoseconds(max(1, Int64(min(seconds, longestWait) * 1e9))) : nil
    }

    static func seconds(_ duration: Duration) -> CFTimeInterval {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }
}
#endif
