// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension RunLoop {
    /// A point in time on one of the three clocks, in nanoseconds.
    ///
    /// Instants of different clocks cannot be compared: doing so traps.
    ///
    /// Thread safety: a value; any thread.
    public struct Instant: InstantProtocol, Sendable {
        /// The clock that the instant is counted on.
        public let base: TimeBase
        /// Nanoseconds since the clock's own beginning.
        public let nanoseconds: Int64

        /// The instant `nanoseconds` after the beginning of `base`.
        public init(nanoseconds: Int64, base: TimeBase = .monotonic) {
            self.nanoseconds = nanoseconds
            self.base = base
        }

        /// The present instant on the monotonic clock of the machine.
        public static var now: Instant { now(.monotonic) }

        /// The present instant on `base`.
        ///
        /// - Complexity: one read of the clock, without a system call where the kernel offers that.
        public static func now(_ base: TimeBase) -> Instant {
            Instant(nanoseconds: SystemCalls.now(base), base: base)
        }

        /// The instant `duration` later; if it cannot be expressed, the last (or first) instant that can.
        public func advanced(by duration: Duration) -> Instant {
            Instant(nanoseconds: nanoseconds.clampedAdding(duration.clampedNanoseconds), base: base)
        }

        /// How long it is from this instant until `other`.
        ///
        /// - Precondition: both are counted on the same clock.
        public func duration(to other: Instant) -> Duration {
            requireSameBase(other)
            return .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
        }

        /// Whether `left` is earlier.
        ///
        /// - Precondition: both are counted on the same clock.
        public static func < (left: Instant, right: Instant) -> Bool {
            left.requireSameBase(right)
            return left.nanoseconds < right.nanoseconds
        }

        /// The instant `duration` later.
        public static func + (instant: Instant, duration: Duration) -> Instant {
            instant.advanced(by: duration)
        }

        /// The instant `duration` earlier.
        public static func - (instant: Instant, duration: Duration) -> Instant {
            instant.advanced(by: .zero - duration)
        }

        /// How long it is from `right` to `left`.
        ///
        /// - Precondition: both are counted on the same clock.
        public static func - (left: Instant, right: Instant) -> Duration { right.duration(to: left) }

        private func requireSameBase(_ other: Instant) {
            require(
                base == other.base,
                "An instant of the \(base) clock was compared with an instant of the \(other.base) clock: convert one first."
            )
        }
    }
}
