// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoopsConcurrency

@Suite(.limited) struct ClockTests {
    // MARK: Virtual time

    @Test func `Sleeps under the manual loop take virtual time and end at their instants`() {
        ManualRunLoop.with { manual in
            let clock = manual.loop.clock
            let start = clock.now
            let notes = Locked<[String]>()
            Task(executorPreference: manual.loop.executor) {
                for _ in 0..<3 {
                    try await Task.sleep(for: .seconds(3600), clock: clock)
                    notes.note("\(start.duration(to: clock.now))")
                }
            }
            Task(executorPreference: manual.loop.executor) {
                try await clock.sleep(for: .seconds(5400))
                notes.note("between")
            }
            manual.advance(by: .seconds(3600 * 3 + 1))
            #expect(notes.copy == ["3600.0 seconds", "between", "7200.0 seconds", "10800.0 seconds"])
        }
    }

    @Test func `A sleep with tolerance shares the wake-up of another sleep`() {
        ManualRunLoop.with { manual in
            let clock = manual.loop.clock
            let done = Locked(0)
            Task(executorPreference: manual.loop.executor) {
                try await clock.sleep(for: .seconds(10), tolerance: .seconds(4))
                done.increment()
            }
            Task(executorPreference: manual.loop.executor) {
                try await clock.sleep(for: .seconds(12))
                done.increment()
            }
            manual.advance(by: .zero)
            manual.advance(by: .zero)
            let before = manual.sleeps
            manual.advance(by: .seconds(20))
            #expect(done.copy == 2)
            // To the second's date, where both fire, and to the end.
            #expect(manual.sleeps - before <= 2)
        }
    }

    @Test func `A past deadline ends the sleep in the next turn`() {
        ManualRunLoop.with { manual in
            let done = Locked(0)
            let clock = manual.loop.clock
            Task(executorPreference: manual.loop.executor) {
                try await clock.sleep(until: clock.now - .seconds(1))
                done.increment()
            }
            manual.advance(by: .milliseconds(1))
            #expect(done.copy == 1)
        }
    }

    @Test func `A clock made for a time base and a mode has that time base and ends sleeps only in that mode`() {
        ManualRunLoop.with { manual in
            let done = Locked(0)
            let clock = manual.loop.clock(.boottime, in: "private")
            #expect(clock.now.clock == .boottime)
            Task(executorPreference: manual.loop.executor) {
                try await clock.sleep(for: .seconds(1))
                done.increment()
            }
            manual.advance(by: .seconds(10))
            #expect(done.copy == 0)
            manual.advance(by: .zero, in: "private")
            manual.advance(by: .zero)
            manual.advance(by: .zero)
            #expect(done.copy == 1)
        }
    }

    @Test func `Cancelling a sleep removes its timer`() {
        ManualRunLoop.with { manual in
            let notes = Locked<[String]>()
            let clock = manual.loop.clock
            let sleeper = Task(executorPreference: manual.loop.executor) {
                do {
                    try await Task.sleep(for: .seconds(60), clock: clock)
                } catch {
                    notes.note("\(error)")
                }
            }
            manual.advance(by: .seconds(1))
            #expect(manual.loop.nextTimerDeadline(in: .default) != nil)
            sleeper.cancel()
            #expect(manual.loop.nextTimerDeadline(in: .default) == nil)
            manual.advance(by: .seconds(1))
            #expect(notes.copy == ["CancellationError()"])
        }
    }

    // MARK: Real time

    @Test func `A sleep on a real loop is never shorter than requested`() async throws {
        try await LoopThread.with { loop in
            let clock = loop.clock
            for milliseconds in [0, 1, 5, 20] {
                let start = clock.now
                try await clock.sleep(for: .milliseconds(milliseconds))
                #expect(start.duration(to: clock.now) >= .milliseconds(milliseconds))
            }
        }
    }

    @Test func `A task cancelled before it sleeps does not sleep`() async {
        await LoopThread.with { loop in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await loop.clock.sleep(for: .seconds(3600))
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func `A sleep throws ThreadEndedError if the loop's thread ends or has ended`() async {
        let thread = LoopThread()
        let clock = thread.loop.clock
        let sleeper = Task { try await clock.sleep(for: .seconds(3600)) }
        while thread.loop.nextTimerDeadline(in: .default) == nil { await Task.yield() }
        thread.end()
        await #expect(throws: RunLoop.ThreadEndedError.self) { try await sleeper.value }
        await #expect(throws: RunLoop.ThreadEndedError.self) { try await clock.sleep(for: .zero) }
    }

    // MARK: Time limits

    @Test func `withTimeout returns the value of an operation that ends in time and cancels a late operation`() {
        ManualRunLoop.with { manual in
            let clock = manual.loop.clock
            let notes = Locked<[String]>()
            Task(executorPreference: manual.loop.executor) {
                let value = try await RunLoop.withTimeout(.seconds(2), clock: clock) {
                    try await clock.sleep(for: .seconds(1))
                    return "in time"
                }
                notes.note(value)
                do {
                    try await RunLoop.withTimeout(.seconds(1), clock: clock) {
                        defer { notes.note("ended") }
                        try await clock.sleep(for: .seconds(3600))
                    }
                } catch is RunLoop.TimeoutError {
                    notes.note("timed out")
                }
            }
            manual.advance(by: .seconds(10))
            #expect(notes.copy == ["in time", "ended", "timed out"])
            #expect(manual.loop.nextTimerDeadline(in: .default) == nil)
        }
    }

    @Test func `withTimeout takes every duration on the runtime's clocks`() async throws {
        for duration in [Duration.seconds(Int64.max), .seconds(Int64.max) * 10, .seconds(1 << 40)] {
            #expect(try await RunLoop.withTimeout(duration) { 1 } == 1)
            #expect(try await RunLoop.withTimeout(duration, tolerance: duration) { 2 } == 2)
            #expect(try await RunLoop.withTimeout(duration, clock: SuspendingClock()) { 3 } == 3)
        }
        for duration in [Duration.zero, .seconds(Int64.min), .seconds(Int64.min) * 10] {
            await #expect(throws: RunLoop.TimeoutError.self) {
                try await RunLoop.withTimeout(duration) { try await Task.sleep(for: .seconds(3600)) }
            }
            await #expect(throws: RunLoop.TimeoutError.self) {
                try await RunLoop.withTimeout(duration, clock: SuspendingClock()) {
                    try await Task.sleep(for: .seconds(3600))
                }
            }
        }
    }

    @Test func `A sleep in steps never has a date further away than the time that has passed, and ends at its date`()
        async throws
    {
        let clock = SkippingClock()
        try await clock.sleepInSteps(for: .milliseconds(1000), tolerance: .milliseconds(7))
        #expect(clock.sleeps.copy == [100, 200, 400, 800, 1000].map { .milliseconds($0) })
        #expect(clock.tolerances.copy == [nil, nil, nil, nil, .milliseconds(7)])
        try await clock.sleepInSteps(for: .milliseconds(100), tolerance: nil)
        #expect(clock.sleeps.copy.count == 6)
        let before = clock.sleeps.copy.count
        try await clock.sleepInSteps(for: .seconds(Int64.max), tolerance: .seconds(Int64.max))
        #expect(clock.sleeps.copy.count - before < 40)
    }

    /// In a process of its own, in which nothing else uses memory.
    @Test(.disabled(if: Sanitizer.isAny))
    func `The memory of timeouts that operations have won is free long before their dates`() async {
        await #expect(processExitsWith: .success) {
            func won(_ count: Int) async throws {
                for _ in 0..<count { try await RunLoop.withTimeout(.seconds(3600)) {} }
            }
            try await won(1000)
            let before = residentBytes()
            // 700 bytes each would stay for an hour.
            try await won(100_000)
            #expect(residentBytes() - before < 40 << 20)
        }
    }

    @Test func `withTimeout throws the operation's error`() async {
        struct Refusal: Error {}
        await #expect(throws: Refusal.self) {
            try await RunLoop.withTimeout(.seconds(30), clock: ContinuousClock()) { throw Refusal() }
        }
    }
}

/// A clock whose sleeps end at once, at their dates.
private final class SkippingClock: Clock, Sendable {
    let sleeps = Locked<[Duration]>([])
    let tolerances = Locked<[Duration?]>([])
    private let start = ContinuousClock.now

    var now: ContinuousClock.Instant { start }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        sleeps.withLock { $0.append(start.duration(to: deadline)) }
        tolerances.withLock { $0.append(tolerance) }
    }
}
