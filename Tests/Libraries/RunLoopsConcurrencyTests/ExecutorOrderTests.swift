// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsConcurrency
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Which job is next, and what else the loop does meanwhile.
@Suite(.limited) struct ExecutorOrderTests {
    @Test func `Waiting tasks run in the order of their priority`() {
        ManualRunLoop.with { manual in
            let notes = Locked<[String]>()
            let priorities: [(String, TaskPriority)] = [
                ("background", .background), ("low", .low), ("medium", .medium), ("high", .high), ("second", .medium),
            ]
            for (name, priority) in priorities {
                Task(executorPreference: manual.loop.executor, priority: priority) { notes.note(name) }
            }
            manual.advance(by: .milliseconds(1))
            #expect(notes.copy == ["high", "medium", "second", "low", "background"])
        }
    }

    @Test func `A task escalated while it waits runs earlier`() {
        ManualRunLoop.with { manual in
            let executor = manual.loop.executor
            let notes = Locked<[String]>()
            let before = (0..<500).map { index in
                Task(executorPreference: executor, priority: .background) { notes.note("\(index)") }
            }
            let awaited = Task(executorPreference: executor, priority: .background) { notes.note("awaited") }
            Task(executorPreference: executor, priority: .high) {
                await awaited.value
                notes.note("waiter")
            }
            manual.advance(by: .milliseconds(1))
            let order = notes.copy
            #expect(order.count == 502)
            // A look at 256 jobs a batch finds the one among 500, long before its place in the row.
            #expect((order.firstIndex(of: "awaited") ?? .max) < 400)
            withExtendedLifetime(before) {}
        }
    }

    @Test func `A background task runs even if tasks of high priority never end`() {
        ManualRunLoop.with { manual in
            let executor = manual.loop.executor
            let isOver = Locked(false)
            for _ in 0..<100 {
                Task(executorPreference: executor, priority: .high) {
                    while !isOver.copy { await Task.yield() }
                }
            }
            Task(executorPreference: executor, priority: .background) { isOver.withLock { $0 = true } }
            manual.advance(by: .milliseconds(1))
            #expect(isOver.copy)
        }
    }

    @Test func `A turn runs one batch of jobs`() {
        ManualRunLoop.with { manual in
            let done = Locked(0)
            var perTurn: [Int] = []
            manual.loop.add(
                RunLoop.Observer(.beforeTimers) { _, _ in perTurn.append(done.withLock { $0 }) }, in: .default)
            for _ in 0..<150 { Task(executorPreference: manual.loop.executor) { done.increment() } }
            manual.advance(by: .milliseconds(1))
            // A task has two jobs: the runtime begins it, and goes to where its body belongs.
            #expect(perTurn.prefix(6) == [0, 0, 0, 42, 106, 150])
        }
    }

    @Test func `A flood of jobs does not keep a timer from firing`() {
        TestThread.run {
            let loop = RunLoop.current
            let isOver = Locked(false)
            let fires = Locked(0)
            for _ in 0..<3 {
                Task(executorPreference: loop.executor) {
                    while !isOver.copy { await Task.yield() }
                }
            }
            loop.add(
                RunLoop.Timer(.every(.milliseconds(1))) { _ in
                    if fires.incremented() == 5 {
                        isOver.withLock { $0 = true }
                        loop.stop()
                    }
                }, in: .default)
            #expect(loop.run(in: .default, for: plenty) == .stopped)
            #expect(fires.copy == 5)
        }
    }

    @Test func `A run nested in a job runs no other job of that executor`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let notes = Locked<[String]>()
            Task(executorPreference: loop.executor) {
                loop.add(.sendable(.after(.milliseconds(1))) { _ in notes.note("timer") }, in: .default)
                notes.note("begins")
                nest(loop)
                notes.note("ends")
            }
            Task(executorPreference: loop.executor) { notes.note("second") }
            Task(executorPreference: loop.executor(in: "other")) { notes.note("other executor") }
            manual.advance(by: .seconds(1))
            #expect(notes.copy == ["begins", "timer", "other executor", "ends", "second"])
        }
    }

    private func nest(_ loop: RunLoop) {
        loop.run(in: .default, for: .milliseconds(5))
        loop.run(in: "other", for: .milliseconds(5))
    }

    @Test func `Jobs queued on an awake loop cost no wake-up`() {
        ManualRunLoop.with { manual in
            let done = Locked(0)
            let executor = manual.loop.executor
            manual.loop.add(
                RunLoop.Timer(.after(.seconds(1))) { _ in
                    for _ in 0..<100 { Task(executorPreference: executor) { done.increment() } }
                    TestThread {
                        for _ in 0..<100 { Task(executorPreference: executor) { done.increment() } }
                    }.join()
                }, in: .default)
            manual.advance(by: .seconds(2))
            #expect(done.copy == 200)
            #expect(manual.wakeUps == 0)
        }
    }

    @Test func `Jobs from many threads run once each`() async {
        await LoopThread.with { loop in
            let executor = loop.executor
            let done = Locked(0)
            let count = 2000
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<count {
                    group.addTask(executorPreference: index % 2 == 0 ? executor : nil) {
                        await Task.yield()
                        await Task(executorPreference: executor) { done.increment() }.value
                    }
                }
            }
            #expect(done.copy == count)
        }
    }
}
