// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Empty without the trait: the protocol is no public interface of Swift 6.3 yet, and may change.
#if TaskSleep
#if compiler(<6.3)
#error("The trait TaskSleep needs Swift 6.3 or later: an older runtime does not ask an executor for a sleep.")
#endif

@_spi(ExperimentalScheduling) public import _Concurrency
internal import CRunLoopsKernel
public import RunLoops
internal import Synchronization

/// `Task.sleep` of tasks that prefer this executor is a timer of its loop, which fires in the executor's mode, on the
/// loop's clock: in a manual loop an hour of sleep takes no time.
@_spi(ExperimentalScheduling)
extension RunLoop.Executor: SchedulingExecutor {
    /// Runs a job after a delay.
    ///
    /// Called by Swift: the job ends the sleep of a task. If the loop's thread ends first, the runtime's own timer takes the
    /// job over, and the task that sleeps traps when it comes back to this executor.
    public func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
        let reference = DelayedJob(job)
        guard let delay = delay as? Duration else {
            // A clock of another unit knows alone how long this is.
            Task.detached {
                try? await clock.sleep(for: delay, tolerance: tolerance)
                reference.run()
            }
            return
        }
        // Swift's continuous clock is the boot-time clock, which goes on while the machine is suspended.
        let clockID: RunLoop.ClockID = clock is ContinuousClock ? .boottime : .monotonic
        let deadline = RunLoop.Instant(nanoseconds: loop.now(clockID), clock: clockID).advanced(by: delay)
        let sleep = LoopSleep(reference, deadline, loop)
        let timer = RunLoop.Timer.starting(
            at: deadline, tolerance: tolerance as? Duration ?? .zero, label: "Task.sleep"
        ) { _ in sleep.end() }
        loop.add(timer, in: mode)
    }
}

/// A job that is run once, by whoever waits for its time.
private struct DelayedJob: @unchecked Sendable {
    private let pointer: UnsafeMutableRawPointer

    // SAFETY: UnownedJob is one pointer. The runtime keeps the job until it is run, which is once.
    init(_ job: consuming ExecutorJob) { pointer = unsafeBitCast(UnownedJob(job), to: UnsafeMutableRawPointer.self) }

    /// Runs the job on this thread.
    ///
    /// The job resumes the continuation of the task that sleeps, so the task moves to its executor.
    func run() { rl_run_job_here(pointer) }

    /// Has the runtime's own timer run the job.
    func leave(for delay: Duration) { rl_enqueue_globally(pointer, UInt64(max(0, delay.clampedNanoseconds))) }
}

/// A job that a timer of a loop runs.
///
/// The timer alone keeps this object: a loop that ends releases it without a call.
private final class LoopSleep: Sendable {
    private let job: DelayedJob
    private let deadline: RunLoop.Instant
    private let loop: RunLoop
    /// Relaxed: the loop's thread writes it, and the end of the last reference reads it.
    private let hasEnded = Atomic(false)

    init(_ job: DelayedJob, _ deadline: RunLoop.Instant, _ loop: RunLoop) {
        (self.job, self.deadline, self.loop) = (job, deadline, loop)
    }

    func end() {
        if hasEnded.exchange(true, ordering: .relaxed) { return }
        job.run()
    }

    deinit {
        if hasEnded.load(ordering: .relaxed) { return }
        let now = RunLoop.Instant(nanoseconds: loop.now(deadline.clock), clock: deadline.clock)
        job.leave(for: now.duration(to: deadline))
    }
}
#endif
