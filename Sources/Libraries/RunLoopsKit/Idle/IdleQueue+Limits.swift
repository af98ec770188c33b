// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.IdleQueue {
    /// How much an ``IdleQueue`` does in one idle moment.
    public struct Limits: Hashable, Sendable {
        /// The maximum number of jobs; at least one.
        public var count: Int
        /// The time after which no further job is begun.
        public var time: Duration

        /// Makes limits by number and by time; the limit that is reached first ends the moment's work.
        public init(count: Int = .max, time: Duration = .milliseconds(4)) {
            self.count = count
            self.time = time
        }
    }

    /// The progress of an ``IdleQueue`` since the queue was last empty.
    public struct Progress: Hashable, Sendable {
        /// Jobs that have run.
        public internal(set) var completed = 0
        /// Jobs that were added and not cancelled.
        public internal(set) var total = 0
        /// The share of the jobs that have run, from 0 to 1; 1 if there was no job.
        public var fraction: Double { total == 0 ? 1 : Double(completed) / Double(total) }
    }
}
