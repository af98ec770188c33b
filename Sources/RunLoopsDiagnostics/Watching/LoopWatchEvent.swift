public import RunLoops

extension RunLoop.Watch {
    /// What a ``Watch`` reports.
    ///
    /// Thread safety: a value; any thread.
    public enum Event: Sendable {
        /// A callout has returned that took longer than its kind may.
        case slowCallout(SlowCallout)
        /// A run has ended.
        case runEnded(EndedRun)
    }

    /// A callout that took longer than its kind may.
    ///
    /// Thread safety: a value; any thread.
    public struct SlowCallout: Sendable, CustomStringConvertible {
        /// Which loop called it.
        public var loop: RunLoop.Identity
        /// The kind.
        public var callee: RunLoop.Trace.Event.Callee
        /// The item's label, or the place where a block was posted.
        public var label: String
        /// Where it was made, as `Module/File.swift:12`; `nil` where the library has made it.
        public var place: String?
        /// How long it took, without the sleeps of runs inside it.
        public var length: Duration
        /// How long it may take.
        public var limit: Duration
        /// How long it had been wanted before; `nil` where nobody knows.
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
        /// Which loop ran.
        public var loop: RunLoop.Identity
        /// The mode.
        public var mode: RunLoop.Mode
        /// What it ended with.
        public var result: RunLoop.RunResult
        /// How long it took, sleeps included.
        public var length: Duration
        /// How many runs it was inside of; itself counts as one.
        public var depth: Int
    }
}
