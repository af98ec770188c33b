// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsDiagnostics
internal import RunLoopsLibC
internal import Synchronization

/// The threads that run tests.
///
/// There are as many threads as processors. If tasks are ready and no thread has taken one for a second, there is one thread
/// more: a test that blocks its thread does not keep other tests from running.
// Unchecked: guarded by the lock.
final class TestExecutor: TaskExecutor, @unchecked Sendable {
    private static let executors = PerProcess { TestExecutor() }
    static var shared: TestExecutor { executors.own }

    /// The maximum number of threads.
    private static let most = 512
    /// How long a task that is ready waits before there is one thread more, in nanoseconds.
    private static let patience: Int64 = 1_000_000_000

    /// A thread, and the task that it runs.
    private final class Worker: Sendable {
        let thread = Atomic<Int32>(0)
        let task = Atomic<UInt64>(0)
    }

    /// The futex of the threads without a task; its value is the number of tasks so far.
    private let word = Atomic<UInt32>(0)
    /// The futex of the thread that looks after the others.
    private let supervision = Atomic<UInt32>(0)
    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var jobs: [UnownedJob] = []
    /// The position of the first job that no thread has taken.
    @exclusivity(unchecked) private var first = 0
    @exclusivity(unchecked) private var taken: UInt64 = 0
    @exclusivity(unchecked) private var sleeping = 0
    @exclusivity(unchecked) private var workers: [Worker] = []
    @exclusivity(unchecked) private var limit = max(2, Int(rl_thread_processor_count()))
    @exclusivity(unchecked) private var isSupervised = false

    init() {
        // Threads that are made after this can be sampled while they run. Without a free signal they cannot.
        ThreadReport.prepare()
        TestWatch.shared.setRunners { Self.shared.running }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (needsThread, needsSupervisor, wakes) = lock.withLock { () -> (Bool, Bool, Bool) in
            jobs.append(job)
            let waiting = jobs.count - first
            if sleeping >= waiting { return (false, false, true) }
            if workers.count < limit { return (true, false, false) }
            defer { isSupervised = true }
            return (false, !isSupervised, sleeping > 0)
        }
        if needsThread { addThread() }
        if needsSupervisor { supervise() }
        if wakes { wake(word) }
    }

    /// The threads that run tasks, by the tasks' ids.
    var running: [UInt64: Int32] {
        let workers = lock.withLock { self.workers }
        return Dictionary(
            workers.map { ($0.task.load(ordering: .relaxed), $0.thread.load(ordering: .relaxed)) },
            uniquingKeysWith: { first, _ in first })
    }

    private func wake(_ word: borrowing Atomic<UInt32>) {
        word.wrappingAdd(1, ordering: .releasing)
        withUnsafePointer(to: word) { _ = rl_futex_wake($0, 1) }
    }

    // MARK: The threads

    private func addThread() {
        let worker = Worker()
        lock.withLock { workers.append(worker) }
        Self.start(Unmanaged.passRetained(worker)) { argument in
            // SAFETY: the reference that was passed; taken once.
            let worker = Unmanaged<Worker>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue()
            TestExecutor.shared.run(worker)
            return nil
        }
    }

    private static func start(
        _ argument: Unmanaged<some AnyObject>,
        _ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    ) {
        let code = rl_thread_start_detached(body, argument.toOpaque())
        precondition(
            code == 0,
            "No thread can be started for tests: \(RunLoop.SystemCallError(call: "pthread_create", code: -code))")
    }

    private func run(_ worker: Worker) {
        _ = rl_thread_set_name("test")
        ThreadReport.join()
        worker.thread.store(SystemCalls.threadID, ordering: .relaxed)
        while true {
            let seen = word.load(ordering: .acquiring)
            let job = lock.withLock { () -> UnownedJob? in
                guard first < jobs.count else {
                    sleeping += 1
                    return nil
                }
                first += 1
                taken &+= 1
                let job = jobs[first - 1]
                if first == jobs.count {
                    jobs.removeAll(keepingCapacity: true)
                    first = 0
                }
                return job
            }
            guard let job else {
                withUnsafePointer(to: word) { _ = rl_futex_wait($0, seen, .max) }
                lock.withLock { sleeping -= 1 }
                continue
            }
            worker.task.store(Self.identifier(of: job), ordering: .relaxed)
            job.runSynchronously(on: asUnownedTaskExecutor())
            worker.task.store(0, ordering: .relaxed)
        }
    }

    /// Returns the id of the task that a job is of.
    private static func identifier(of job: UnownedJob) -> UInt64 { taskIdentifier(job) }

    // MARK: Looking after the threads

    /// Starts the thread that adds threads while tasks are ready and no thread takes one.
    private func supervise() {
        Self.start(Unmanaged.passRetained(self)) { argument in
            // SAFETY: the reference that was passed; taken once.
            let executor = Unmanaged<TestExecutor>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue()
            executor.lookAfterThreads()
            return nil
        }
    }

    private func lookAfterThreads() {
        rl_become_helper("test threads")
        var before = lock.withLock { taken }
        while true {
            let deadline = SystemCalls.now(.monotonic) + Self.patience
            while SystemCalls.now(.monotonic) < deadline {
                withUnsafePointer(to: supervision) { _ = rl_futex_wait($0, 0, deadline) }
            }
            let (isOver, needsThread) = lock.withLock { () -> (Bool, Bool) in
                defer { before = taken }
                guard first < jobs.count else {
                    isSupervised = false
                    return (true, false)
                }
                guard taken == before, workers.count < Self.most else { return (false, false) }
                limit = max(limit, workers.count + 1)
                return (false, true)
            }
            // The next task that finds no free thread starts another one.
            if isOver { return }
            if needsThread { addThread() }
        }
    }
}

// Of Swift's runtime, which uses it for descriptions of jobs.
@_silgen_name("swift_task_getJobTaskId")
private func taskIdentifier(_ job: UnownedJob) -> UInt64
