// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoopsDiagnostics

@Suite("The callouts of a busy period", .ownThread)
struct StretchTallyTests {
    private let label = UInt64(UInt(bitPattern: Self.file.utf8Start))
    private static let file: StaticString = "Module/File.swift"

    private func returns(_ tally: StretchTally, line: UInt64, _ since: Int64, _ end: Int64) {
        let frame = LoopState.Frame(callee: .timer, words: (label, line), since: since, slept: 0, wanted: 0)
        tally.returns(frame, at: end)
    }

    @Test func `callouts of a busy period are grouped by label and sorted by time, the longest first`() {
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

    @Test func `a callout that only waited for a nested callout is not the longest`() {
        let tally = StretchTally(limit: 1000)
        tally.begins(at: 0)
        returns(tally, line: 2, 10, 500)
        returns(tally, line: 1, 0, 510)
        #expect(tally.read().present.longest?.label?.text == "Module/File.swift:2")
        returns(tally, line: 0, 0, 1000)
        #expect(tally.read().present.longest?.label?.text == "Module/File.swift:0", "it took as much by itself")
    }

    @Test func `time before the busy period is not counted`() {
        let tally = StretchTally(limit: 1000)
        tally.begins(at: 100)
        returns(tally, line: 1, 0, 150)
        #expect(tally.read().present.longest?.time == 50)
    }

    @Test func `a long busy period is kept until the next long one`() {
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

    @Test func `at most eight of a thousand labels are kept, the label with the most time first`() {
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

@Suite("Watching a loop for hangs", .ownThread, .serialized)
struct HangWatchTests {
    /// Runs a loop on a thread of its own, with `body` in a block, until it has been reported, begin and end.
    private func reports(
        of body: @escaping @Sendable (_ isReported: @escaping @Sendable () -> Bool) -> Void
    ) throws -> [RunLoop.HangWatch.Report] {
        let reports = Locked<[RunLoop.HangWatch.Report]>([])
        let watch = try RunLoop.HangWatch { report in reports.withLock { $0.append(report) } }
        let loop = Locked<RunLoop?>(nil)
        let thread = TestThread {
            let own = RunLoop.current
            own.add(RunLoop.Source(label: "keeps it alive") { _ in }, in: .default)
            loop.withLock { $0 = own }
            own.run()
        }
        while loop.copy == nil { sched_yield() }
        let own = try #require(loop.copy)
        // From another thread: attached by the loop's own.
        try watch.add(own, limit: .milliseconds(20))
        own.perform { body { !reports.copy.isEmpty } }
        while reports.copy.count < 2 { sched_yield() }
        own.stop()
        thread.join()
        watch.stop()
        return reports.copy
    }

    @Test func `a hang is reported when it passes the limit and when it ends`() throws {
        var reports: [RunLoop.HangWatch.Report] = []
        // Again, if a busy machine has held the thread for 20 ms before or after the block: that is a hang without a callout.
        for _ in 0..<100 where reports.count != 2 || reports[0].callout == nil {
            reports = try self.reports { isReported in
                // As long as it takes until it is found, whatever else the machine has to do.
                while !isReported() { sched_yield() }
            }
        }
        #expect(reports.map(\.stage) == [.began, .ended])
        #expect(reports[0].number == reports[1].number && reports[0].depth == 1)
        #expect(reports.allSatisfy { $0.duration >= .milliseconds(20) && $0.limit == .milliseconds(20) })
        #expect(reports[1].duration >= reports[0].duration)
        #expect(reports.allSatisfy { !$0.loop.isMain && $0.mode == .default })
        #expect(reports[0].callout?.kind == .block)
        #expect(reports[0].callout?.place?.hasPrefix("RunLoopsDiagnosticsTests/HangWatchTests.swift:") == true)
        #expect(reports[0].text.contains("the loop of thread \(reports[0].loop.thread)"))
        #expect(throws: Never.self) { _ = try JSON(parsing: reports[1].json) }
    }

    @Test func `a loop is not reported after stop`() throws {
        let reports = Locked(0)
        let watch = try RunLoop.HangWatch { _ in reports.increment() }
        TestThread.run {
            let loop = RunLoop.current
            try? watch.add(loop, limit: .milliseconds(1))
            watch.stop()
            loop.perform { usleep(20_000) }
            loop.runTurn()
            #expect(loop.losesTracer(), "it costs what it costs without a watch")
        }
        #expect(reports.copy == 0)
    }

    @Test func `a limit of zero traps`() async {
        await #expect(processExitsWith: .failure) {
            let watch = try RunLoop.HangWatch { _ in }
            try watch.add(.main, limit: .zero)
        }
    }
}
