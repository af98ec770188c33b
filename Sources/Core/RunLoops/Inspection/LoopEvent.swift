// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel

/// An event of a loop, reported when it happens, for recorders and diagnostics.
package enum LoopEvent: Sendable {
    /// A run begins in the mode.
    case runBegins(RunLoop.Mode)
    /// A run reaches an activity, whether or not an observer asks for it.
    case passes(RunLoop.Activities)
    /// A callout of this kind begins; the label is the item's, or says where the block was added.
    case calls(Callee, ItemLabel)
    /// The time on the monotonic clock at which the callout that has just begun became ready: a timer was due, a source
    /// signalled, a block posted or a descriptor found ready.
    ///
    /// Reported before the user's closure, if the time is known. `thread` is the thread that asked for the callout; 0
    /// if there is none or it is not known. `tolerance` and `interval` are those of a timer, in nanoseconds; the
    /// interval is 0 for a timer that fires once.
    case wanted((since: Int64, thread: Int32, tolerance: Int64, interval: Int64))
    /// The innermost callout has returned.
    case returns
    /// The thread goes to sleep; all earlier events have been reported.
    case sleeps
    /// The thread is awake again, after a sleep since an instant of the monotonic clock; reported before the observers
    /// are called.
    ///
    /// `calledAt` and `thread` are the time and the thread of the call that woke the loop; 0 for another cause, or if
    /// the thread is not known.
    case wakes((cause: WakeCause, asleepSince: Int64, calledAt: Int64, thread: Int32))
    /// The innermost run ends.
    case runEnds(RunLoop.RunResult)

    /// Kinds of callouts, and of items.
    package enum Callee: String, Sendable {
        case observer, block, source, descriptor, timer
        case mainQueue = "main queue"
        /// A job that was put into its queue separately, and runs inside another callout.
        case job
    }

    /// The causes of the end of a sleep; `limit` is the end of a run's time.
    package enum WakeCause: UInt8, Sendable {
        case wakeUp, timer, descriptor, mainQueue, limit
    }
}

/// The time at which a callout became ready, and the thread that asked for it: what ``LoopEvent/wanted(_:)`` reports.
struct LoopWait {
    var since: Int64
    var thread: Int32 = 0
    var tolerance: Int64 = 0
    var interval: Int64 = 0

    var event: LoopEvent { .wanted((since, thread, tolerance, interval)) }
}

extension LoopWait {
    /// Finds when and by which thread the signal with this number was given; `nil` if the signal was given before
    /// recording began, or too many signals were given since.
    init?(signal: UInt64) {
        var time: Int64 = 0
        var thread: Int32 = 0
        guard rl_find_signal(signal, &time, &thread), thread != 0 else { return nil }
        self.init(since: time, thread: thread)
    }

    /// The time at which the signal with this number was given; `nil` if that was before recording began.
    ///
    /// Once the process has given 1,024 later signals, the result is the time of one of these, which is a little later.
    /// After 2³⁰ later signals the result is `nil`.
    static func began(signal: UInt64) -> Int64? {
        var time: Int64 = 0
        var thread: Int32 = 0
        return rl_find_signal(signal, &time, &thread) ? time : nil
    }

    /// Finds when and by which thread a job was queued; `nil` if it was queued before recording began, or too many jobs
    /// were queued since.
    init?(job: UnsafeRawPointer) {
        var time: Int64 = 0
        var thread: Int32 = 0
        guard rl_find_job(job, &time, &thread) else { return nil }
        self.init(since: time, thread: thread)
    }
}
