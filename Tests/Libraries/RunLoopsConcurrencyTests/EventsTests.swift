// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@Suite(.limited) struct EventsTests {
    // MARK: Ticks

    @Test func `Ticks occur at multiples of the interval, and only the last unread tick is kept`() {
        ManualRunLoop.with { manual in
            let clock = manual.loop.clock
            let start = clock.now
            let seen = Locked<[Int64]>([])
            let ticks = manual.loop.ticks(every: .seconds(1))
            Task(executorPreference: manual.loop.executor) {
                for await tick in ticks {
                    seen.withLock { $0.append((tick.nanoseconds - start.nanoseconds) / 1_000_000_000) }
                    if seen.copy.count == 2 { try await clock.sleep(for: .milliseconds(3500)) }
                    if seen.copy.count == 4 { break }
                }
            }
            manual.advance(by: .seconds(20))
            // While the task slept from 2 to 5.5, ticks 3 and 4 were dropped.
            #expect(seen.copy == [1, 2, 5, 6])
        }
    }

    @Test func `The buffering policy decides how many ticks are kept`() {
        ManualRunLoop.with { manual in
            let all = manual.loop.ticks(every: .seconds(1), buffering: .unbounded)
            let first = manual.loop.ticks(every: .seconds(1), buffering: .oldest(2))
            manual.advance(by: .seconds(5) + .milliseconds(1))
            let counts = Locked<[Int]>([])
            for events in [all, first] {
                Task(executorPreference: manual.loop.executor) {
                    var count = 0
                    events.invalidate()
                    for await _ in events { count += 1 }
                    counts.withLock { [count] in $0.append(count) }
                }
            }
            manual.advance(by: .milliseconds(1))
            #expect(counts.copy.sorted() == [2, 5])
        }
    }

    // MARK: The end

    @Test func `A sequence is removed from the loop by break, cancellation, invalidate and release`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let ended = Locked(0)
            Task(executorPreference: loop.executor) {
                for await _ in loop.ticks(every: .seconds(1)) { break }
                ended.increment()
            }
            let cancelled = Task(executorPreference: loop.executor) {
                for await _ in loop.ticks(every: .seconds(1)) {}
                ended.increment()
            }
            let events = loop.ticks(every: .seconds(1))
            Task(executorPreference: loop.executor) {
                for await _ in events {}
                ended.increment()
            }
            _ = loop.ticks(every: .seconds(1))
            manual.advance(by: .milliseconds(1500))
            #expect(ended.copy == 1)
            #expect(loop.nextTimerDeadline(in: .default) != nil)
            cancelled.cancel()
            events.invalidate()
            #expect(loop.nextTimerDeadline(in: .default) == nil)
            manual.advance(by: .milliseconds(1))
            #expect(ended.copy == 3)
        }
    }

    @Test func `All sequences end with the loop's thread`() async throws {
        let thread = LoopThread()
        let loop = thread.loop
        let ends = DescriptorPair.sockets()
        let ticks = loop.ticks(every: .seconds(3600))
        let activities = loop.activities(.exit)
        let (source, signals) = loop.performs()
        let readiness = try loop.readiness(of: ends.first)
        let waiting = [
            Task { for await _ in ticks {} }, Task { for await _ in activities {} }, Task { for await _ in signals {} },
            Task { for await _ in readiness {} },
        ]
        thread.end()
        for task in waiting { await task.value }
        // And the sequences that are made afterwards end at once.
        for await _ in loop.ticks(every: .seconds(1)) { Issue.record("a tick after the end") }
        for await _ in try loop.readiness(of: ends.first) { Issue.record("an event after the end") }
        withExtendedLifetime(source) {}
    }

    // MARK: Sources, activities, descriptors

    @Test func `Signals sent before a source is performed coalesce into one event`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let (source, events) = loop.performs()
            let seen = Locked(0)
            Task(executorPreference: loop.executor) {
                for await _ in events { seen.increment() }
            }
            manual.advance(by: .milliseconds(1))
            for round in 1...3 {
                source.signal()
                source.signal()
                manual.advance(by: .milliseconds(1))
                #expect(seen.copy == round)
            }
        }
    }

    @Test func `Activities of runs are reported in order`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let seen = Locked<[RunLoop.Activities]>([])
            let events = loop.activities([.entry, .exit], in: "watched")
            loop.add(RunLoop.Source { _ in }, in: "watched")
            for _ in 0..<2 { loop.runTurn(in: "watched") }
            events.invalidate()
            Task(executorPreference: loop.executor) {
                for await activity in events { seen.withLock { $0.append(activity) } }
            }
            manual.advance(by: .milliseconds(1))
            #expect(seen.copy == [.entry, .exit, .entry, .exit])
        }
    }

    @Test func `A descriptor is watched only while the task waits`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let seen = Locked(0)
            let clock = loop.clock
            Task(executorPreference: loop.executor) {
                for await events in try loop.readiness(of: 7) {
                    #expect(events == .readable)
                    if seen.incremented() == 3 { break }
                    try await clock.sleep(for: .seconds(1))
                }
            }
            // Ready all the time, which would be an event a turn.
            manual.setReady(7, .readable)
            manual.advance(by: .seconds(10))
            #expect(seen.copy == 3)
            #expect(manual.sleeps < 20)
        }
    }

    @Test func `A reader receives all bytes up to the end of the stream`() async throws {
        try await LoopThread.with { (loop) async throws -> Void in
            let ends = DescriptorPair.sockets()
            let reader = Task {
                var text = ""
                for await _ in try loop.readiness(of: ends.first) {
                    guard let part = ends.read() else { break }
                    text += part
                }
                return text
            }
            for word in ["one ", "two ", "three"] {
                ends.send(word)
                await Task.yield()
            }
            ends.closeSecond()
            #expect(try await reader.value == "one two three")
        }
    }

    @Test func `readiness throws if the system refuses the descriptor`() async {
        await LoopThread.with { loop in
            #expect(throws: RunLoop.SystemCallError.self) { try loop.readiness(of: 1_000_000) }
        }
    }
}

extension DescriptorPair {
    /// What there is at the first end; nothing if there is nothing yet, `nil` at the end.
    func read() -> String? {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = Glibc.read(first, &bytes, bytes.count)
        if count == 0 { return nil }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
