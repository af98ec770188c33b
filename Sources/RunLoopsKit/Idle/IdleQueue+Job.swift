public import RunLoops

extension IdleQueue {
    /// Which jobs go first.
    public enum Priority: Int, CaseIterable, Comparable, Sendable {
        /// After all others.
        case low
        /// In the middle.
        case normal
        /// Before all others.
        case high

        /// Whether `left` goes after `right`.
        public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
    }

    /// How much is done in one idle moment.
    public struct Limits: Hashable, Sendable {
        /// The most jobs; at least one.
        public var count: Int
        /// After how much time no further job is begun.
        public var time: Duration

        /// Limits by number and by time; the first that is reached ends the moment's work.
        public init(count: Int = .max, time: Duration = .milliseconds(4)) {
            self.count = count
            self.time = time
        }
    }

    /// How far the work has got since the queue was last empty.
    public struct Progress: Hashable, Sendable {
        /// Jobs that have run.
        public internal(set) var completed = 0
        /// Jobs that were added and not cancelled.
        public internal(set) var total = 0
        /// The share that has run, from 0 to 1; 1 when there was nothing to do.
        public var fraction: Double { total == 0 ? 1 : Double(completed) / Double(total) }
    }

    /// One job of the queue.
    public final class Job {
        /// Which jobs it goes before.
        public let priority: Priority
        /// When it runs even though the loop is not idle; `nil` for never.
        public let latest: RunLoop.Instant?
        private var body: (() -> Void)?
        private weak var queue: IdleQueue?

        init(_ priority: Priority, _ latest: RunLoop.Instant?, _ queue: IdleQueue, _ body: @escaping () -> Void) {
            self.priority = priority
            self.latest = latest
            self.queue = queue
            self.body = body
        }

        /// Whether it has neither begun nor been cancelled.
        public var isPending: Bool { body != nil }

        /// Takes the job back; whether it was in time.
        ///
        /// Its closure is released at once.
        @discardableResult
        public func cancel() -> Bool {
            guard take() != nil else { return false }
            queue?.jobWasCancelled()
            return true
        }

        func take() -> (() -> Void)? {
            defer { body = nil }
            return body
        }
    }
}
