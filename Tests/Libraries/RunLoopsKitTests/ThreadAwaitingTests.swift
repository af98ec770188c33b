// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsKit
import RunLoopsTestSupport
import Testing

/// Resident threads, awaited.
@Suite(.ownThread) struct ThreadAwaitingTests {
    @Test func `result runs a closure on the thread, rethrows its error, and throws if the thread has ended`()
        async throws
    {
        struct Refusal: Error {}
        let thread = try RunLoopThread(name: "performs")
        let number = thread.identity.number
        #expect(try await thread.result { SystemCalls.threadID } == number)
        await #expect(throws: Refusal.self) { try await thread.result { throw Refusal() } }
        thread.end()
        await #expect(throws: RunLoop.ThreadEndedError.self) { try await thread.result { 1 } }
    }

    @Test func `A cancelled task does not wait for a busy thread`() async throws {
        let thread = try RunLoopThread(name: "busy")
        let gate = Locked(false)
        thread.post { while !gate.copy { sched_yield() } }
        let task = Task { try await thread.result { 1 } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.withLock { $0 = true }
        thread.end()
    }

    @Test func `Several tasks may wait for a thread's end, which is reported after its loop is torn down`() async throws
    {
        let thread = try RunLoopThread(name: "awaited")
        let waited = Locked(0)
        let tasks = (0..<4).map { _ in
            Task {
                try await thread.ended()
                waited.increment()
            }
        }
        #expect(try await thread.result { waited.count } == 0)
        thread.stop()
        for task in tasks { try await task.value }
        #expect(waited.count == 4)
        #expect(!thread.loop.add(RunLoop.Source.sendable { _ in }, in: .default))
    }

    @Test func `The items of a thread's loop are released before ended() returns`() async throws {
        for _ in 0..<20 {
            let thread = try RunLoopThread(name: "released")
            let released = Locked(0)
            thread.post {
                let loop = RunLoop.current
                for _ in 0..<50 {
                    let token = Token { released.increment() }
                    loop.add(RunLoop.Timer(.after(.seconds(3600))) { _ in withExtendedLifetime(token) {} }, in: .common)
                }
            }
            let task = Task { try await thread.ended() }
            thread.stop()
            try await task.value
            #expect(released.count == 50)
        }
    }

    @Test func `Waiting for an ended thread returns at once, also in a cancelled task`() async throws {
        let thread = try RunLoopThread(name: "ended")
        thread.end()
        try await thread.ended()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await thread.ended()
        }
        task.cancel()
        try await task.value
    }

    @Test func `A cancelled task stops waiting for a thread's end and other tasks continue`() async throws {
        let thread = try RunLoopThread(name: "goes on")
        let other = Task { try await thread.ended() }
        let cancelled = Task { try await thread.ended() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        await #expect(throws: RunLoop.TimeoutError.self) {
            try await RunLoop.withTimeout(.milliseconds(1)) { try await thread.ended() }
        }
        #expect(try await thread.result { 1 } == 1)
        thread.stop()
        try await other.value
    }
}

extension RunLoopThread {
    /// Stops the thread and waits for its end: a function of its own, because tasks may not wait so.
    fileprivate func end() {
        stop()
        join()
    }
}
