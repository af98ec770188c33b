// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsConcurrency
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

private struct Refusal: Error {}

@Suite(.limited) struct BridgeTests {
    // MARK: Waiting for what the thread does

    @Test func `A closure runs on the loop's thread and its result is returned`() async throws {
        try await LoopThread.with { (loop) async throws -> Void in
            #expect(try await loop.result { SystemCalls.threadID } == loop.threadID)
            await #expect(throws: Refusal.self) { try await loop.result { throw Refusal() } }
            // From the thread itself too: the task waits, not the thread.
            let inside = await Task(executorPreference: loop.executor) { try await loop.result { 7 } }.result
            #expect(try inside.get() == 7)
        }
    }

    @Test func `A closure does not run if its task is cancelled before the closure starts`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let notes = Locked<[String]>()
            let task = Task(executorPreference: loop.executor) {
                do {
                    try await loop.result(in: "later") { notes.note("ran") }
                } catch {
                    notes.note("\(error)")
                }
            }
            manual.advance(by: .milliseconds(1))
            task.cancel()
            manual.advance(by: .milliseconds(1))
            manual.advance(by: .milliseconds(1), in: "later")
            #expect(notes.copy == ["CancellationError()"])
        }
    }

    @Test func `result and run throw ThreadEndedError if the loop's thread ends or has ended`() async {
        let loop = TestThread.run { RunLoop.current }
        await #expect(throws: RunLoop.ThreadEndedError.self) { try await loop.result {} }
        await #expect(throws: RunLoop.ThreadEndedError.self) { try await loop.run(in: .default) }
        let thread = LoopThread()
        let waiting = Task { try await thread.loop.result(in: "never") {} }
        while !thread.loop.modes.contains("never") { await Task.yield() }
        thread.end()
        await #expect(throws: RunLoop.ThreadEndedError.self) { try await waiting.value }
    }

    // MARK: Runs

    @Test func `A task may run the loop and gets the run's result`() async throws {
        try await LoopThread.with { (loop) async throws -> Void in
            #expect(try await loop.run(in: "empty") == .finished)
            let keeper = RunLoop.Source.sendable { _ in }
            loop.add(keeper, in: "kept")
            #expect(try await loop.run(in: "kept", for: .milliseconds(1)) == .timedOut)
            let timer = RunLoop.Timer.sendable(.after(.milliseconds(1))) { _ in RunLoop.current.stop() }
            loop.add(timer, in: "kept")
            #expect(try await loop.run(in: "kept") == .stopped)
            keeper.signal()
            #expect(try await loop.run(in: "kept", returnsAfterSource: true) == .handledSource)
        }
    }

    @Test func `Cancellation stops only the run of the cancelled task`() async throws {
        try await LoopThread.with { (loop) async throws -> Void in
            let keeper = RunLoop.Source.sendable { _ in }
            loop.add(keeper, in: "outer")
            loop.add(keeper, in: "inner")
            let outer = Task { try await loop.run(in: "outer") }
            while loop.currentMode != "outer" { await Task.yield() }
            let inner = Task { try await loop.run(in: "inner", nestedIn: "outer") }
            while loop.currentMode != "inner" { await Task.yield() }
            outer.cancel()
            // The outer run has been asked to end, and cannot end before the run that is nested in it.
            for _ in 0..<100 { await Task.yield() }
            #expect(loop.currentMode == "inner")
            inner.cancel()
            #expect(try await inner.value == .stopped)
            #expect(try await outer.value == .stopped)
        }
    }

    @Test func `Two nested runs of one mode both end when their tasks are cancelled`() async throws {
        try await LoopThread.with { (loop) async throws -> Void in
            let keeper = RunLoop.Source.sendable { _ in }
            loop.add(keeper, in: "mode")
            let outer = Task { try await loop.run(in: "mode") }
            while loop.currentMode != "mode" { await Task.yield() }
            let entered = loop.activities(.entry, in: "mode")
            let inner = Task { try await loop.run(in: "mode", nestedIn: "mode") }
            for await _ in entered { break }
            outer.cancel()
            inner.cancel()
            #expect(try await inner.value == .stopped)
            #expect(try await outer.value == .stopped)
        }
    }

    // MARK: Blocking for a task

    @Test func `Synchronous code may wait for a task while the loop serves timers`() async {
        await TestThread.running {
            let loop = RunLoop.current
            let fires = Locked(0)
            loop.add(RunLoop.Timer(.every(.milliseconds(1))) { _ in fires.increment() }, in: .default)
            let elsewhere = Task {
                while fires.copy < 3 { try await Task.sleep(for: .milliseconds(1)) }
                return "elsewhere"
            }
            #expect(throws: Never.self) { try #expect(loop.run(until: elsewhere) == "elsewhere") }
            let here = Task(executorPreference: loop.executor) { () -> Int32 in
                await Task.yield()
                return SystemCalls.threadID
            }
            #expect(loop.run(until: here) == loop.threadID)
            let failing = Task { () throws(any Error) -> Void in throw Refusal() }
            #expect(throws: Refusal.self) { try loop.run(until: failing) }
        }
    }

    @Test func `run(in:until:) of a task returns only when the task ends and leaves nothing in the mode`() async {
        await TestThread.running {
            let loop = RunLoop.current
            let task = Task {
                for _ in 0..<5 {
                    loop.stop()
                    try await Task.sleep(for: .milliseconds(1))
                }
                return 5
            }
            #expect((try? loop.run(in: "private", until: task)) == 5)
            #expect(loop.run(in: "private", until: nil) == .finished)
        }
    }

    @Test func `Waits for tasks can be nested`() async {
        await TestThread.running {
            let loop = RunLoop.current
            let notes = Locked<[String]>()
            let (gate, open) = AsyncStream<Void>.makeStream()
            let outer = Task {
                for await _ in gate { break }
                notes.note("outer's task")
            }
            loop.add(
                RunLoop.Timer(.after(.zero)) { _ in
                    let inner = Task {
                        open.yield()
                        await outer.value
                        try await Task.sleep(for: .milliseconds(5))
                        notes.note("inner's task")
                    }
                    try? loop.run(until: inner)
                    notes.note("inner")
                }, in: .default)
            loop.run(until: outer)
            notes.note("outer")
            #expect(notes.copy == ["outer's task", "inner's task", "inner", "outer"])
        }
    }
}
