// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
package import Testing

/// Runs each test on a thread that no other test uses meanwhile, a few tests at a time.
///
/// Most tests of a run loop block. Swift's pool has as many threads as the machine has processors; a test that blocks in one of them
/// would hold up all tests that await something.
///
/// A test fails if it has not ended on its thread within ten minutes, or within two hours in a full run and under a sanitizer. The
/// wait for a thread does not count, unlike in Swift Testing's `timeLimit`: in a full run it takes longer than most tests.
package struct OwnThread: TestTrait, SuiteTrait, TestScoping {
    package var isRecursive: Bool { true }

    private let limit: Duration
    private let report: @Sendable (Test, Duration) -> Void

    /// - Parameters:
    ///   - limit: The time that a test may take on its thread. The test's task is cancelled then.
    ///   - report: Called in the test's context before that.
    package init(
        limit: Duration = .seconds(60 * limitInMinutes),
        report: @escaping @Sendable (Test, Duration) -> Void = { test, limit in
            Issue.record(
                "The test has not ended after \(limit) on its thread.", sourceLocation: test.sourceLocation)
        }
    ) {
        self.limit = limit
        self.report = report
    }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let thread = await ThreadPool.shared.take()
        let start = ContinuousClock.now
        defer {
            Durations.shared.note(ContinuousClock.now - start, of: test)
            ThreadPool.shared.giveBack(thread)
        }
        try await withUnsafeCurrentTask { task in
            let current = CurrentTask(task: task)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await Task.sleep(for: limit)
                    report(test, limit)
                    current.task?.cancel()
                }
                defer { group.cancelAll() }
                try await withTaskExecutorPreference(thread) { try await function() }
            }
        }
    }
}

/// The task of a test.
///
/// SAFETY: any thread may cancel a task, and the child task that does so ends before the task.
private struct CurrentTask: @unchecked Sendable {
    let task: UnsafeCurrentTask?
}

private let limitInMinutes = isFull || Sanitizer.isAny ? 120 : 10

/// How long the tests have taken on their threads, without the wait for one, which Swift Testing counts.
///
/// The longest are printed at the end of the process.
private final class Durations: Sendable {
    static let shared = Durations()

    private let longest = Locked<[(duration: Duration, name: String)]>([])

    private init() {
        atexit {
            for (duration, name) in Durations.shared.longest.copy { print("▹ \(duration) on its thread: \(name)") }
            let left = Durations.zombies
            for name in left {
                print("✘ A test has left the zombie \(name): wait for each child that a test starts.")
            }
            fflush(nil)
            if !left.isEmpty { _exit(1) }
        }
    }

    /// The names of the children that have ended and that nobody has waited for.
    ///
    /// Swift Testing asks the kernel for any child that has ended, without removing it, and waits for those of exit tests. A zombie that
    /// nobody removes may be the answer each time: then no exit test ends.
    private static var zombies: [String] {
        var names: [String] = []
        var info = siginfo_t()
        while waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0, info._sifields._kill.si_pid > 0 {
            let process = info._sifields._kill.si_pid
            var name = "of number \(process)"
            if let file = fopen("/proc/\(process)/comm", "r") {
                var line = [CChar](repeating: 0, count: 64)
                if fgets(&line, CInt(line.count), file) != nil {
                    let bytes = line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
                    name = String(decoding: bytes, as: UTF8.self)
                }
                fclose(file)
            }
            names.append(name)
            waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG)
        }
        return names
    }

    func note(_ duration: Duration, of test: Test) {
        longest.withLock { longest in
            longest.append((duration, "\(test.displayName ?? test.name)"))
            longest.sort { $0.duration > $1.duration }
            if longest.count > 10 { longest.removeLast() }
        }
    }
}

extension Trait where Self == OwnThread {
    /// Runs each test on a thread that no other test uses meanwhile.
    package static var ownThread: OwnThread { OwnThread() }
}

extension Trait where Self == TimeLimitTrait {
    /// The limit of tests without a thread of their own: as that of ``OwnThread``, but the wait for Swift's pool counts.
    package static var limited: TimeLimitTrait { .timeLimit(.minutes(limitInMinutes)) }
}

/// The threads of the tests: more than processors, because most tests wait most of the time, and fewer where the process may
/// have few descriptors, because a test may need a hundred of them.
private final class ThreadPool: Sendable {
    static let shared = ThreadPool(width: max(1, min(8, raiseDescriptorLimit() / 128)))

    private struct State {
        var free: [ThreadExecutor]
        /// Served in the order in which they came.
        var waiting: [CheckedContinuation<ThreadExecutor, Never>] = []
    }
    private let state: Locked<State>

    init(width: Int) { state = Locked(State(free: (0..<width).map { _ in ThreadExecutor() })) }

    func take() async -> ThreadExecutor {
        await withCheckedContinuation { continuation in
            let thread = state.withLock { state -> ThreadExecutor? in
                if let thread = state.free.popLast() { return thread }
                state.waiting.append(continuation)
                return nil
            }
            if let thread { continuation.resume(returning: thread) }
        }
    }

    func giveBack(_ thread: ThreadExecutor) {
        let next = state.withLock { state -> CheckedContinuation<ThreadExecutor, Never>? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.free.append(thread)
            return nil
        }
        next?.resume(returning: thread)
    }
}

/// A thread that runs the jobs of the tasks that prefer it, one after the other, as long as the process lives.
private final class ThreadExecutor: TaskExecutor {
    private let jobs = Locked<[UnownedJob]>([])
    private let added = Permit()

    init() {
        var handle = pthread_t()
        let result = pthread_create(
            &handle, nil,
            { argument in
                // As the threads of Swift's pool: a signal of the process is for the threads that a test makes.
                var all = sigset_t()
                sigfillset(&all)
                pthread_sigmask(SIG_SETMASK, &all, nil)
                // SAFETY: the reference passed below, which is never released.
                let executor = Unmanaged<ThreadExecutor>.fromOpaque(argument.unsafelyUnwrapped).takeUnretainedValue()
                while true { executor.runNext() }
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(result == 0, "pthread_create: \(result)")
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        added.signal()
    }

    private func runNext() {
        added.waitForEver()
        jobs.withLock { $0.removeFirst() }.runSynchronously(on: asUnownedTaskExecutor())
    }
}
