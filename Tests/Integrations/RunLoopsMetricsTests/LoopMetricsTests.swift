// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Metrics
import CoreMetrics
import Glibc
import MetricsTestKit
import RunLoops
import RunLoopsDiagnostics
import RunLoopsMetrics
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@Suite(.limited) struct LoopMetricsTests {
    /// The dimension that all metrics of the only loop of this backend have.
    private func loopName(_ backend: TestMetrics) throws -> (String, String) {
        try #require(backend.counters(label: "run_loop_turns").first?.dimensions.first)
    }

    @Test func `A loop reports before a sleep, at most once an interval, and when the metrics stop`() throws {
        let backend = TestMetrics()
        try ManualRunLoop.with { manual in
            let metrics = LoopMetrics(every: .seconds(1), factory: backend)
            #expect(metrics.add(manual.loop))
            manual.loop.add(RunLoop.Timer(.every(.milliseconds(100))) { _ in }, in: .default)
            let sleeps = manual.sleeps
            manual.advance(by: .milliseconds(2_550))
            // The timer's sleeps, and the sleep until the end of the time: none of this library.
            #expect(manual.sleeps - sleeps == 26)
            let loop = try loopName(backend)
            let turns = try backend.expectCounter("run_loop_turns", [loop])
            #expect(turns.values.count == 2)
            metrics.stop()
            #expect(turns.values.count == 3)
            #expect(try backend.expectCounter("run_loop_callouts", [loop, ("kind", "timer")]).totalValue == 25)
            #expect(try backend.expectCounter("run_loop_wake_ups", [loop, ("cause", "timer")]).totalValue == 25)
            #expect(try backend.expectMeter("run_loop_busy_share", [loop]).lastValue == 0)
            manual.advance(by: .seconds(5))
            #expect(turns.values.count == 3)
        }
    }

    @Test func `Without an interval a loop reports only when report is called`() throws {
        let backend = TestMetrics()
        try ManualRunLoop.with { manual in
            let metrics = LoopMetrics(every: nil, factory: backend)
            metrics.add(manual.loop)
            manual.loop.add(RunLoop.Timer(.every(.milliseconds(100))) { _ in }, in: .default)
            manual.advance(by: .seconds(100))
            let loop = try loopName(backend)
            #expect(try backend.expectCounter("run_loop_turns", [loop]).values.isEmpty)
            metrics.report()
            #expect(try backend.expectCounter("run_loop_turns", [loop]).totalValue >= 1_000)
            // What is not new is not reported again.
            metrics.report()
            #expect(try backend.expectCounter("run_loop_callouts", [loop, ("kind", "timer")]).values.last == 0)
        }
    }

    @Test func `Latency is reported by kind and quantile, in seconds`() throws {
        let backend = TestMetrics()
        try ManualRunLoop.with { manual in
            let metrics = LoopMetrics(every: nil, factory: backend)
            metrics.add(manual.loop)
            manual.loop.add(RunLoop.Timer(.after(.seconds(2))) { _ in }, in: .default)
            // Posted without a wake-up, it waits for the timer.
            manual.loop.add(
                RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in manual.loop.perform(wake: false) {} },
                in: .default)
            manual.advance(by: .seconds(3))
            metrics.report()
            let loop = try loopName(backend)
            let meter = try backend.expectMeter(
                "run_loop_latency_seconds", [loop, ("kind", "block"), ("quantile", "0.99")])
            #expect(try #require(meter.lastValue) == 2)
            #expect(try backend.expectMeter("run_loop_pending", [loop]).lastValue == 0)
        }
    }

    @Test func `A hang is counted once with its length and cause`() throws {
        let backend = TestMetrics()
        let metrics = LoopMetrics(every: nil, factory: backend)
        var options = RunLoop.HangWatch.Options()
        options.takesStacks = false
        let number = Locked<Int?>(nil)
        let watch = try RunLoop.HangWatch(options: options) { hang in
            // On a busy machine the thread may wait that long for a processor, which is a hang of no callout.
            let isWanted = number.withLock { number in
                if number == nil, hang.stage == .began, hang.callout?.label == "sync" { number = hang.number }
                return number == hang.number
            }
            if isWanted { metrics.count(hang) }
        }
        let loop = RunLoop.current
        try watch.add(loop, limit: .milliseconds(20))
        loop.add(
            RunLoop.Timer(.every(.milliseconds(1)), label: "sync") { timer in
                // A hang that began before this callout is none of it, and is over when it returns.
                for _ in 0..<10 where number.copy == nil { usleep(200_000) }
                if number.copy != nil { timer.invalidate() }
            }, in: .default)
        while loop.run(in: .default, for: .seconds(1)) != .finished {}
        while backend.counterTotal(label: "run_loop_hangs") == 0 { usleep(1000) }
        watch.stop()
        #expect(backend.counterTotal(label: "run_loop_hangs") == 1)
        let timer = try #require(backend.timers(label: "run_loop_hang_seconds").first)
        #expect(timer.values.count == 1 && timer.values[0] >= 200_000_000)
        #expect(timer.dimensions.contains { $0 == ("cause", "waiting") })
    }
}
#endif
