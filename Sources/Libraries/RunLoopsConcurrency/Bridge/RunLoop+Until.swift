// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Runs the loop until a task is done, and returns its result: for synchronous code that cannot await.
    ///
    /// The loop serves everything in `mode` meanwhile, nested in the callout that this is called from. Only the task
    /// ends the run; a stop of the loop does not.
    ///
    /// A task that needs the thread cannot go on while one of the thread's own jobs waits for the task here. Called
    /// inside such a job, of ``executor`` or another executor of the loop, or of the main actor on the main loop, this
    /// call traps at once instead of hanging occasionally: await the task there.
    ///
    /// - Parameters:
    ///   - task: The task; it may run on this thread or elsewhere.
    ///   - mode: The mode to run in. A task that runs on the loop goes on if its executor's mode is this mode, or if
    ///     the executor's mode is common and so is this mode.
    /// - Returns: The result of the task.
    /// - Throws: The error of the task.
    ///
    /// - Precondition: called on the loop's own thread, outside its jobs, while the thread lives; `mode` is not
    ///   `.common`.
    @available(*, noasync, message: "An async function can wait for the task itself: await task.value.")
    public func run<Success: Sendable, Failure: Error>(
        until task: Task<Success, Failure>, mode: Mode = .default
    ) throws(Failure) -> Success {
        requireOutsideJobs()
        require(mode != .common, "run(until:) was asked to run in the common modes: run in one of them.")
        let steered = SteeredRun(self, mode)
        let result = Guarded<Result<Success, Failure>?>(nil)
        // The detached task inherits nothing from the caller: neither the caller's priority nor its executor may keep
        // the end of the task from the loop.
        Task.detached {
            let known = await task.result
            result.withLock { $0 = known }
            steered.end()
        }
        // An empty mode would end the run at once.
        let keeper = Source(label: "until a task is done") { _ in }
        add(keeper, in: mode)
        defer { keeper.invalidate() }
        return try steered.steer { () -> Result<Success, Failure> in
            while true {
                if let known = result.withLock({ $0 }) { return known }
                run(in: mode, until: nil)
            }
        }.get()
    }

    private func requireOutsideJobs() {
        require(
            SystemCalls.threadID == threadID,
            "run(until:) was called on thread \(SystemCalls.threadID) for the loop of thread \(threadID): a loop can only be run by its own thread. Await the task instead."
        )
        require(!isEnded, "run(until:) was called when the loop of the thread had been torn down.")
        require(
            !isInJob,
            "run(until:) was called inside a job of the same thread (of an actor or a task on its executor, or of the main actor). What the task needs of this thread could only run when this job has ended, which waits for the task: a deadlock. Await the task instead."
        )
    }
}
