// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoopsDiagnostics

/// Something of everything, in virtual time.
private func recordedTrace() -> RunLoop.Trace {
    ManualRunLoop.with { manual in
        let recording = RunLoop.Recording()
        recording.add(manual.loop)
        let loop = manual.loop
        loop.add(RunLoop.Timer(.every(.milliseconds(10)), label: "tick \"</script>\" \\ \u{1}") { _ in }, in: .default)
        let source = RunLoop.Source.sendable(label: "input") { _ in }
        loop.add(source, in: .default)
        loop.add(
            RunLoop.Observer(.beforeWaiting, repeats: false, label: "waker") { _, _ in
                // Another thread, without a loop, and this one.
                TestThread {
                    source.signal()
                    loop.wakeUp()
                }.join()
            }, in: .default)
        loop.performLocally {
            loop.performLocally {}
            loop.runTurn()
        }
        manual.advance(by: .milliseconds(35))
        return recording.trace()
    }
}

@Suite("The JSON of a trace", .ownThread)
struct TraceFormatTests {
    @Test func `the JSON of a trace follows the rules of the format`() async {
        // A process of its own: a storm of signals in another test's threads pushes this one out of the process's row.
        await #expect(processExitsWith: .success) {
            let report = try RunLoop.Trace.Report(json: recordedTrace().chromeJSON())
            #expect(report.slices.count { $0.kind == "timer" } == 3)
            #expect(report.slices.contains { $0.kind == "source" && $0.name == "input" && $0.detail("waited") != nil })
            #expect(report.slices.contains { $0.name == "tick \"</script>\" \\ \u{1}" })
            #expect(report.slices.contains { $0.kind == "wake-up" })
        }
    }

    @Test func `the JSON of a trace has nested slices for nested runs`() throws {
        let report = try RunLoop.Trace.Report(json: recordedTrace().chromeJSON())
        let runs = report.slices.filter { $0.kind == "run" }
        #expect(runs.map { $0.detail("depth") }.contains(2))
        let nested = try #require(runs.first { $0.detail("depth") == 2 })
        #expect(nested.depth == 3)
        for slice in report.slices where slice.depth > 0 {
            #expect(
                report.slices.contains { $0.depth == slice.depth - 1 && $0.start <= slice.start && $0.end >= slice.end }
            )
        }
    }

    @Test func `the JSON of a trace has a flow from the waking thread to the sleep that it ended`() async {
        // A process of its own: a storm of signals in another test's threads pushes this one out of the process's row.
        await #expect(processExitsWith: .success) {
            let trace = recordedTrace()
            let json = try JSON(parsing: trace.chromeJSON())
            let events = try #require(json["traceEvents"]?.array)
            let start = try #require(events.first { $0["ph"]?.string == "s" })
            let finish = try #require(events.first { $0["ph"]?.string == "f" })
            #expect(start["id"] == finish["id"])
            #expect(start["tid"] != finish["tid"])
            #expect(finish["bp"]?.string == "e")
            #expect(finish["tid"]?.integer == Int64(trace.loops[0].thread))
        }
    }

    @Test func `the JSON of a trace is valid if the beginning of the recording was overwritten`() throws {
        for capacity in [16, 32, 64] {
            let trace = ManualRunLoop.with { manual in
                let recording = RunLoop.Recording(capacity: capacity)
                recording.add(manual.loop)
                manual.loop.add(RunLoop.Timer(.every(.milliseconds(10))) { _ in manual.loop.runTurn() }, in: .default)
                manual.advance(by: .milliseconds(500))
                return recording.trace()
            }
            let report = try RunLoop.Trace.Report(json: trace.chromeJSON())
            #expect(report.lost > 0)
        }
    }

    // MARK: What is still under way

    /// A loop with these events and this sleep at the end, at 100 ms.
    private func report(_ events: [(Int64, RunLoop.Trace.Event.Kind)], asleepSince: Int64? = nil) throws
        -> RunLoop.Trace.Report
    {
        let millisecond: Int64 = 1_000_000
        let loop = RunLoop.Trace.Loop(
            thread: 7, name: "worker", isMain: false,
            events: events.map { RunLoop.Trace.Event(time: $0.0 * millisecond, depth: 1, kind: $0.1) }, lost: 0,
            asleepSince: asleepSince.map { $0 * millisecond })
        let trace = RunLoop.Trace(
            process: 1, program: "made up", loops: [loop], loopsNotRecorded: 0, end: 100 * millisecond)
        return try RunLoop.Trace.Report(json: trace.chromeJSON())
    }

    @Test func `the JSON of a trace has a hanging callout from its beginning to the end of the trace`() throws {
        // Recorded from 90 ms on: the run is made up, the callout says since when it has hung.
        let report = try report([(90, .runBegan(.default)), (10, .calloutBegan(.timer, "hangs"))])
        let callout = try #require(report.slices.last)
        #expect(callout.name == "hangs" && callout.start == 0 && callout.end == 90_000 && callout.isUnfinished)
        #expect(report.slices[0].kind == "run" && report.slices[0].start == 0 && report.slices[0].isUnfinished)
        #expect(report.findings().map(\.kind) == [.takesFrame])
    }

    @Test func `the JSON of a trace extends an unfinished sleep to the end of the trace, without a wake-up`() throws {
        let report = try report(
            [(0, .runBegan(.default)), (1, .passed(.beforeTimers)), (2, .passed(.beforeWaiting))], asleepSince: 2)
        let sleep = try #require(report.slices.last)
        #expect(sleep.kind == "sleep" && sleep.start == 2000 && sleep.end == 100_000 && sleep.isUnfinished)
        #expect(report.ledger.isEmpty)
        #expect(report.awake == [1000])
    }

    @Test func `the JSON of a trace shows a sleep that is older than the recording from the beginning of the trace`()
        throws
    {
        let waking = RunLoop.Trace.Event.Waking(cause: .timer, asleepSince: 1_000_000, calledAt: 0, thread: 0)
        let report = try report([(50, .runBegan(.default)), (60, .woke(waking))])
        #expect(report.slices.map(\.kind) == ["run", "sleep"])
        #expect(report.slices[1].start == 0 && report.slices[1].end == 10_000)
    }

    // MARK: What is no trace

    @Test func `the JSON of an empty recording has no slices`() throws {
        let report = try RunLoop.Trace.Report(json: RunLoop.Recording().trace().chromeJSON())
        #expect(report.slices.isEmpty)
        #expect(report.summary().count == 2)
    }

    @Test(arguments: [
        (#"{"traceEvents":[{"ph":"B","ts":1,"pid":1,"tid":1,"name":"a"}]}"#, "a slice has no end"),
        (#"{"traceEvents":[{"ph":"E","ts":1,"pid":1,"tid":1}]}"#, "event 0 ends what has not begun"),
        (#"{"traceEvents":[{"ph":"i","ts":1,"pid":1,"tid":1,"name":"a"}]}"#, "event 0 is an instant without scope"),
        (#"{"traceEvents":[{"ph":"s","ts":1,"pid":1,"tid":1,"name":"a","id":1}]}"#, "a flow has one end only"),
        (#"{"traceEvents":[{"ph":"X","ts":1,"pid":1,"tid":1,"name":"a"}]}"#, "event 0 has no length"),
        (#"{"traceEvents":[{"ph":"B","pid":1,"tid":1,"name":"a"}]}"#, "event 0 has no time"),
        (#"{"traceEvents":[{"ph":"B","ts":1e300,"pid":1,"tid":1,"name":"a"}]}"#, "event 0 is a century away"),
        (#"{"traceEvents":[{"ph":"B","ts":1,"pid":1,"tid":1e300,"name":"a"}]}"#, "event 0 has no thread or no process"),
        (#"[]"#, "it has no traceEvents"),
    ])
    func `JSON that breaks a rule of traces is refused with the reason`(_ text: String, _ complaint: String) {
        #expect(throws: RunLoop.Trace.Report.ReadingError.notTrace(complaint)) { try RunLoop.Trace.Report(json: text) }
    }

    @Test func `the summary of a trace names the waking threads and the slow callouts`() throws {
        let text = try RunLoop.Trace.Report(json: recordedTrace().chromeJSON()).summary().joined(separator: "\n")
        #expect(text.contains("Who woke the loop"))
        #expect(text.contains("wake-up by thread"))
        #expect(text.contains("source input"))
        #expect(text.contains("Timers, late by"))
    }
}

@Suite("The page of a trace", .ownThread)
struct TracePageTests {
    @Test func `the page of a trace refers to no other file, and its JSON can be read`() throws {
        let page = recordedTrace().page()
        #expect(!page.contains("http://") && !page.contains("https://"))
        // The labels of a program must not end the element they stand in.
        #expect(page.split(separator: "</script>").count == 3)
        let data = try #require(page.split(separator: #"id="trace">"#).last?.split(separator: "</script>").first)
        #expect(throws: Never.self) { try RunLoop.Trace.Report(json: String(data)) }
    }
}
