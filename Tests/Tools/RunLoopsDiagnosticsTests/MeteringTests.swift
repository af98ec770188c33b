// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsDiagnostics
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoops

@Suite("Metering", .ownThread)
struct MeteringTests {
    @Test func `a reading has the counts of the loop's work so far`() throws {
        try ManualRunLoop.with { manual in
            let metering = RunLoop.Metering()
            #expect(metering.add(manual.loop) && metering.add(manual.loop))
            manual.loop.add(RunLoop.Timer(.every(.milliseconds(10))) { _ in }, in: .default)
            manual.advance(by: .milliseconds(35))
            let readings = metering.readings()
            #expect(readings.count == 1)
            let reading = try #require(readings.first)
            #expect(reading.statistics.wakings[.timer] == 3)
            #expect(reading.statistics.callouts[.timer] == 3)
            #expect(reading.statistics.asleep == 35_000_000)
            #expect(reading.change == reading.statistics)
            #expect(!reading.isAsleep && reading.pending == 0)
        }
    }

    @Test func `A turn counts at most one wake-up, whatever is posted, postponed or run in the turn`() throws {
        let result = Locked<RunLoop.Statistics?>(nil)
        let thread = TestThread {
            let loop = RunLoop.current
            let metering = RunLoop.Metering()
            metering.add(loop)
            let late = RunLoop.Timer.sendable(.after(.seconds(3600)), label: "late") { _ in }
            loop.add(late, in: .default)
            let tick = RunLoop.Timer(.every(.milliseconds(1)), label: "tick") { _ in
                loop.run(in: .default, for: .microseconds(100))
            }
            loop.add(tick, in: .default)
            let isDone = Locked(false)
            let other = TestThread {
                for number in 0..<500 {
                    // A sleeping loop is woken for the first, and does not turn.
                    late.restart(after: .seconds(3600 - number))
                    loop.perform {}
                    loop.wakeUp()
                }
                isDone.withLock { $0 = true }
            }
            // Once at least: the other thread may have done all of it already.
            repeat { loop.run(in: .default, for: .milliseconds(20)) } while !isDone.copy
            other.join()
            result.withLock { $0 = metering.readings().first?.statistics }
        }
        thread.join()
        let statistics = try #require(result.copy)
        #expect(statistics.turns > 0)
        #expect(statistics.wakings.values.reduce(0, +) <= statistics.turns)
    }

    @Test func `metering reports before a sleep, at most once an interval, and when it is stopped`() {
        ManualRunLoop.with { manual in
            let told = Locked<[RunLoop.Metering.Report]>([])
            let metering = RunLoop.Metering(every: .seconds(1)) { _ in { report in told.withLock { $0.append(report) } }
            }
            metering.add(manual.loop)
            manual.loop.add(RunLoop.Timer(.every(.milliseconds(100))) { _ in }, in: .default)
            let sleeps = manual.sleeps
            manual.advance(by: .milliseconds(3_550))
            #expect(told.copy.count == 3)
            // No wake-up more than the timer's, and the end of the time.
            #expect(manual.sleeps - sleeps == 36)
            metering.stop()
            metering.stop()
            #expect(told.copy.count == 4)
            #expect(told.copy.reduce(0) { $0 + ($1.change.callouts[.timer] ?? 0) } == 35)
            #expect(told.copy.last?.statistics.callouts[.timer] == 35)
            manual.advance(by: .seconds(3))
            #expect(told.copy.count == 4)
        }
    }

    @Test func `metering reports only on request if it has no interval`() {
        ManualRunLoop.with { manual in
            let told = Locked<[UInt64]>([])
            let metering = RunLoop.Metering(every: nil) { loop in
                #expect(loop.thread != 0)
                return { report in told.withLock { $0.append(report.change.callouts[.block] ?? 0) } }
            }
            metering.add(manual.loop)
            for _ in 0..<3 {
                manual.loop.perform {}
                manual.loop.runTurn()
            }
            #expect(told.copy.isEmpty)
            metering.report()
            metering.report()
            #expect(told.copy == [3, 0])
        }
    }

    @Test func `metering includes the present sleep, the present callout and the pending work`() {
        let metering = RunLoop.Metering()
        let shared = Locked<RunLoop?>(nil)
        let gate = Locked(false)
        let thread = TestThread {
            let loop = RunLoop.current
            loop.add(RunLoop.Source { _ in }, in: .default)
            metering.add(loop)
            shared.withLock { $0 = loop }
            loop.run()
        }
        while metering.readings().first?.isAsleep != true { sched_yield() }
        let asleep = metering.readings().first?.statistics.asleep ?? 0
        while metering.readings().first?.statistics.asleep ?? 0 < asleep + 1_000_000 { sched_yield() }
        let loop = shared.copy
        loop?.perform { while !gate.copy { sched_yield() } }
        while metering.readings().first?.statistics.callouts[.block] ?? 0 == 0 { sched_yield() }
        let busy = metering.readings().first?.statistics.busy ?? 0
        while metering.readings().first?.statistics.busy ?? 0 < busy + 1_000_000 { sched_yield() }
        for _ in 0..<3 { loop?.perform {} }
        #expect(metering.readings().first?.pending == 3)
        gate.withLock { $0 = true }
        while metering.readings().first?.pending != 0 { sched_yield() }
        loop?.stop()
        thread.join()
    }

    @Test func `a loop whose thread has ended is reported once more and removed`() {
        let told = Locked<[RunLoop.Metering.Report]>([])
        let metering = RunLoop.Metering(every: .seconds(3600)) { _ in { report in told.withLock { $0.append(report) } }
        }
        metering.addNewLoops()
        let number = TestThread.run { () -> Int32 in
            RunLoop.current.perform {}
            RunLoop.current.runTurn()
            return SystemCalls.threadID
        }
        metering.report()
        // Other tests' threads make loops as well, and then one of those loops may make the last report.
        func own() -> [RunLoop.Metering.Report] { told.copy.filter { $0.loop.thread == number && !$0.loop.isMain } }
        waitUntil { !own().isEmpty }
        #expect(own().map { $0.statistics.callouts[.block] ?? 0 } == [1])
        #expect(!metering.readings().contains { $0.loop.thread == number })
    }
}

@Suite("A watch on callouts and runs", .ownThread)
struct LoopWatchTests {
    @Test func `a watch reports slow callouts with label, place and duration, and no kind without a limit`() throws {
        let told = Locked<[RunLoop.Watch.SlowCallout]>([])
        let watch = RunLoop.Watch(limits: [.timer: .milliseconds(2)], watchesRuns: false) { event in
            if case .slowCallout(let callout) = event { told.withLock { $0.append(callout) } }
        }
        let line = #line + 5
        TestThread.run {
            let loop = RunLoop.current
            watch.add(loop)
            let ticks = Locked(0)
            let timer = RunLoop.Timer(.every(.milliseconds(1)), label: "slow") { timer in
                if ticks.withLock({
                    $0 += 1
                    return $0
                }) == 3 {
                    timer.invalidate()
                }
                usleep(3_000)
            }
            loop.add(timer, in: .default)
            loop.add(RunLoop.Timer(.after(.zero), label: "fast") { _ in }, in: .default)
            // Of a kind without a limit.
            loop.perform { usleep(3_000) }
            loop.run()
        }
        let slow = told.copy.filter { $0.label == "slow" }
        #expect(slow.count == 3)
        let first = try #require(slow.first)
        #expect(first.callee == .timer && first.depth == 1 && first.length >= .milliseconds(3))
        #expect(first.place == "RunLoopsDiagnosticsTests/MeteringTests.swift:\(line)")
        #expect(first.waited != nil)
        #expect(!told.copy.contains { $0.callee == .block })
    }

    @Test func `a watch reports slow callouts of one kind and label at most once per pause and counts the others`() {
        let told = Locked<[RunLoop.Watch.SlowCallout]>([])
        ManualRunLoop.with { manual in
            let limits: [RunLoop.Trace.Event.Callee: Duration] = [.timer: .milliseconds(10)]
            let watch = RunLoop.Watch(limits: limits, pause: .seconds(1), watchesRuns: false) { event in
                if case .slowCallout(let callout) = event { told.withLock { $0.append(callout) } }
            }
            watch.add(manual.loop)
            let kernel = manual.loop.kernel as? ManualKernel
            func slow(_ label: String) -> RunLoop.Timer {
                RunLoop.Timer(.every(.milliseconds(100)), label: label) { timer in
                    kernel?.advance(to: (kernel?.now(.monotonic) ?? 0) + 20_000_000)
                }
            }
            let timer = slow("tick")
            manual.loop.add(timer, in: .default)
            manual.advance(by: .milliseconds(2050))
            timer.invalidate()
            manual.loop.add(slow("tock"), in: .default)
            manual.advance(by: .milliseconds(150))
        }
        #expect(told.copy.map(\.label) == ["tick", "tick", "tock"])
        #expect(told.copy.map(\.leftOut) == [0, 9, 0])
        #expect(told.copy.first?.description.hasSuffix(": 20 ms, limit 10 ms") == true)
    }

    @Test func `the sleep of a nested run does not count as time of the callout that runs it`() {
        let told = Locked<[String]>([])
        ManualRunLoop.with { manual in
            let watch = RunLoop.Watch(limits: [.block: .milliseconds(5)], watchesRuns: false) { event in
                if case .slowCallout(let callout) = event { told.withLock { $0.append(callout.label) } }
            }
            watch.add(manual.loop)
            manual.loop.add(RunLoop.Timer(.after(.seconds(10))) { _ in }, in: .default)
            let loop = manual.loop
            loop.performLocally { _ = loop.run(in: .default, for: .seconds(1)) }
            loop.runTurn()
        }
        #expect(told.copy.isEmpty)
    }

    @Test func `a watch reports each run that ends, nested runs first`() {
        let told = Locked<[RunLoop.Watch.EndedRun]>([])
        ManualRunLoop.with { manual in
            let watch = RunLoop.Watch(limits: [:]) { event in
                if case .runEnded(let run) = event { told.withLock { $0.append(run) } }
            }
            watch.add(manual.loop)
            let loop = manual.loop
            loop.add(RunLoop.Source { _ in }, in: .tracking)
            loop.performLocally { _ = loop.run(in: .tracking, for: .seconds(1)) }
            loop.runTurn()
            #expect(told.copy.map(\.mode) == [.tracking, .default])
            #expect(told.copy.map(\.depth) == [2, 1])
            #expect(told.copy.map(\.length) == [.seconds(1), .seconds(1)])
            #expect(told.copy.map(\.result) == [.timedOut, .timedOut])
            watch.stop()
            loop.runTurn()
            #expect(told.copy.count == 2)
        }
    }
}
