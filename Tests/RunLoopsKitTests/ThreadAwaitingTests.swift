// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsKit
import RunLoopsTestSupport
import Testing

/// Resident threads, awaited.
@Suite(.timeLimit(.minutes(10))) struct ThreadAwaitingTests {
    @Test func `A resident thread performs what a task waits for`() async throws {
        struct Refusal: Error {}
        let thread = try RunLoopThread(name: "performs")
        let number = thread.identity.number
        #expect(try await thread.result { SystemCalls.threadID } == number)
        await #expect(throws: Refusal.self) { try await thread.result { throw Refusal() } }
        thread.end()
        await #expect(throws: RunLoop.ThreadEndedError.self) { try await thread.result { 1 } }
    }

    @Test func `A cancelled task does not wait for a thread that is busy`() async throws {
        let thread = try RunLoopThread(name: "busy")
        let gate = Locked(false)
        thread.post { while !gate.copy { sched_yield() } }
        let task = Task { try await thread.result { 1 } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.withLock { $0 = true }
        thread.end()
    }
}

extension RunLoopThread {
    /// Stops the thread and waits for its end: a function of its own, because tasks may not wait so.
    fileprivate func end() {
        stop()
        join()
    }
}
