// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel

/// Since when a callout was wanted, and which thread asked for it.
package struct LoopWait: Sendable, Equatable {
    /// When a timer was due, a source signalled, a block posted, a descriptor found ready; on the monotonic clock.
    package var since: Int64
    /// The thread that asked for it; 0 where there is none, or it is not known.
    package var thread: Int32 = 0
    /// A timer's tolerance in nanoseconds; the interval is 0 for a timer that fires once.
    package var tolerance: Int64 = 0
    package var interval: Int64 = 0
}

extension LoopWait {
    /// The wait of the signal with this number; `nil` if it came before recording began, or too many came since.
    init?(signal: UInt64) {
        var time: Int64 = 0
        var thread: Int32 = 0
        guard rl_find_signal(signal, &time, &thread) else { return nil }
        self.init(since: time, thread: thread)
    }

    /// The wait of a job; `nil` if it was queued before recording began, or too many were queued since.
    package init?(job: UnsafeRawPointer) {
        var time: Int64 = 0
        var thread: Int32 = 0
        guard rl_find_job(job, &time, &thread) else { return nil }
        self.init(since: time, thread: thread)
    }
}

/// What has ended a sleep.
package struct LoopWaking: Sendable, Equatable {
    /// The kinds of causes; `limit` is the end of a run's time.
    package enum Cause: UInt8, Sendable {
        case wakeUp, timer, descriptor, mainQueue, limit
    }

    package var cause: Cause
    /// When the thread went to sleep, on the monotonic clock.
    package var asleepSince: Int64
    /// When the wake-up was called; 0 if the cause is not a wake-up.
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
