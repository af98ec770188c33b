// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel

/// How a thread is scheduled; used where a thread lends its priority to another one.
package struct Scheduling: Equatable, Sendable {
    /// A class that shares the processors out.
    private static let normal: Int32 = 0

    private var schedule: rl_schedule

    /// The present scheduling of a thread; `nil` if the process has no such thread.
    package init?(of thread: Int32) {
        var schedule = rl_schedule()
        guard rl_schedule_read(thread, &schedule) == 0 else { return nil }
        self.schedule = schedule
    }

    /// The present scheduling of a thread of another process; `nil` if that process has no such thread, or belongs to
    /// another user.
    ///
    /// The caller makes sure that `process` is the number of the process that it means.
    package init?(of thread: Int32, in process: Int32) {
        var schedule = rl_schedule()
        guard rl_schedule_read_in(process, thread, &schedule) == 0 else { return nil }
        self.schedule = schedule
    }

    package static var ofCallingThread: Scheduling? { Scheduling(of: 0) }

    /// Whether the calling thread is scheduled as threads usually are, as far as that is known.
    package static var isUsualHere: Bool { rl_schedule_is_usual() }

    /// Whether the scheduling is the usual one of threads.
    package var isUsual: Bool { schedule.policy == Self.normal && schedule.nice == 0 }

    /// Leaves aside the mark for threads to be started, which is not part of what these loans compare.
    package static func == (left: Scheduling, right: Scheduling) -> Bool {
        left.schedule.policy == right.schedule.policy && left.schedule.nice == right.schedule.nice
            && left.schedule.priority == right.schedule.priority
    }

    /// Whether the kernel prefers this scheduling to `other`; `false` if either has a class without a rank, such as the
    /// deadline class.
    package func isBetter(than other: Scheduling) -> Bool { other.rank >= 0 && rank > other.rank }

    private var rank: Int32 { withUnsafePointer(to: schedule) { rl_schedule_rank($0) } }
    private var shares: Bool { withUnsafePointer(to: schedule) { rl_schedule_shares($0) } }
    private var isRealTime: Bool { schedule.priority > 0 }

    /// The scheduling of a thread that keeps its own and is lent `other`.
    package func raised(to other: Scheduling) -> Scheduling {
        guard other.isBetter(than: self) else { return self }
        var raised = other
        // In its own class, if a better nice value is all it takes.
        if other.shares, shares { raised.schedule.policy = schedule.policy }
        // A thread that the raised thread starts meanwhile would keep a real-time class for good.
        raised.schedule.resets = schedule.resets || (other.isRealTime && !isRealTime)
        return raised
    }

    /// Gives this scheduling to a thread that has `present`; returns whether the system did so.
    package func apply(to thread: Int32, insteadOf present: Scheduling) -> Bool {
        withUnsafePointer(to: present.schedule) { present in
            withUnsafePointer(to: schedule) { rl_schedule_change(thread, present, $0) == 0 }
        }
    }

    /// Runs a closure on the calling thread with at least this scheduling, as far as the system permits.
    ///
    /// If the closure changes the thread's scheduling itself, this change stays.
    package func atLeast<Result>(_ body: () -> Result) -> Result {
        guard let own = Self.ofCallingThread else { return body() }
        let raised = own.raised(to: self)
        guard raised != own, raised.apply(to: 0, insteadOf: own) else { return body() }
        defer { if Self.ofCallingThread == raised { _ = own.apply(to: 0, insteadOf: raised) } }
        return body()
    }
}
