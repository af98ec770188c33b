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
            /// The longest callout in nanoseconds since the report before; 0 if there was none.
            ///
            /// A report is one of ``RunLoop/Metering/report()`` and of the reports at intervals. ``RunLoop/Metering/readings()``
            /// is none.
            public var longestLately: Int64 = 0
        }

        /// How many turns were begun.
        public var turns: UInt64 = 0
        /// How many sleeps were ended, by the cause that ended them.
        public var wakings: [Trace.Event.Waking.Cause: UInt64] = [:]
        /// How many callouts were begun, by kind.
        public var callouts: [Trace.Event.Callee: UInt64] = [:]
        /// Nanoseconds asleep, the sleep that goes on included.
        public var asleep: Int64 = 0
        /// Nanoseconds awake in runs, the stretch that goes on included.
        public var busy: Int64 = 0
        /// How long the loop was awake, from a sleep's end or the outermost run's beginning to the next sleep or the
        /// run's end.
        public var stretches = DurationHistogram()
        /// How much later timers fired than their dates and tolerances allow.
        public var lateness = DurationHistogram()
        /// How long callouts of other kinds had waited, by kind: sources since they were signalled, blocks since they
        /// were posted, descriptors since the look that found them, jobs since they were queued.
        public var latency: [Trace.Event.Callee: DurationHistogram] = [:]
        /// The callouts that took the most time in all, at most 256 of them, the dearest first.
        ///
        /// A kind and label that takes more than a 256th of the time of all callouts is always here, however many labels
        /// there are. An entry that had to leave, and has come back, counts from its return.
        public var dearest: [Callouts] = []
        /// How many callouts are not among the dearest, because there were too many different callouts.
        public var notAssigned: UInt64 = 0
        /// Nanoseconds spent in the callouts that ``notAssigned`` counts.
        public var timeNotAssigned: Int64 = 0

        /// Nothing done.
        public init() {}

        /// The share of the time in runs that the loop was awake, from 0 to 1; 0 if there was none.
        public var busyShare: Double {
            let time = busy + asleep
            return time == 0 ? 0 : Double(busy) / Double(time)
        }

        /// Returns the counts since `earlier`, an earlier state of the same loop's statistics.
        ///
        /// The longest callouts of ``dearest`` are not subtracted: they are the longest of all time.
        public func since(_ earlier: Statistics) -> Statistics {
            let before = Dictionary(earlier.dearest.map { ("\($0.callee) \($0.label)", $0) }) { $1 }
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
            difference.timeNotAssigned &-= earlier.timeNotAssigned
            difference.dearest = dearest.compactMap { entry in
                guard let old = before["\(entry.callee) \(entry.label)"] else { return entry }
                if old.count == entry.count { return nil }
                // It has left in between, and counts from its return.
                if old.count > entry.count { return entry }
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

extension RunLoop.Statistics: JSONRecord {
    static var fields: [JSONField<Self>] {
        [
            .init("turns", \.turns, isRequired: true), .init("asleep", \.asleep), .init("busy", \.busy),
            .init("wakings", \.wakings), .init("callouts", \.callouts),
            .init("stretches", \.stretches, isRequired: true), .init("lateness", \.lateness, isRequired: true),
            .init("latency", \.latency), .init("dearest", \.sent), .init("notAssigned", \.notAssigned),
            .init("timeNotAssigned", \.timeNotAssigned),
        ]
    }

    /// Sixty-four are sent: what is looked for is among the dearest.
    private var sent: [Callouts] {
        get { Array(dearest.prefix(64)) }
        set { dearest = newValue }
    }
}

extension RunLoop.Statistics.Callouts: JSONRecord {
    init() { self.init(callee: .block, label: "", count: 0, total: 0, longest: 0) }

    static var fields: [JSONField<Self>] {
        [
            .init("kind", \.callee, isRequired: true), .init("label", \.label), .init("count", \.count),
            .init("total", \.total), .init("longest", \.longest), .init("longestLately", \.longestLately),
        ]
    }
}

extension RunLoop.DurationHistogram: JSONConvertible {
    /// Pairs of a step's number and its count for us to read, and what a step's number hides for anybody else.
    var asJSON: JSON? {
        let steps = counts.enumerated().filter { $0.element > 0 }
        return [
            "count": .integer(Int64(clamping: count)), "sum": .integer(sum), "longest": .integer(longest),
            "median": .integer(percentile(0.5)), "most99": .integer(percentile(0.99)),
            "steps": .array(steps.flatMap { [.integer(Int64($0.offset)), .integer(Int64(clamping: $0.element))] }),
        ]
    }

    init?(json: JSON) {
        self.init()
        guard let steps = json["steps"]?.array else { return nil }
        sum = json["sum"]?.integer ?? 0
        longest = json["longest"]?.integer ?? 0
        for index in stride(from: 0, to: steps.count - 1, by: 2) {
            guard let step = steps[index].integer.flatMap(Int.init(exactly:)), counts.indices.contains(step) else {
                return nil
            }
            // Bounded, so that no sum of them overflows.
            counts[step] = UInt64(min(max(0, steps[index + 1].integer ?? 0), 1 << 48))
        }
    }
}
