// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CoreFoundation
internal import RunLoops

/// Converts Core Foundation's dates and intervals, in seconds, to the loop's, in nanoseconds, and back.
///
/// As in Core Foundation, a date is converted to a moment of the monotonic clock when it is given: a later change of
/// the wall clock does not move a timer.
enum Dates {
    /// Core Foundation's own limits: later dates and longer waits count as these.
    static let latest: CFAbsoluteTime = 4_039_289_856
    static let maxWait: CFTimeInterval = 504_911_232

    /// Returns the date, or the latest date if that is earlier.
    static func bounded(_ date: CFAbsoluteTime) -> CFAbsoluteTime { date > latest ? latest : date }

    /// Returns the moment of `date`; the present moment if the date has passed or is not a number.
    static func instant(of date: CFAbsoluteTime) -> RunLoop.Instant {
        let wait = date - CFAbsoluteTimeGetCurrent()
        return RunLoop.Instant.now.advanced(by: .nanoseconds(wait > 0 ? Int64(min(wait, maxWait) * 1e9) : 0))
    }

    static func date(of instant: RunLoop.Instant) -> CFAbsoluteTime {
        let wait = instant.nanoseconds - RunLoop.Instant.now(instant.clock).nanoseconds
        return CFAbsoluteTimeGetCurrent() + Double(wait) / 1e9
    }

    /// Returns the interval of a repeating timer; `nil` if `seconds` is zero or less, which means a timer that fires
    /// once.
    static func interval(_ seconds: CFTimeInterval) -> Duration? {
        seconds > 0 ? .nanoseconds(max(1, Int64(min(seconds, maxWait) * 1e9))) : nil
    }

    static func seconds(_ duration: Duration) -> CFTimeInterval {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }
}
#endif
