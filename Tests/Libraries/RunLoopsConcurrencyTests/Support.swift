// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsTestSupport

extension TestThread {
    /// Runs `body` on a thread of its own to the thread's end, without blocking a thread of Swift's pool, which what
    /// the body does may need.
    static func running(_ body: @escaping @Sendable () -> Void) async {
        let thread = await withCheckedContinuation { continuation in
            let started = Locked<TestThread?>(nil)
            let thread = TestThread {
                body()
                // Waits for the reference, which is there in a moment.
                while started.withLock({ $0 == nil }) { usleep(100) }
                started.withLock { $0 }.map { continuation.resume(returning: $0) }
            }
            started.withLock { $0 = thread }
        }
        thread.join()
    }
}

/// A thread whose loop runs until a test ends it.
final class LoopThread: Sendable {
    let loop: RunLoop
    private let thread: TestThread
    private let keeper = RunLoop.Source.sendable { _ in }

    init() {
        let ready = Locked<RunLoop?>(nil)
        let isOver = Locked(false)
        let keeper = keeper
        thread = TestThread {
            let loop = RunLoop.current
            loop.add(keeper, in: .default)
            ready.withLock { $0 = loop }
            // A test may stop a run of its own.
            while !isOver.withLock({ $0 }) { _ = loop.run(in: .default, for: plenty) }
        }
        while ready.withLock({ $0 == nil }) { usleep(100) }
        guard let loop = ready.withLock({ $0 }) else { preconditionFailure("just seen") }
        self.loop = loop
        over = isOver
    }

    private let over: Locked<Bool>

    /// Ends the run and the thread, and waits for that.
    func end() {
        over.withLock { $0 = true }
        loop.perform { RunLoop.current.stop() }
        thread.join()
    }

    /// Gives `body` the loop of such a thread, and ends the thread.
    @discardableResult
    static func with<Result>(_ body: (RunLoop) async throws -> Result) async rethrows -> Result {
        let thread = LoopThread()
        defer { thread.end() }
        return try await body(thread.loop)
    }
}
