// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.Watch {
    /// What a ``Watch`` reports.
    ///
    /// Thread safety: a value; any thread.
    public enum Event: Sendable {
        /// A callout that took longer than its kind may has returned.
        case slowCallout(SlowCallout)
        /// A run has ended.
        case runEnded(EndedRun)
    }

    /// A callout that took longer than its kind may.
    ///
    /// Thread safety: a value; any thread.
    public struct SlowCallout: Sendable, CustomStringConvertible {
        /// The loop that made the callout.
        public var loop: RunLoop.Identity
        /// The kind.
        public var callee: RunLoop.Trace.Event.Callee
        /// The item's label, or the place where a block was posted.
        public var label: String
        /// Where the item was made, as `Module/File.swift:12`; `nil` where the library has made the item.
        public var place: String?
        /// How long the callout took, without the sleeps of runs inside it.
        public var length: Duration
        /// How long the callout may take.
        public var limit: Duration
        /// How long the callout had been wanted before; `nil` where this is not known.
        public var waited: Duration?
        /// How many runs it was inside of.
        public var depth: Int
        /// How many callouts of the same kind and label were left out since the last report of such a callout.
        public var leftOut: Int

        /// One line.
        public var description: String {
            let made = place.flatMap { $0 == label ? nil : ", made at \($0)" } ?? ""
            let more = leftOut > 0 ? "; \(leftOut) more since the last" : ""
            return "slow \(callee) \(label)\(made): \(length.inMilliseconds), limit \(limit.inMilliseconds)\(more)"
        }
    }

    /// A run that has ended.
    ///
    /// Thread safety: a value; any thread.
    public struct EndedRun: Sendable {
        /// The loop that ran.
        public var loop: RunLoop.Identity
        /// The mode.
        public var mode: RunLoop.Mode
        /// What the run ended with.
        public var result: RunLoop.RunResult
        /// How long the run took, sleeps included.
        public var length: Duration
        /// How many runs were in progress, with this run itself.
        public var depth: Int
    }
}
