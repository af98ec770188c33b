// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoops
@testable import RunLoopsDiagnostics

@Suite("A histogram of durations")
struct DurationHistogramTests {
    @Test func `a histogram has steps in ascending order, and each duration is at most the end of its step`() {
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

    @Test func `a histogram gives percentiles within an eighth and the exact longest duration`() {
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

    @Test func `a difference has the durations added since the earlier histogram`() {
        var histogram = RunLoop.DurationHistogram()
        histogram.add(nanoseconds: 5)
        let earlier = histogram
        histogram.add(nanoseconds: 100)
        let difference = histogram.since(earlier)
        #expect(difference.count == 1 && difference.sum == 100 && difference.percentile(0.5) == 100)
        #expect(difference.longest == 100)
    }

    @Test func `the difference of two histograms has its own longest duration`() {
        var histogram = RunLoop.DurationHistogram()
        histogram.add(nanoseconds: 3_000_000_000)
        let earlier = histogram
        histogram.add(nanoseconds: 1000)
        let longest = histogram.since(earlier).longest
        #expect(longest >= 1000 && longest <= 1125)
        #expect(histogram.since(histogram).longest == 0)
    }
}

@Suite("Statistics of a loop", .limited)
struct LoopStatisticsTests {
    private static func metered(_ loop: RunLoop) throws -> LoopMeter {
        let stream = try #require(LoopStream.of(loop))
        let meter = LoopMeter(stream.state)
        stream.add(meter)
        return meter
    }

    @Test func `statistics count turns, wake-ups by cause, and time asleep and awake`() throws {
        try ManualRunLoop.with { manual in
            let meter = try Self.metered(manual.loop)
            let timer = RunLoop.Timer(.every(.milliseconds(10)), label: "tick") { _ in
                manual.elapse(.milliseconds(2))
            }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .milliseconds(35))
            let statistics = meter.read().statistics
            #expect(statistics.wakings[.timer] == 3)
            #expect(statistics.callouts[.timer] == 3)
            #expect(statistics.busy == 6_000_000)
            #expect(statistics.dearest.map(\.label) == ["tick"])
            #expect(statistics.dearest.first?.total == 6_000_000 && statistics.dearest.first?.longest == 2_000_000)
            #expect(statistics.lateness.count == 3 && statistics.lateness.longest == 0)
            #expect(statistics.busyShare > 0.1 && statistics.busyShare < 0.2)
        }
    }

    @Test func `the sleep of a nested run does not count as time of the callout that runs it`() throws {
        try ManualRunLoop.with { manual in
            let meter = try Self.metered(manual.loop)
            let loop = manual.loop
            let timer = RunLoop.Timer(.after(.milliseconds(10)), label: "outer") { _ in
                _ = loop.run(in: .default, for: .milliseconds(50))
            }
            let keeper = RunLoop.Source { _ in }
            loop.add(keeper, in: .default)
            loop.add(timer, in: .default)
            manual.advance(by: .milliseconds(70))
            #expect(meter.read().statistics.dearest.first { $0.label == "outer" }?.total == 0)
            #expect(meter.read().statistics.asleep >= 60_000_000)
        }
    }

    @Test func `statistics have the time that a signal and a block waited`() async {
        // A process of its own: a storm of signals in another test's threads pushes this one out of the process's row.
        await #expect(processExitsWith: .success) {
            try ManualRunLoop.with { manual in
                rl_count_recorders(1)
                defer { rl_count_recorders(-1) }
                let meter = try LoopStatisticsTests.metered(manual.loop)
                let source = RunLoop.Source(label: "input") { _ in }
                manual.loop.add(source, in: .default)
                source.signal()
                manual.loop.perform {}
                manual.elapse(.milliseconds(3))
                manual.loop.runTurn()
                let statistics = meter.read().statistics
                #expect(statistics.latency[.source]?.longest == 3_000_000)
                #expect(statistics.latency[.block]?.longest == 3_000_000)
            }
        }
    }

    @Test func `statistics of items with one label are summed, and a difference leaves out earlier callouts`() throws {
        try ManualRunLoop.with { manual in
            let meter = try Self.metered(manual.loop)
            let sources = (0..<3).map { _ in RunLoop.Source(label: "same") { _ in } }
            for source in sources { manual.loop.add(source, in: .default) }
            for source in sources { source.signal() }
            manual.loop.runTurn()
            let earlier = meter.read().statistics
            #expect(earlier.dearest.map(\.count) == [3])
            sources[0].signal()
            manual.loop.runTurn()
            let difference = meter.read().statistics.since(earlier)
            #expect(difference.dearest.map(\.count) == [1] && difference.callouts[.source] == 1)
            manual.loop.runTurn()
            #expect(meter.read().statistics.since(meter.read().statistics).dearest.isEmpty)
        }
    }

    @Test func `statistics count callouts beyond the size of the table as not assigned`() {
        let table = CalloutTable()
        for number in 1...300 { table.add(.block, (0, UInt64(number)), 1) }
        let statistics = Self.read(table)
        #expect(statistics.dearest.reduce(0) { $0 + $1.count } == 256)
        #expect(statistics.notAssigned == 44 && statistics.timeNotAssigned == 44)
    }

    @Test func `statistics keep the callout with the greatest total time among many others`() throws {
        let table = CalloutTable()
        let labels = LabelKeeper()
        var exact: UInt64 = 0
        // Ten of a name each that comes once, and then the one that comes again and again.
        for number in 0..<100_000 {
            table.add(.block, (0, UInt64(number)), 10)
            guard number % 10 == 0 else { continue }
            let tick = labels.keep(Self.tick)
            table.add(.timer, (tick.label, tick.line), 20)
            exact += 1
        }
        let statistics = Self.read(table)
        let dearest = try #require(statistics.dearest.first)
        #expect(dearest.label == "tick" && dearest.callee == .timer)
        #expect(dearest.count == exact && dearest.total == Int64(exact) * 20 && dearest.longest == 20)
        #expect(statistics.dearest.count <= CalloutTable.maxEntries)
        #expect(statistics.dearest.reduce(0) { $0 + $1.count } + statistics.notAssigned == 110_000)
        let time = statistics.dearest.reduce(0) { $0 + $1.total } + statistics.timeNotAssigned
        #expect(time == 1_000_000 + Int64(exact) * 20)
    }

    private static let tick = ItemLabel("tick")

    private static func read(_ table: CalloutTable, endsRound: Bool = false) -> RunLoop.Statistics {
        var statistics = RunLoop.Statistics()
        table.read(into: &statistics, endsRound: endsRound)
        return statistics
    }

    @Test func `statistics have the longest callout of all time and since the last report`() {
        let table = CalloutTable()
        table.add(.block, (0, 1), 500)
        #expect(Self.read(table, endsRound: true).dearest.map(\.longestLately) == [500])
        table.add(.block, (0, 1), 20)
        #expect(Self.read(table).dearest.map(\.longestLately) == [20])
        #expect(Self.read(table, endsRound: true).dearest.map(\.longest) == [500])
        #expect(Self.read(table, endsRound: true).dearest.map(\.longestLately) == [0])
    }

    @Test func `a timer that fires within its tolerance is not late`() throws {
        try ManualRunLoop.with { manual in
            let meter = try Self.metered(manual.loop)
            let second = Duration.seconds(1)
            let timer = RunLoop.Timer(.every(second), tolerance: .milliseconds(400), label: "tolerant") { _ in }
            manual.loop.add(timer, in: .default)
            manual.advance(by: second * 10)
            let statistics = meter.read().statistics
            #expect(statistics.lateness.count > 5)
            #expect(statistics.lateness.longest == 0)
        }
    }
}

extension ManualRunLoop {
    /// Lets time pass in a callout.
    fileprivate func elapse(_ duration: Duration) {
        guard let kernel = loop.kernel as? ManualKernel else { return }
        kernel.advance(to: kernel.now(.monotonic) + duration.clampedNanoseconds)
    }
}
