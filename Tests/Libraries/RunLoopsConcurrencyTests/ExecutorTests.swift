// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// State that lives on a loop's thread.
actor Meter: RunLoopActor {
    nonisolated let runLoopExecutor: RunLoop.Executor
    private(set) var value = 0

    init(_ executor: RunLoop.Executor) { runLoopExecutor = executor }

    var threadID: Int32 { SystemCalls.threadID }

    @discardableResult
    func add(_ number: Int) -> Int {
        value += number
        return value
    }

    func addThrough(_ other: Meter, times: Int) async {
        for _ in 0..<times { await other.add(1) }
    }
}

@globalActor private actor Stage: RunLoopActor {
    static let shared = Stage()
    static let thread = LoopThread()
    nonisolated let runLoopExecutor = Stage.thread.loop.executor
}

@Suite(.limited) struct ExecutorTests {
    // MARK: Where code runs

    @Test func `Actors, global actors and tasks run on the loop's thread`() async {
        await LoopThread.with { loop in
            let threadID = loop.threadID
            let meter = Meter(loop.executor)
            #expect(await meter.threadID == threadID)
            #expect(await Task(executorPreference: loop.executor) { SystemCalls.threadID }.value == threadID)
            let inside = await withTaskExecutorPreference(loop.executor) {
                await nonisolatedThreadID()
            }
            #expect(inside == threadID)
            #expect(await stageThreadID() == Stage.thread.loop.threadID)
        }
    }

    @Stage private func stageThreadID() -> Int32 { SystemCalls.threadID }

    private nonisolated func nonisolatedThreadID() async -> Int32 { SystemCalls.threadID }

    @Test func `Actors of one loop call each other without another turn of the loop`() {
        ManualRunLoop.with { manual in
            let executor = manual.loop.executor
            let (first, second) = (Meter(executor), Meter(executor))
            var turns = 0
            manual.loop.add(RunLoop.Observer(.beforeSources) { _, _ in turns += 1 }, in: .default)
            let isDone = Locked(false)
            Task(executorPreference: executor) {
                await first.addThrough(second, times: 10_000)
                isDone.withLock { $0 = true }
            }
            manual.advance(by: .zero)
            #expect(isDone.copy)
            #expect(turns <= 2)
        }
    }

    @Test func `A loop has one executor for each mode`() {
        ManualRunLoop.with { manual in
            #expect(manual.loop.executor === manual.loop.executor)
            #expect(manual.loop.executor(in: "x") === manual.loop.executor(in: "x"))
            #expect(manual.loop.executor(in: "x") !== manual.loop.executor)
        }
    }

    @Test func `Threads that ask for the executor at the same time get the same one`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let seen = Locked<Set<ObjectIdentifier>>([])
            let threads = (0..<4).map { _ in
                TestThread { seen.withLock { [id = ObjectIdentifier(loop.executor)] in _ = $0.insert(id) } }
            }
            for thread in threads { thread.join() }
            #expect(seen.copy == [ObjectIdentifier(loop.executor)])
        }
    }

    @Test func `Jobs run only in the executor's mode`() {
        ManualRunLoop.with { manual in
            let notes = Locked<[String]>()
            Task(executorPreference: manual.loop.executor(in: "private")) { notes.note("ran") }
            manual.advance(by: .seconds(1))
            #expect(notes.copy == [])
            manual.advance(by: .zero, in: "private")
            #expect(notes.copy == ["ran"])
        }
    }

    // MARK: Isolation

    @Test func `A callout of the loop may assume the actor's isolation`() {
        ManualRunLoop.with { manual in
            let meter = Meter(manual.loop.executor)
            #expect(meter.runLoopExecutor.isIsolatingCurrentContext() == true)
            manual.loop.add(RunLoop.Timer(.after(.zero)) { _ in meter.assumeIsolated { _ = $0.add(5) } }, in: .default)
            manual.advance(by: .zero)
            #expect(meter.assumeIsolated { $0.value } == 5)
            let elsewhere = TestThread.run { meter.runLoopExecutor.isIsolatingCurrentContext() }
            #expect(elsewhere == false)
        }
    }

    // MARK: The end of the thread

    @Test func `Jobs still queued when the loop's thread ends run on that thread`() {
        let notes = Locked<[String]>()
        let executor = TestThread.run { () -> RunLoop.Executor in
            let executor = RunLoop.current.executor
            Task(executorPreference: executor) {
                notes.note("waited")
                await Task.yield()
                notes.note("brought")
            }
            return executor
        }
        #expect(notes.copy == ["waited", "brought"])
        #expect(executor.isEnded)
    }

    @Test func `The executor and the loop are released after the loop's thread has ended`() {
        weak var executor: RunLoop.Executor?
        weak var loop: RunLoop?
        TestThread {
            _ = RunLoop.current.executor
            _ = RunLoop.current.executor(in: "other")
        }.join()
        (executor, loop) = TestThread.run { WeakPair(RunLoop.current.executor, RunLoop.current) }.both
        #expect(executor == nil)
        #expect(loop == nil)
    }
}

// Unchecked: the references are weak, and read after the thread has ended.
private final class WeakPair: @unchecked Sendable {
    private weak var executor: RunLoop.Executor?
    private weak var loop: RunLoop?

    init(_ executor: RunLoop.Executor, _ loop: RunLoop) { (self.executor, self.loop) = (executor, loop) }

    var both: (RunLoop.Executor?, RunLoop?) { (executor, loop) }
}
