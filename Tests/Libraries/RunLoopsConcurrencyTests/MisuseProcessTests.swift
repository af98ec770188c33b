// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsConcurrency
import RunLoopsTestSupport
import Testing

/// Misuse ends the process, and says what was wrong and what to do instead.
@Suite(.limited) struct MisuseProcessTests {
    @Test func `preconditionIsolated on another thread traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = LoopThread()
            let meter = Meter(thread.loop.executor)
            meter.preconditionIsolated("not here")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("not here") || text.contains("Code that assumes to run on <RunLoop.Executor>"))
    }

    @Test func `A job queued after the end of the thread traps with a message that names the remedy`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let loop = TestThread.run {
                _ = RunLoop.current.executor
                return RunLoop.current
            }
            await Task(executorPreference: loop.executor) {}.value
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("whose thread has ended"))
        #expect(text.contains("Keep the loop of that thread running"))
    }

    @Test func `Calling run(in:until:) inside a job of the same thread traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = LoopThread()
            await Task(executorPreference: thread.loop.executor) { block(thread.loop) }.value
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("run(in:until:) was called inside a job of the same thread"))
        #expect(text.contains("Await the task instead"))
    }

    @Test func `Calling run(in:until:) on another thread traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            block(LoopThread().loop)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("a loop can only be run by its own thread"))
    }
}

private func block(_ loop: RunLoop) {
    loop.run(until: Task {})
}
