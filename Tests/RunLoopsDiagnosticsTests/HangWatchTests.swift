import Glibc
import RunLoops
import RunLoopsTesting
import Testing

@testable import RunLoopsDiagnostics

@Suite("The callouts of a stretch of work", .timeLimit(.minutes(1)))
struct StretchTallyTests {
    private let label = UInt64(UInt(bitPattern: Self.file.utf8Start))
    private static let file: StaticString = "Module/File.swift"

    private func returns(_ tally: StretchTally, line: UInt64, _ since: Int64, _ end: Int64) {
        tally.returns(
            callee: UInt64(TraceEvent.Callee.timer.rawValue), label: label, line: line, since: since, at: end)
    }

    @Test func `are counted by label, the greatest first`() {
        let tally = StretchTally(limit: 1000)
        tally.begins(at: 0)
        for time in 0..<50 { returns(tally, line: 7, Int64(time), Int64(time) + 1) }
        returns(tally, line: 8, 50, 60)
        let stretch = tally.read().present
        #expect(stretch.callouts == 51)
        #expect(stretch.commonest.map(\.count) == [50, 1] && stretch.commonest.map(\.time) == [50, 10])
        #expect(stretch.commonest.first?.label?.text == "Module/File.swift:7")
        #expect(stretch.longest?.label?.text == "Module/File.swift:8" && stretch.longest?.time == 10)
    }

    @Test func `one that only waited for another inside it is not the longest`() {
        let tally = StretchTally(limit: 1000)
        tally.begins(at: 0)
        returns(tally, line: 2, 10, 500)
        returns(tally, line: 1, 0, 510)
        #expect(tally.read().present.longest?.label?.text == "Module/File.swift:2")
        returns(tally, line: 0, 0, 1000)
        #expect(tally.read().present.longest?.label?.text == "Module/File.swift:0", "it took as much by itself")
    }

    @Test func `time before the stretch does not count`() {
        let tally = StretchTally(limit: 1000)
        tally.begins(at: 100)
        returns(tally, line: 1, 0, 150)
        #expect(tally.read().present.longest?.time == 50)
    }

    @Test func `a long stretch is kept until the next long one`() {
        let tally = StretchTally(limit: 1000)
        tally.begins(at: 0)
        returns(tally, line: 1, 0, 2000)
        #expect(tally.ends(at: 2000))
        tally.begins(at: 3000)
        returns(tally, line: 2, 3000, 3001)
        #expect(!tally.ends(at: 3001))
        let (present, long) = tally.read()
        #expect(long.began == 0 && long.ended == 2000 && long.longest?.time == 2000)
        #expect(present.callouts == 1)
    }

    @Test func `a thousand labels need no more room than eight, and the heaviest stays`() {
        let tally = StretchTally(limit: .max)
        tally.begins(at: 0)
        var time: Int64 = 0
        for line in UInt64(0)..<1000 {
            returns(tally, line: 5000, time, time + 100)
            returns(tally, line: line, time + 100, time + 101)
            time += 101
        }
        let stretch = tally.read().present
        #expect(stretch.commonest.count <= 8)
        #expect(stretch.commonest.first?.label?.text == "Module/File.swift:5000")
    }
}

@Suite("Slow callouts", .timeLimit(.minutes(1)))
struct SlowCalloutTests {
    /// A loop whose callouts take as long as they are told to, and what is said of them.
    private func told(
        limits: SlowCalloutWatch.Limits = .init(.milliseconds(10)), pause: Duration = .seconds(1),
        _ events: [(LoopEvent, Int64)]
    ) -> [SlowCallout] {
        let told = Shared<[SlowCallout]>([])
        let listener = SlowCalloutListener(limits, pause.clampedNanoseconds) { told.set(told.value + [$0]) }
        for (event, milliseconds) in events { listener.hear(event, at: milliseconds * 1_000_000, depth: 1) }
        return told.value
    }

    private func calls(_ callee: LoopEvent.Callee = .timer, _ label: String = "tick") -> LoopEvent {
        .calls(callee, ItemLabel(label))
    }

    @Test func `are told of when they have returned, with their time`() {
        let told = told([(calls(), 0), (.returns, 9), (calls(), 20), (.returns, 35)])
        #expect(told.map(\.duration) == [.milliseconds(15)])
        #expect(told.first?.description == "slow timer tick: 15 ms, limit 10 ms")
    }

    @Test func `each kind has its own limit, or none`() {
        var limits = SlowCalloutWatch.Limits(nil)
        limits[.block] = .milliseconds(5)
        #expect(limits[.timer] == nil && limits[.block] == .milliseconds(5))
        let told = told(limits: limits, [(calls(), 0), (.returns, 1000), (calls(.block), 1000), (.returns, 1006)])
        #expect(told.map(\.kind) == [.block])
    }

    @Test func `with the same label are counted for a while, and others are not`() {
        var events: [(LoopEvent, Int64)] = []
        for time in stride(from: Int64(0), to: 2000, by: 100) { events += [(calls(), time), (.returns, time + 20)] }
        events += [(calls(.timer, "tock"), 2000), (.returns, 2020)]
        let told = told(events)
        #expect(told.map(\.label) == ["tick", "tick", "tock"])
        #expect(told.map(\.leftOut) == [0, 9, 0])
    }

    @Test func `what a run inside one sleeps is not its time`() {
        ManualRunLoop.with { manual in
            let told = Shared<[SlowCallout]>([])
            let watch = SlowCalloutWatch(limits: .init(.milliseconds(10))) { told.set(told.value + [$0]) }
            #expect(watch.add(manual.loop))
            let loop = manual.loop
            loop.perform {
                loop.add(RunLoop.Timer(.after(.seconds(5))) { _ in loop.stop() }, in: .default)
                loop.run()
            }
            loop.poll()
            #expect(told.value.isEmpty)
            watch.stop()
            loop.perform {}
            loop.poll()
            #expect(loop.engine.tracer == nil)
        }
    }
}

@Suite("Watching a loop for hangs", .serialized, .timeLimit(.minutes(1)))
struct HangWatchTests {
    /// Runs a loop on a thread of its own, with `body` in a timer, until it has been reported, begin and end.
    private func reports(
        of body: @escaping @Sendable (_ isReported: @escaping @Sendable () -> Bool) -> Void
    ) throws -> [HangReport] {
        let reports = Shared<[HangReport]>([])
        let watch = try HangWatch { reports.set(reports.value + [$0]) }
        let loop = Shared<RunLoop?>(nil)
        let thread = TestThread {
            let own = RunLoop.current
            own.add(RunLoop.Source(label: "keeps it alive") { _ in }, in: .default)
            loop.set(own)
            own.run()
        }
        while loop.value == nil { sched_yield() }
        let own = try #require(loop.value)
        // From another thread: attached by the loop's own.
        try watch.watch(own, limit: .milliseconds(20))
        own.perform(wake: true) { body { !reports.value.isEmpty } }
        while reports.value.count < 2 { sched_yield() }
        own.stop()
        thread.join()
        watch.stop()
        return reports.value
    }

    @Test func `one report when the limit is passed, one at the end`() throws {
        let line = #line + 1
        let reports = try reports { isReported in
            // As long as it takes until it is found, whatever else the machine has to do.
            while !isReported() { sched_yield() }
        }
        #expect(reports.map(\.stage) == [.began, .ended])
        #expect(reports[0].number == reports[1].number && reports[0].depth == 1)
        #expect(reports.allSatisfy { $0.duration >= .milliseconds(20) && $0.limit == .milliseconds(20) })
        #expect(reports[1].duration >= reports[0].duration)
        #expect(reports.allSatisfy { !$0.loop.isMain && $0.mode == .default })
        #expect(reports[0].callout?.kind == .block)
        #expect(reports[0].callout?.place?.hasPrefix("RunLoopsDiagnosticsTests/HangWatchTests.swift:") == true)
        #expect(reports[0].text.contains("the loop of thread \(reports[0].loop.thread)") && line > 0)
        #expect(throws: Never.self) { _ = try JSON(reports[1].json) }
    }

    @Test func `a loop that is not watched any more is not reported`() throws {
        let reports = Shared(0)
        let watch = try HangWatch { _ in reports.set(reports.value + 1) }
        TestThread.run {
            let loop = RunLoop.current
            try? watch.watch(loop, limit: .milliseconds(1))
            watch.stop()
            loop.perform { usleep(20_000) }
            loop.poll()
            loop.perform {}
            loop.poll()
            #expect(loop.engine.tracer == nil, "it costs what it costs without a watch")
        }
        #expect(reports.value == 0)
    }

    @Test func `a limit of no time is misuse`() async {
        await #expect(processExitsWith: .failure) {
            let watch = try HangWatch { _ in }
            try watch.watch(.current, limit: .zero)
        }
    }
}
