// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// How much one loop has done, and how long it took.
    ///
    /// Thread safety: a value; any thread.
    public struct Statistics: Sendable, Equatable {
        /// The counts of one item's callouts, or of all callouts with the same label and kind.
        public struct Callouts: Sendable, Equatable {
            /// The kind.
            public var callee: Trace.Event.Callee
            /// The item's label, or the place where the item was made.
            public var label: String
            /// How often the item was called.
            public var count: UInt64
            /// Nanoseconds spent in the callouts, without sleeps in runs inside them.
            public var total: Int64
            /// The longest callout in nanoseconds, counted in the same way.
            public var longest: Int64
        }

        /// How many turns were begun.
        public var turns: UInt64 = 0
        /// How many sleeps were ended, by the cause that ended them.
        public var wakings: [Trace.Event.Waking.Cause: UInt64] = [:]
        /// How many callouts were begun, by kind.
        public var callouts: [Trace.Event.Callee: UInt64] = [:]
        /// Nanoseconds asleep, in all sleeps that have ended.
        public var asleep: Int64 = 0
        /// Nanoseconds awake in runs, in all stretches that have ended.
        public var busy: Int64 = 0
        /// How long the loop was awake, from a sleep's end or the outermost run's beginning to the next sleep or the
        /// run's end.
        public var stretches = DurationHistogram()
        /// How much later than their dates timers fired.
        public var lateness = DurationHistogram()
        /// How long callouts of other kinds had waited, by kind: sources since they were signalled, blocks since they
        /// were posted, descriptors since the look that found them, jobs since they were queued.
        public var latency: [Trace.Event.Callee: DurationHistogram] = [:]
        /// The callouts that took the most time in all, at most 256 of them, the dearest first.
        public var dearest: [Callouts] = []
        /// How many callouts had no place among the dearest, because there were too many different callouts.
        public var notAssigned: UInt64 = 0

        /// Nothing done.
        public init() {}

        /// The share of the time in runs that the loop was awake, from 0 to 1; 0 if there was none.
        public var busyShare: Double {
            let time = busy + asleep
            return time == 0 ? 0 : Double(busy) / Double(time)
        }

        /// What was done since an earlier state of the same loop's statistics.
        ///
        /// The longest times are not subtracted: they are the longest of all time.
        public func since(_ earlier: Statistics) -> Statistics {
            struct Key: Hashable {
                let callee: Trace.Event.Callee
                let label: String
            }
            var before: [Key: Callouts] = [:]
            for entry in earlier.dearest { before[Key(callee: entry.callee, label: entry.label)] = entry }
            var difference = self
            difference.turns &-= earlier.turns
            difference.wakings.merge(earlier.wakings) { $0 &- $1 }
            difference.callouts.merge(earlier.callouts) { $0 &- $1 }
            difference.asleep &-= earlier.asleep
            difference.busy &-= earlier.busy
            difference.stretches = stretches.since(earlier.stretches)
            difference.lateness = lateness.since(earlier.lateness)
            difference.latency.merge(earlier.latency) { $0.since($1) }
            difference.notAssigned &-= earlier.notAssigned
            difference.dearest = dearest.compactMap { entry in
                guard let old = before[Key(callee: entry.callee, label: entry.label)] else { return entry }
                if old.count == entry.count { return nil }
                var entry = entry
                entry.count &-= old.count
                entry.total &-= old.total
                return entry
            }
            difference.dearest.sort { $0.total > $1.total }
            return difference
        }
    }
}
