// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension RunLoop {
    /// A point in time on one of the three clocks, in nanoseconds.
    ///
    /// Instants of different clocks have no order and are never equal: comparing them by `<` traps. ``converted(to:)`` converts
    /// an instant to another clock, and the distance of two instants is computed by such a conversion.
    ///
    /// Thread safety: a value; any thread.
    public struct Instant: InstantProtocol, Sendable {
        /// The clock that the instant is counted on.
        public let clock: ClockID
        /// Nanoseconds since the epoch of the clock.
        public let nanoseconds: Int64

        /// Makes the instant `nanoseconds` after the epoch of `clock`.
        public init(nanoseconds: Int64, clock: ClockID = .monotonic) {
            self.nanoseconds = nanoseconds
            self.clock = clock
        }

        /// The present instant on the monotonic clock of the machine; where the calling thread's loop has a virtual time,
        /// as in a test, the present instant of that loop.
        public static var now: Instant { now(.monotonic) }

        /// The present instant on `clock`; where the calling thread's loop has a virtual time, the loop's present instant.
        ///
        /// - Complexity: one read of the clock, usually without a system call.
        public static func now(_ clock: ClockID) -> Instant {
            Instant(nanoseconds: clock.threadNow, clock: clock)
        }

        /// Returns the instant `duration` later, or the last (or first) possible instant if the result does not fit.
        public func advanced(by duration: Duration) -> Instant {
            Instant(nanoseconds: nanoseconds.clampedAdding(duration.clampedNanoseconds), clock: clock)
        }

        /// Returns the same point in time on another clock, computed from the present readings of both clocks.
        ///
        /// Both instants are equally far from now. If the machine is suspended later, or its date is changed, they are
        /// no longer the same point in time.
        /// - Complexity: one read of each clock; none if `clock` is the clock of this instant.
        public func converted(to clock: ClockID) -> Instant {
            if clock == self.clock { return self }
            // The first and the last instant are the limits of what can be represented; they stay as they are on every
            // clock.
            if nanoseconds == .min || nanoseconds == .max { return Instant(nanoseconds: nanoseconds, clock: clock) }
            let distance = Duration.nanoseconds(nanoseconds) - .nanoseconds(self.clock.threadNow)
            return Instant(nanoseconds: clock.threadNow, clock: clock).advanced(by: distance)
        }

        /// The duration from this instant to `other`.
        ///
        /// If `other` is counted on another clock, it is converted first, see ``converted(to:)``.
        public func duration(to other: Instant) -> Duration {
            .nanoseconds(other.converted(to: clock).nanoseconds) - .nanoseconds(nanoseconds)
        }

        /// Whether `left` is earlier.
        ///
        /// - Precondition: both are counted on the same clock. The operator does not convert, because a conversion
        ///   reads both clocks, and two comparisons could contradict each other.
        public static func < (left: Instant, right: Instant) -> Bool {
            require(
                left.clock == right.clock,
                "An instant of the \(left.clock) clock was compared with one of the \(right.clock) clock: give right.converted(to: .\(left.clock))."
            )
            return left.nanoseconds < right.nanoseconds
        }

        /// The instant `duration` later.
        public static func + (instant: Instant, duration: Duration) -> Instant {
            instant.advanced(by: duration)
        }

        /// The instant `duration` earlier.
        public static func - (instant: Instant, duration: Duration) -> Instant {
            // Without a negated duration, which would overflow for the longest negative one.
            let nanoseconds = instant.nanoseconds.clampedSubtracting(duration.clampedNanoseconds)
            return Instant(nanoseconds: nanoseconds, clock: instant.clock)
        }

        /// The duration from `right` to `left`.
        ///
        /// If they are counted on different clocks, `left` is converted first, see ``converted(to:)``.
        public static func - (left: Instant, right: Instant) -> Duration { right.duration(to: left) }
    }
}
