// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoopsDiagnostics

/// Has a loop's state kept.
private func inspected(_ loop: RunLoop) -> LoopState? {
    let stream = LoopStream.of(loop)
    stream?.add(InspectedLoop())
    return stream?.state
}

@Suite("The state of a loop", .ownThread)
struct LoopStateTests {
    private func watched(_ loop: RunLoop) throws -> LoopState { try #require(inspected(loop)) }

    @Test func `the state of a loop has the callouts under way with label, place and start`() throws {
        try ManualRunLoop.with { manual in
            let status = try watched(manual.loop)
            #expect(status.snapshot().activity == .outside)
            let start = manual.now.nanoseconds
            nonisolated(unsafe) var inside: LoopState.Snapshot?
            let timer = RunLoop.Timer(.after(.milliseconds(5)), label: "tick") { _ in inside = status.snapshot() }
            let line = #line - 1
            manual.loop.add(timer, in: .default)
            manual.advance(by: .milliseconds(10))
            #expect(inside?.activity == .busy && inside?.depth == 1)
            #expect(inside?.callouts.map(\.callee) == [.timer])
            #expect(inside?.callouts.first?.label?.text == "tick")
            #expect(inside?.callouts.first?.label?.location == "RunLoopsDiagnosticsTests/LoopStateTests.swift:\(line)")
            #expect(inside?.callouts.first?.since == start + 5_000_000)
            #expect(status.snapshot().activity == .outside && status.snapshot().callouts.isEmpty)
        }
    }

    @Test func `the state of a loop counts turns, callouts, wake-ups by cause and the time asleep`() throws {
        try ManualRunLoop.with { manual in
            let status = try watched(manual.loop)
            nonisolated(unsafe) var turns: UInt64 = 0
            let observer = RunLoop.Observer(.beforeTimers) { _, _ in turns += 1 }
            manual.loop.add(observer, in: .default)
            let timer = RunLoop.Timer(.every(.milliseconds(10))) { _ in }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .milliseconds(35))
            let snapshot = status.snapshot()
            #expect(turns >= 4 && snapshot.turns == turns)
            #expect(snapshot.calloutCounts.values.reduce(0, +) == 3 + turns)
            #expect(snapshot.wakings == [.wakeUp: 0, .timer: 3, .descriptor: 0, .mainQueue: 0, .limit: 1])
            #expect(snapshot.slept == 35_000_000)
        }
    }

    @Test func `the state of a loop has callouts of nested runs`() throws {
        try ManualRunLoop.with { manual in
            let status = try watched(manual.loop)
            nonisolated(unsafe) var inner: LoopState.Snapshot?
            let loop = manual.loop
            loop.perform {
                loop.perform { inner = status.snapshot() }
                loop.runTurn()
            }
            manual.loop.runTurn()
            #expect(inner?.depth == 2 && inner?.callouts.map(\.callee) == [.block, .block])
        }
    }

    @Test func `the state of a loop can be read by another thread while the loop sleeps and while a callout hangs`() {
        let made = Locked<LoopState?>(nil)
        let gate = Locked(false)
        let loop = Locked<RunLoop?>(nil)
        let thread = TestThread {
            let own = RunLoop.current
            let state = inspected(own)
            let source = RunLoop.Source.sendable(label: "keeps it alive") { _ in }
            own.add(source, in: .default)
            loop.withLock { $0 = own }
            made.withLock { $0 = state }
            own.run()
        }
        while made.copy?.snapshot().activity != .asleep { sched_yield() }
        loop.copy?.perform {
            while !gate.copy { sched_yield() }
        }
        while made.copy?.snapshot().callouts.first?.callee != .block { sched_yield() }
        #expect(made.copy?.snapshot().activity == .busy)
        gate.withLock { $0 = true }
        loop.copy?.stop()
        thread.join()
        #expect(made.copy?.snapshot().activity == .outside)
    }
}

@Suite("The subscribers of a loop", .ownThread)
struct LoopSubscriberTests {
    @Test func `two recordings of one loop have the same events`() {
        ManualRunLoop.with { manual in
            let (first, second) = (RunLoop.Recording(), RunLoop.Recording())
            #expect(first.add(manual.loop) && second.add(manual.loop) && first.add(manual.loop))
            manual.loop.perform {}
            manual.loop.runTurn()
            #expect(first.trace().kinds == second.trace().kinds && !first.trace().kinds.isEmpty)
            #expect(first.trace().loops.count == 1)
            first.stop()
            manual.loop.perform {}
            manual.loop.runTurn()
            #expect(first.trace().kinds.count < second.trace().kinds.count)
            #expect(manual.loop.tracer != nil)
            second.stop()
            #expect(manual.loop.losesTracer(), "no recording is left, and the loop calls no tracer")
        }
    }

    @Test func `a recording added in the middle of a run has the run's depth`() {
        ManualRunLoop.with { manual in
            let recording = RunLoop.Recording()
            let loop = manual.loop
            loop.perform { recording.add(loop) }
            loop.runTurn()
            #expect(recording.trace().loops[0].events.last?.depth == 1)
            loop.perform {}
            loop.runTurn()
            #expect(recording.trace().loops[0].events.allSatisfy { $0.depth == 1 })
        }
    }
}
