// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if TaskSleep
import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsKit
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Code that knows no clock and no loop, as in somebody else's library.
private func poll(_ times: Int, _ say: () -> Void) async throws {
    for _ in 0..<times {
        try await Task.sleep(for: .seconds(3600))
        say()
    }
}

/// An actor on the executor that sleeps.
private actor Dormouse: RunLoopActor {
    nonisolated let runLoopExecutor: RunLoop.Executor

    init(runLoopExecutor: RunLoop.Executor) { self.runLoopExecutor = runLoopExecutor }

    func sleep() async throws { try await Task.sleep(for: .seconds(3600)) }
}

@Suite(.ownThread) struct TaskSleepTests {
    @Test func `An hour of Task.sleep takes no time in a manual loop, and wakes nothing else`() {
        ManualRunLoop.with { manual in
            let start = ContinuousClock.now
            let notes = Locked<[Duration]>([])
            let instants = manual.loop.clock
            let began = instants.now
            let other = Locked(0)
            let later = RunLoop.Timer.sendable(.after(.seconds(4 * 3600 + 1))) { _ in other.increment() }
            manual.loop.add(later, in: .default)
            Task(executorPreference: manual.loop.executor) {
                try await poll(4) {
                    let now = began.duration(to: instants.now)
                    notes.withLock { $0.append(now) }
                }
            }
            manual.advance(by: .seconds(3599))
            #expect(notes.copy == [])
            // Each of the next timers is a sleep, and none comes between.
            for hour in 1...4 {
                #expect(manual.advanceToNextTimer())
                manual.advance(by: .zero)
                #expect(notes.copy.count == hour)
            }
            // The delay of each sleep is what was left of the hour when the sleep began.
            let last = notes.copy.last ?? .zero
            #expect(last > .seconds(4 * 3600 - 10) && last <= .seconds(4 * 3600))
            #expect(other.copy == 0)
            // Liveness: the real time is far from an hour.
            #expect(start.duration(to: .now) < .seconds(600))
        }
    }

    @Test func `Sleeps in nanoseconds, on the suspending clock and until an instant are timers of the loop`() {
        ManualRunLoop.with { manual in
            let done = Locked(0)
            for kind in 0..<3 {
                Task(executorPreference: manual.loop.executor) {
                    switch kind {
                    case 0: try await Task.sleep(nanoseconds: 3_600_000_000_000)
                    case 1: try await Task.sleep(for: .seconds(3600), clock: .suspending)
                    default: try await ContinuousClock().sleep(until: .now + .seconds(3600))
                    }
                    done.increment()
                }
            }
            manual.advance(by: .seconds(3000))
            #expect(done.copy == 0)
            manual.advance(by: .seconds(700))
            #expect(done.copy == 3)
        }
    }

    @Test
    func
        `Sleeps in groups, in an async let and in an actor, in tasks that prefer the executor, are timers of the loop`()
    {
        ManualRunLoop.with { manual in
            let executor = manual.loop.executor
            let done = Locked(0)
            let sleep: @Sendable () async throws -> Void = {
                try await Task.sleep(for: .seconds(3600))
                done.increment()
            }
            Task(executorPreference: executor) {
                try await withThrowingTaskGroup { group in
                    for _ in 0..<10 { group.addTask(operation: sleep) }
                    try await group.waitForAll()
                }
            }
            Task(executorPreference: executor) {
                async let first: Void = sleep()
                async let second: Void = sleep()
                _ = try await (first, second)
            }
            let dormouse = Dormouse(runLoopExecutor: executor)
            Task(executorPreference: executor) {
                try await dormouse.sleep()
                done.increment()
            }
            manual.advance(by: .seconds(3599))
            #expect(done.copy == 0)
            manual.advance(by: .seconds(2))
            #expect(done.copy == 13)
        }
    }

    @Test func `A sleep whose loop has ended is not lost`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let begun = Locked(false)
            let thread = LoopThread()
            let task = Task(executorPreference: thread.loop.executor) {
                begun.withLock { $0 = true }
                try await Task.sleep(for: .milliseconds(200))
            }
            while !begun.copy { usleep(1000) }
            thread.end()
            try await task.value
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Keep the loop of that thread running"))
    }

    @Test func `A sleep that is cancelled throws at once`() {
        ManualRunLoop.with { manual in
            let isCancelled = Locked(false)
            let task = Task(executorPreference: manual.loop.executor) {
                do { try await Task.sleep(for: .seconds(3600)) } catch {
                    isCancelled.withLock { $0 = error is CancellationError }
                }
            }
            manual.advance(by: .zero)
            task.cancel()
            manual.advance(by: .seconds(1))
            #expect(isCancelled.copy)
        }
    }

    @Test func `A task on a running loop sleeps at least as long as it asks for`() async throws {
        let thread = try RunLoopThread(name: "sleeper")
        let start = ContinuousClock.now
        try await Task(executorPreference: thread.loop.executor) {
            try await Task.sleep(for: .milliseconds(20))
        }.value
        #expect(start.duration(to: .now) >= .milliseconds(20))
        Task { thread.stop() }
    }
}
#endif
