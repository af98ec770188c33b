// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel

/// An event of a loop, reported when it happens, for recorders and diagnostics.
package enum LoopEvent: Sendable {
    /// A run begins in the mode.
    case runBegins(RunLoop.Mode)
    /// A run passes a point, with or without an observer of it.
    case passes(RunLoop.Activities)
    /// A callout begins; with the item's label, or the place where a block was added.
    case calls(Callee, ItemLabel)
    /// The time at which the callout that has just begun became ready.
    ///
    /// Reported before the user's closure, if the time is known.
    case wanted(LoopWait)
    /// The innermost callout has returned.
    case returns
    /// The thread goes to sleep; all earlier events have been reported.
    case sleeps
    /// The thread is awake again; reported before the observers are called.
    case wakes(LoopWaking)
    /// The innermost run ends.
    case runEnds(RunLoop.RunResult)

    /// Kinds of callouts.
    package enum Callee: String, Sendable {
        case observer, block, source, descriptor, timer
        case mainQueue = "main queue"
        /// A job that was queued by itself and runs inside another callout.
        case job
    }
}

/// The time at which a callout became ready, and the thread that asked for it.
package struct LoopWait: Sendable, Equatable {
    /// The time at which a timer was due, a source signalled, a block posted or a descriptor found ready; on the
    /// monotonic clock.
    package var since: Int64
    /// The thread that asked for it; 0 if there is none or it is not known.
    package var thread: Int32 = 0
    /// A timer's tolerance in nanoseconds; the interval is 0 for a timer that fires once.
    package var tolerance: Int64 = 0
    package var interval: Int64 = 0
}

extension LoopWait {
    /// The wait of the signal with this number; `nil` if the signal was given before recording began, or too many were
    /// given since.
    init?(signal: UInt64) {
        var time: Int64 = 0
        var thread: Int32 = 0
        guard rl_find_signal(signal, &time, &thread), thread != 0 else { return nil }
        self.init(since: time, thread: thread)
    }

    /// The time at which the signal with this number was given; `nil` if that was before recording began.
    ///
    /// After 1,024 later signals of the process it is the time of one of these, a little later. After 2³⁰ it is `nil`.
    static func began(signal: UInt64) -> Int64? {
        var time: Int64 = 0
        var thread: Int32 = 0
        return rl_find_signal(signal, &time, &thread) ? time : nil
    }

    /// The wait of a job; `nil` if it was queued before recording began, or too many were queued since.
    package init?(job: UnsafeRawPointer) {
        var time: Int64 = 0
        var thread: Int32 = 0
        guard rl_find_job(job, &time, &thread) else { return nil }
        self.init(since: time, thread: thread)
    }
}

/// The cause of the end of a sleep.
package struct LoopWaking: Sendable, Equatable {
    /// The kinds of causes; `limit` is the end of a run's time.
    package enum Cause: UInt8, Sendable {
        case wakeUp, timer, descriptor, mainQueue, limit
    }

    package var cause: Cause
    /// The time at which the thread went to sleep, on the monotonic clock.
    package var asleepSince: Int64
    /// The time of the call of the wake-up; 0 if the cause is not a wake-up.
    package var calledAt: Int64 = 0
    /// The thread that called the wake-up; 0 where it is not known.
    package var thread: Int32 = 0

    init(_ cause: Cause, asleepSince: Int64) {
        self.cause = cause
        self.asleepSince = asleepSince
    }

    init(wakeUp date: Int64, asleepSince: Int64) {
        cause = .wakeUp
        self.asleepSince = asleepSince
        calledAt = date
        thread = rl_find_waker(date)
    }
}
