// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.IdleQueue {
    /// The priority of a job; jobs of higher priority run first.
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

    /// One job of an ``IdleQueue``.
    public final class Job {
        /// The priority of the job.
        public let priority: Priority
        /// When the job runs even though the loop is not idle; `nil` for never.
        public let latest: RunLoop.Instant?
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
