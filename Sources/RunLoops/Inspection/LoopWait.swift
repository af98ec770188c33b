internal import CLinuxKernel

/// Since when a callout was wanted, and by whom.
package struct LoopWait: Sendable, Equatable {
    /// When a timer was due, a source signalled, a block posted, a descriptor found ready; on the monotonic clock.
    package var since: Int64
    /// The thread that asked for it; 0 where there is none, or nobody knows.
    package var thread: Int32 = 0
    /// Of a timer, in nanoseconds; an interval of 0 for one that fires once.
    package var tolerance: Int64 = 0
    package var interval: Int64 = 0
}

extension LoopWait {
    /// That of the signal with this number; `nil` if it came before somebody recorded, or too many came since.
    init?(signal: UInt64) {
        var time: Int64 = 0
        var thread: Int32 = 0
        guard rl_find_signal(signal, &time, &thread) else { return nil }
        self.init(since: time, thread: thread)
    }

    /// That of a job; `nil` if it was queued before somebody recorded, or too many were since.
    package init?(job: UnsafeRawPointer) {
        var time: Int64 = 0
        var thread: Int32 = 0
        guard rl_find_job(job, &time, &thread) else { return nil }
        self.init(since: time, thread: thread)
    }
}

/// What has ended a sleep.
package struct LoopWaking: Sendable, Equatable {
    /// Kinds of what can; `limit` is the end of a run's time.
    package enum Cause: UInt8, Sendable {
        case wakeUp, timer, port, mainQueue, limit
    }

    package var cause: Cause
    /// When the thread went to sleep, on the monotonic clock.
    package var asleepSince: Int64
    /// Of a wake-up: when it was called; otherwise 0.
    package var calledAt: Int64 = 0
    /// Of a wake-up: the thread that called it; 0 where nobody knows.
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
