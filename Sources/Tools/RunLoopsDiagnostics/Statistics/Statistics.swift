// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// The counts of one loop's activity, and the times that it took.
    ///
    /// Thread safety: a value; any thread.
    public struct Statistics: Sendable, Equatable {
        /// The counts of one item's callouts, or of all callouts with the same label and kind.
        public struct Callouts: Sendable, Equatable {
            /// The kind.
            public var callee: Trace.Event.Callee
            /// The item's label, or the place where the item was made if it has no label.
            public var label: String
            /// The number of callouts.
            public var count: UInt64
            /// The total time of the callouts in nanoseconds, without sleeps in runs inside them.
            public var total: Int64
            /// The longest callout in nanoseconds, without sleeps in runs inside it.
            public var longest: Int64
            /// The longest callout since the previous report in nanoseconds, without sleeps in runs inside it; 0 if there was
            /// none.
            ///
            /// Reports are made by ``RunLoop/Metering/report()`` and at intervals. A call of ``RunLoop/Metering/readings()`` is
            /// not a report.
            public var longestLately: Int64 = 0
        }

        /// The number of turns that have begun.
        public var turns: UInt64 = 0
        /// The number of sleeps that have ended, by cause.
        public var wakings: [Trace.Event.Waking.Cause: UInt64] = [:]
        /// The number of callouts that have begun, by kind.
        public var callouts: [Trace.Event.Callee: UInt64] = [:]
        /// The time asleep in nanoseconds, including the present sleep.
        public var asleep: Int64 = 0
        /// The time awake in runs in nanoseconds, including the present stretch awake.
        public var busy: Int64 = 0
        /// The durations of stretches awake: each begins with the end of a sleep or the beginning of the outermost run,
        /// and ends with the next sleep or the end of the run.
        public var stretches = DurationHistogram()
        /// The delays of timers beyond their dates and tolerances.
        public var lateness = DurationHistogram()
        /// The waits of callouts other than timers, by kind: sources since they were signalled, blocks since they were
        /// posted, descriptors since they were found ready, jobs since they were queued.
        public var latency: [Trace.Event.Callee: DurationHistogram] = [:]
        /// The callouts that took the most time in total, at most 256 entries, the most expensive first.
        ///
        /// A kind and label that takes more than a 256th of the time of all callouts is always here, however many labels
        /// there are. An entry that was removed and is added again counts from its second addition.
        public var dearest: [Callouts] = []
        /// The number of callouts that are not counted in ``dearest``, because there were too many different callouts.
        public var notAssigned: UInt64 = 0
        /// The total time in nanoseconds of the callouts that ``notAssigned`` counts.
        public var timeNotAssigned: Int64 = 0

        /// Makes statistics in which all counts are 0.
        public init() {}

        /// The share of the time in runs for which the loop was awake, from 0 to 1; 0 if no run has taken time.
        public var busyShare: Double {
            let time = busy + asleep
            return time == 0 ? 0 : Double(busy) / Double(time)
        }

        /// Returns the counts since `earlier`, an earlier state of the same loop's statistics.
        ///
        /// The longest callouts in ``dearest`` cannot be subtracted: in the result they are still the longest since the
        /// loop was added.
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

    /// The callouts that are written to JSON: the 64 most expensive.
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
    /// The histogram as JSON: pairs of a step's index and its count for this library to read, and the usual figures for
    /// other readers.
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
