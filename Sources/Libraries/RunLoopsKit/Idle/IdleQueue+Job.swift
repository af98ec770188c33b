// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.IdleQueue {
    /// The priority of a job; jobs of higher priority run first.
    public enum Priority: Int, CaseIterable, Comparable, Sendable {
        /// Runs after the jobs of all other priorities.
        case low
        /// Runs after jobs of high priority and before jobs of low priority.
        case normal
        /// Runs before the jobs of all other priorities.
        case high

        /// Whether jobs of priority `left` run after jobs of priority `right`.
        public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
    }

    /// One job of an ``IdleQueue``.
    public final class Job {
        /// The priority of the job.
        public let priority: Priority
        /// The time from which on the job runs even if the loop is not idle; `nil` if it runs only when the loop is idle.
        public let latest: RunLoop.Instant?
        private let loop = RunLoop.current
        private var body: (() -> Void)?
        private weak var owner: (any IdleJobOwner)?

        init(_ priority: Priority, _ latest: RunLoop.Instant?, _ owner: any IdleJobOwner, _ body: @escaping () -> Void)
        {
            self.priority = priority
            self.latest = latest
            self.owner = owner
            self.body = body
        }

        /// Whether the job has neither begun nor been cancelled.
        public var isPending: Bool { body != nil }

        /// Cancels the job; returns `false` if it has begun or was cancelled before.
        ///
        /// The job's closure is released at once.
        @discardableResult
        public func cancel() -> Bool {
            loop.requireOwn("job of an idle queue")
            guard take() != nil else { return false }
            owner?.jobWasCancelled()
            return true
        }

        func take() -> (() -> Void)? {
            defer { body = nil }
            return body
        }
    }
}

/// The counter of the jobs, as far as a job has to know it.
protocol IdleJobOwner: AnyObject {
    func jobWasCancelled()
}
