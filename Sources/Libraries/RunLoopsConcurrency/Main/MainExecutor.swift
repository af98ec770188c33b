// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import RunLoopsLibC

extension RunLoop {
    /// The executor of the main actor, in a program whose main loop runs on the main thread.
    public enum MainExecutor: Sendable {
        /// libdispatch's main queue, as in every Swift program on Linux; the main loop serves it.
        ///
        /// Work of `DispatchQueue.main` and jobs of the main actor run in the order in which they were enqueued.
        case mainQueue
        /// The executor of the main loop, the same object as `RunLoop.main.executor`.
        ///
        /// Jobs of the main actor have the properties of ``RunLoop/Executor`` jobs: the more urgent first, 64 a turn,
        /// and no system call and no lock on the main thread itself. An actor that is bound to the main loop is on the
        /// main actor's executor: calls between the two need no switch. The main loop serves `DispatchQueue.main` as
        /// before, beside the executor. Work of `DispatchQueue.main` may assume the main actor, and its order with the
        /// main actor's jobs is not defined.
        case runLoop
    }

    /// Makes the main loop's executor the main actor's, from now on.
    static func replaceMainExecutor() {
        let result = rl_main_executor_set(
            // A test's loop would drop the jobs at its end.
            { executorWords(RunLoop.ofMainThread.executor) },
            { handOver(unownedJob($0), to: RunLoop.ofMainThread.executor) })
        switch result {
        case 0: break
        case -EBUSY:
            fatalError(
                "The main actor's executor was to be the main loop's, and another library has replaced it already: only one of them can. Leave the main actor on the main queue (RunLoop.adoptMain(), or RunLoop.runMain without mainExecutor), without linking RunLoopsMainActor."
            )
        default:
            fatalError(
                "The main actor's executor was to be the main loop's, and this Swift runtime has no variables to replace it with: leave the main actor on the main queue (RunLoop.adoptMain(), or RunLoop.runMain without mainExecutor), without linking RunLoopsMainActor."
            )
        }
    }

    /// Replaces the executor before the main function, with the main thread for the main loop, as ``adoptMain()`` does
    /// in an async main.
    package static func takeMainActorAtLoad() {
        replaceMainExecutor()
        takeMainThread()
    }
}

/// The executor's two words.
private func executorWords(_ executor: RunLoop.Executor) -> rl_executor {
    // SAFETY: UnownedSerialExecutor is what the runtime calls SerialExecutorRef: the object's address and its
    // conformance. The executor of the main loop is kept for ever, by the table of executors.
    unsafeBitCast(executor.asUnownedSerialExecutor(), to: rl_executor.self)
}

private func unownedJob(_ job: UnsafeRawPointer?) -> UnownedJob {
    // SAFETY: UnownedJob is one pointer. The runtime keeps the job until it is run.
    unsafeBitCast(job.unsafelyUnwrapped, to: UnownedJob.self)
}

/// As an actor's job, since jobs of the main actor are an actor's jobs.
private func handOver(_ job: UnownedJob, to executor: some SerialExecutor) { executor.enqueue(ExecutorJob(job)) }
