// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsTestingMain
import Testing

/// The main loop under the test runner.
@Suite(.mainRunLoop, .timeLimit(.minutes(10))) struct MainLoopTests {
    @Test @MainActor func `The main actor is on the true main thread, before an await and after`() async throws {
        #expect(isOnMainLoop())
        try await Task.sleep(for: .milliseconds(5))
        #expect(isOnMainLoop())
        await Task.detached {}.value
        #expect(isOnMainLoop())
    }

    @Test @MainActor func `A timer of the main loop fires`() async {
        await withCheckedContinuation { continuation in
            RunLoop.main.add(.mainActor(.after(.milliseconds(5))) { _ in continuation.resume() }, in: .default)
        }
        #expect(isOnMainLoop())
    }

    @Test func `The main queue runs on the main thread`() async {
        let isMain = await withCheckedContinuation { continuation in
            DispatchQueue.main.async { continuation.resume(returning: RunLoop.current === RunLoop.main) }
        }
        #expect(isMain)
    }

    @Test func `The main loop's clock, events and executor work`() async throws {
        let clock = RunLoop.main.clock
        let start = clock.now
        try await clock.sleep(for: .milliseconds(5))
        #expect(start.duration(to: clock.now) >= .milliseconds(5))
        for await _ in RunLoop.main.ticks(every: .milliseconds(1)) { break }
        #expect(await Task(executorPreference: RunLoop.main.executor) { isOnMainLoop() }.value)
    }
}

/// For async functions, which have no thread of their own and may not ask for its loop.
private func isOnMainLoop() -> Bool { RunLoop.current === RunLoop.main }
