// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import Synchronization

extension RunLoop {
    /// Runs tasks and actors on the thread of a run loop.
    ///
    /// An executor is one item of its loop, a source of order 0. In a turn in which it has work it runs up to 64 jobs,
    /// and then the loop serves its other items: a flood of jobs delays a timer by at most one such batch. More urgent
    /// jobs run first, jobs of equal urgency in the order in which they were enqueued. A task that is escalated while
    /// it waits moves up. The last job of a full batch is the least urgent job, so that no job waits forever.
    ///
    /// Jobs run while the loop runs in the executor's mode. A run that is begun inside a job serves the loop's other items
    /// and no further job of the same executor: the jobs are serial, and the job that is under way has not ended.
    ///
    /// While the thread is awake a job costs no system call. While it sleeps, any number of jobs costs one wake-up.
    /// Jobs that are enqueued on the loop's own thread take no lock.
    ///
    /// The executor keeps its mode from being empty: a run in that mode ends by `RunLoop.stop()` or its time limit.
    ///
    /// When the thread ends, it first runs all waiting jobs. Enqueuing a job later traps: nothing could run the job,
    /// and its task would hang silently.
    ///
    /// Thread safety: all members may be used by any thread.
    /// Core Foundation has no counterpart.
    public final class Executor: SerialExecutor, TaskExecutor, @unchecked Sendable {
        /// How many jobs a turn runs at most.
        static let batch = 64
        /// How many jobs, and jobs that these jobs bring, run at the end of the thread before their number counts as a
        /// mistake.
        static let lastBatch = 100_000

        /// The loop.
        public let loop: RunLoop
        /// The mode that jobs run in; `.common` for all common modes.
        public let mode: RunLoop.Mode

        private let threadID: Int32

        // Any thread.
        private let lock = Lock()
        // Guarded by the lock.
        @exclusivity(unchecked) private var incoming = JobQueue()
        @exclusivity(unchecked) private var hasEnded = false
        /// Whether `incoming` has any jobs; written with the lock held.
        private let hasIncoming = Atomic<Bool>(false)
        /// Whether the source is signalled or jobs are running: then no thread needs to signal the source.
        private let isScheduled = Atomic<Bool>(false)

        // The loop's thread alone.
        @exclusivity(unchecked) private var waiting = JobQueue()
        @exclusivity(unchecked) private var isRunningJobs = false

        /// Written by init alone; this must be done before a closure can know the executor.
        @exclusivity(unchecked) private var source: RunLoop.Source?

        /// - Parameter ended: Called when the thread has ended, on that thread; perhaps before the initializer returns.
        init(loop: RunLoop, mode: RunLoop.Mode, ended: @escaping @Sendable (Executor) -> Void) {
            self.loop = loop
            self.mode = mode
            threadID = loop.threadID
            let source = RunLoop.Source.sendable(
                label: "executor",
                cancel: { [weak self] _, _ in
                    // Only the end of the thread takes the source out of its modes, once for each mode.
                    guard let self else { return }
                    threadEnds()
                    ended(self)
                },
                handler: { [weak self] _ in self?.runBatch() })
            self.source = source
            loop.add(source, in: mode)
            if loop.isEnded { lock.withLock { hasEnded = true } }
        }

        /// Whether the loop's thread has ended; after that, enqueuing a job traps.
        public var isEnded: Bool { lock.withLock { hasEnded } }

        /// Whether a job is under way; the loop's thread.
        var isInJob: Bool { isRunningJobs }

        // MARK: Jobs come

        /// Enqueues a job, which runs in a later turn of the loop.
        ///
        /// Called by Swift.
        /// - Precondition: the loop's thread has not ended.
        /// - Complexity: O(1) amortised; one system call if the loop sleeps, none otherwise.
        public func enqueue(_ job: consuming ExecutorJob) { take(job, isOfActor: true) }

        /// Enqueues a job of a task that prefers the executor; otherwise like ``enqueue(_:)``.
        @_implements(TaskExecutor,enqueue(_:))
        public func enqueueForTask(_ job: consuming ExecutorJob) {
            // The runtime calls the executor in two roles by one name, and a job of one role is run differently from a job
            // of the other. The attribute is the only way to distinguish the roles.
            take(job, isOfActor: false)
        }

        @inline(__always)
        private func take(_ job: consuming ExecutorJob, isOfActor: Bool) {
            let priority = job.priority.rawValue
            let entry = JobQueue.Entry(JobReference(UnownedJob(job), isOfActor: isOfActor), priority: priority)
            if rl_is_recorded() { leaveWord(entry.job) }
            if SystemCalls.threadID == threadID { enqueueHere(entry) } else { enqueueFromElsewhere(entry) }
        }

        /// For recorders: when the job was queued, and by which code.
        @inline(never)
        private func leaveWord(_ job: JobReference) {
            rl_stamp_job(job.pointer, loop.now(.monotonic), SystemCalls.threadID)
        }

        @inline(__always)
        private func enqueueHere(_ entry: JobQueue.Entry) {
            // Jobs that came from elsewhere before this job stay before it.
            absorb()
            waiting.append(entry)
            // The code that runs jobs looks here again before it stops.
            if isRunningJobs { return }
            if lock.withLock({ hasEnded }) { refuse() }
            schedule()
        }

        private func enqueueFromElsewhere(_ entry: JobQueue.Entry) {
            lock.lock()
            if hasEnded {
                lock.unlock()
                refuse()
            }
            incoming.append(entry)
            if hasIncoming.load(ordering: .relaxed) {
                lock.unlock()
                return
            }
            // sequentiallyConsistent: before the look at isScheduled; its partner is in stopRunning, the other way round.
            hasIncoming.store(true, ordering: .sequentiallyConsistent)
            lock.unlock()
            schedule()
        }

        /// Makes the loop run a batch, unless the loop will do so anyway.
        private func schedule() {
            if isScheduled.exchange(true, ordering: .sequentiallyConsistent) { return }
            signal()
        }

        private func signal() {
            source?.signal()
            loop.wakeUp()
        }

        @inline(never)
        private func refuse() -> Never {
            fatalError(
                """
                A job was enqueued on \(self), whose thread has ended: it would never run. Keep the loop of that thread \
                running until the tasks and actors that are bound to it are done.
                """)
        }

        // MARK: Jobs go

        /// Runs up to a batch of jobs; the loop's thread, as the source's callout.
        private func runBatch() {
            // A run that is nested in a job: the job's own batch goes on when it returns.
            if isRunningJobs { return }
            isRunningJobs = true
            let isWatched = loop.tracer != nil
            for number in 1...Self.batch {
                absorb()
                let job = number == Self.batch ? waiting.removeLeastUrgent() : waiting.removeMostUrgent()
                guard let job else { break }
                if isWatched { runWatched(job) } else { run(job) }
            }
            stopRunning()
        }

        private func stopRunning() {
            isRunningJobs = false
            absorb()
            if !waiting.isEmpty {
                waiting.liftEscalated()
                // Still scheduled.
                return signal()
            }
            // sequentiallyConsistent, both: a thread that has put a job in since either sees that nothing is scheduled, or
            // its job is seen here.
            isScheduled.store(false, ordering: .sequentiallyConsistent)
            if hasIncoming.load(ordering: .sequentiallyConsistent) { schedule() }
        }

        @inline(__always)
        private func run(_ reference: JobReference) {
            // A job of an actor says nothing of a task executor: a task that prefers none, as most tasks do, could not go
            // on to the next actor of this executor without a job of its own. A job of a task says both, so that the task
            // can go to an actor.
            if reference.isOfActor {
                reference.job.runSynchronously(on: asUnownedSerialExecutor())
            } else {
                reference.job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
        }

        /// Runs a job as above, and reports it to listeners.
        @inline(never)
        private func runWatched(_ reference: JobReference) {
            loop.callOut(part: Self.jobLabel, job: reference.pointer) { run(reference) }
        }

        /// One label for all jobs: Swift does not say to an executor whose job it is.
        private static let jobLabel = ItemLabel("job")

        /// Takes the jobs that came from other threads.
        @inline(__always)
        private func absorb() {
            if !hasIncoming.load(ordering: .sequentiallyConsistent) { return }
            lock.lock()
            hasIncoming.store(false, ordering: .sequentiallyConsistent)
            waiting.append(all: &incoming)
            lock.unlock()
        }

        // MARK: The end

        /// Takes back an executor that no caller has received.
        func withdraw() { source?.invalidate() }

        /// Runs the waiting jobs and the jobs that these bring; jobs that come later are refused.
        private func threadEnds() {
            if lock.withLock({ hasEnded }) { return }
            isRunningJobs = true
            var left = Self.lastBatch
            while true {
                absorb()
                if let job = waiting.removeMostUrgent() {
                    require(
                        left > 0,
                        "The thread of \(self) ends, and its jobs bring ever new ones: stop its loop when the tasks that are bound to it are done."
                    )
                    left -= 1
                    run(job)
                    continue
                }
                let isDone = lock.withLock {
                    if incoming.isEmpty { hasEnded = true }
                    return hasEnded
                }
                if isDone { break }
            }
            isRunningJobs = false
        }
    }
}

extension RunLoop.Executor: CustomStringConvertible {
    /// The thread and the mode.
    public var description: String { "<RunLoop.Executor>{thread \(threadID), \(mode)}" }

    // MARK: Isolation

    /// Traps if the calling code does not run on the loop's thread.
    ///
    /// Called by `assumeIsolated` and similar calls. All code on the thread may use what is bound to the thread, also a
    /// timer's callout that runs outside every task, as with the main actor and the main thread.
    public func checkIsolated() {
        require(
            SystemCalls.threadID == threadID,
            "Code that assumes to run on \(self) runs on thread \(SystemCalls.threadID).")
    }

    /// Whether the calling code runs on the loop's thread.
    public func isIsolatingCurrentContext() -> Bool? { SystemCalls.threadID == threadID }
}
