// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTesting
import Testing

@testable import RunLoopsDiagnostics

@Suite("A histogram of durations")
struct DurationHistogramTests {
    @Test func `has a step for every duration, in order, and none is longer than its step's end`() {
        var last = -1
        for power in 0..<44 {
            for offset in [0, 1, 3] {
                let value = Int64(1) << power + Int64(offset) * (Int64(1) << max(0, power - 3))
                let step = RunLoop.DurationHistogram.step(value)
                #expect(step >= 0 && step < RunLoop.DurationHistogram.stepCount)
                #expect(value <= RunLoop.DurationHistogram.upperEnd(step))
                #expect(step == 0 || value > RunLoop.DurationHistogram.upperEnd(step - 1))
                if offset == 0 {
                    #expect(step >= last)
                    last = step
                }
            }
        }
        #expect(RunLoop.DurationHistogram.step(-5) == 0)
        #expect(RunLoop.DurationHistogram.step(.max) == RunLoop.DurationHistogram.stepCount - 1)
    }

    @Test func `gives percentiles within an eighth, and the longest exactly`() {
        var histogram = RunLoop.DurationHistogram()
        for value in 1...1000 { histogram.add(nanoseconds: Int64(value) * 1000) }
        #expect(histogram.count == 1000 && histogram.mean == 500_500 && histogram.longest == 1_000_000)
        for share in [0.01, 0.5, 0.9, 0.99] {
            let exact = share * 1_000_000
            let found = Double(histogram.percentile(share))
            #expect(found >= exact && found <= exact * 1.125 + 1)
        }
        #expect(histogram.percentile(1) == 1_000_000)
        #expect(RunLoop.DurationHistogram().percentile(0.5) == 0)
    }

    @Test func `a difference has what came since`() {
        var histogram = RunLoop.DurationHistogram()
        histogram.add(nanoseconds: 5)
        let earlier = histogram
        histogram.add(nanoseconds: 100)
        let difference = histogram.since(earlier)
        #expect(difference.count == 1 && difference.sum == 100 && difference.percentile(0.5) == 100)
    }
}

@Suite("Statistics of a loop", .timeLimit(.minutes(10)))
struct LoopStatisticsTests {
    private func metered(_ loop: RunLoop) -> LoopMeter {
        let meter = LoopMeter(loop)
        #expect(LoopAnnouncer.add(meter, to: loop) != nil)
        return meter
    }

    @Test func `count turns, wake-ups by cause, and time asleep and awake`() {
        ManualRunLoop.with { manual in
            let meter = metered(manual.loop)
            let timer = RunLoop.Timer(.every(.milliseconds(10)), label: "tick") { _ in
                manual.elapse(.milliseconds(2))
            }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .milliseconds(35))
            let statistics = meter.snapshot()
            #expect(statistics.wakings[.timer] == 3)
            #expect(statistics.callouts[.timer] == 3)
            #expect(statistics.busy == 6_000_000)
            #expect(statistics.dearest.map(\.label) == ["tick"])
            #expect(statistics.dearest.first?.total == 6_000_000 && statistics.dearest.first?.longest == 2_000_000)
            #expect(statistics.lateness.count == 3 && statistics.lateness.longest == 0)
            #expect(statistics.busyShare > 0.1 && statistics.busyShare < 0.2)
        }
    }

    @Test func `what a callout sleeps in a run inside it is not its own`() {
        ManualRunLoop.with { manual in
            let meter = metered(manual.loop)
            let loop = manual.loop
            let timer = RunLoop.Timer(.after(.milliseconds(10)), label: "outer") { _ in
                _ = loop.run(mode: .default, for: .milliseconds(50))
            }
            let keeper = RunLoop.Source { _ in }
            loop.add(keeper, in: .default)
            loop.add(timer, in: .default)
            manual.advance(by: .milliseconds(70))
            #expect(meter.snapshot().dearest.first { $0.label == "outer" }?.total == 0)
            #expect(meter.snapshot().asleep >= 60_000_000)
        }
    }

    @Test func `say how long a signal and a block had waited`() {
        ManualRunLoop.with { manual in
            NewLoops.setRecorded(true)
            defer { NewLoops.setRecorded(false) }
            let meter = metered(manual.loop)
            let source = RunLoop.Source(label: "input") { _ in }
            manual.loop.add(source, in: .default)
            source.signal()
            manual.loop.perform {}
            manual.elapse(.milliseconds(3))
            manual.loop.poll()
            let statistics = meter.snapshot()
            #expect(statistics.latency[.source]?.longest == 3_000_000)
            #expect(statistics.latency[.block]?.longest == 3_000_000)
        }
    }

    @Test func `of items with one label are counted together, and a difference leaves out what was before`() {
        ManualRunLoop.with { manual in
            let meter = metered(manual.loop)
            let sources = (0..<3).map { _ in RunLoop.Source(label: "same") { _ in } }
            for source in sources { manual.loop.add(source, in: .default) }
            for source in sources { source.signal() }
            manual.loop.poll()
            let earlier = meter.snapshot()
            #expect(earlier.dearest.map(\.count) == [3])
            sources[0].signal()
            manual.loop.poll()
            let difference = meter.snapshot().since(earlier)
            #expect(difference.dearest.map(\.count) == [1] && difference.callouts[.source] == 1)
            manual.loop.poll()
            #expect(meter.snapshot().since(meter.snapshot()).dearest.isEmpty)
        }
    }

    @Test func `of more kinds of callouts than there is room for are counted as such`() {
        let table = CalloutTable()
        for number in 1...300 { table.add(.block, (0, UInt64(number)), 1) }
        let (dearest, left) = table.snapshot()
        #expect(dearest.reduce(0) { $0 + $1.count } == 256 && left == 44)
    }
}

extension ManualRunLoop {
    /// Lets time pass in a callout.
    fileprivate func elapse(_ duration: Duration) {
        guard let kernel = loop.kernel as? ManualKernel else { return }
        kernel.advance(to: kernel.now(.monotonic) + duration.clampedNanoseconds)
    }
}
