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
            loop.poll()
        }
        manual.advance(by: .milliseconds(35))
        return recording.trace()
    }
}

@Suite("The JSON of a trace", .timeLimit(.minutes(10)))
struct TraceFormatTests {
    @Test func `keeps the rules of the format`() throws {
        let report = try RunLoop.Trace.Report(json: recordedTrace().chromeJSON())
        #expect(report.slices.count { $0.kind == "timer" } == 3)
        #expect(report.slices.contains { $0.kind == "source" && $0.name == "input" && $0.detail("waited") != nil })
        #expect(report.slices.contains { $0.name == "tick \"</script>\" \\ \u{1}" })
        #expect(report.slices.contains { $0.kind == "wake-up" })
    }

    @Test func `nested runs nest`() throws {
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

    @Test func `a wake-up is a flow from its waker to the sleep it ended`() throws {
        let trace = recordedTrace()
        let json = try JSON(trace.chromeJSON())
        let events = try #require(json["traceEvents"]?.array)
        let start = try #require(events.first { $0["ph"]?.string == "s" })
        let finish = try #require(events.first { $0["ph"]?.string == "f" })
        #expect(start["id"] == finish["id"])
        #expect(start["tid"] != finish["tid"])
        #expect(finish["bp"]?.string == "e")
        #expect(finish["tid"]?.number == Double(trace.loops[0].thread))
    }

    @Test func `is whole when the beginning was overwritten`() throws {
        for capacity in [16, 32, 64] {
            let trace = ManualRunLoop.with { manual in
                let recording = RunLoop.Recording(capacity: capacity)
                recording.add(manual.loop)
                manual.loop.add(RunLoop.Timer(.every(.milliseconds(10))) { _ in manual.loop.poll() }, in: .default)
                manual.advance(by: .milliseconds(500))
                return recording.trace()
            }
            let report = try RunLoop.Trace.Report(json: trace.chromeJSON())
            #expect(report.lost > 0)
        }
    }

    @Test func `of nothing is a trace of nothing`() throws {
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
        (#"[]"#, "it has no traceEvents"),
    ])
    func `the checker finds what breaks a rule`(_ text: String, _ complaint: String) {
        #expect(throws: RunLoop.Trace.Report.ReadingError.notTrace(complaint)) { try RunLoop.Trace.Report(json: text) }
    }

    @Test func `the summary names who woke the loop and what was slow`() throws {
        let text = try RunLoop.Trace.Report(json: recordedTrace().chromeJSON()).summary().joined(separator: "\n")
        #expect(text.contains("Who woke the loop"))
        #expect(text.contains("wake-up by thread"))
        #expect(text.contains("source input"))
        #expect(text.contains("Timers, late by"))
    }
}

@Suite("The page of a trace")
struct TracePageTests {
    @Test func `needs nothing else, and its data ends where it should`() throws {
        let page = recordedTrace().page()
        #expect(!page.contains("http://") && !page.contains("https://"))
        // The labels of a program must not end the element they stand in.
        #expect(page.split(separator: "</script>").count == 3)
        let data = try #require(page.split(separator: #"id="trace">"#).last?.split(separator: "</script>").first)
        #expect(throws: Never.self) { try RunLoop.Trace.Report(json: String(data)) }
    }
}

@Suite("JSON")
struct JSONTests {
    @Test func `is read as it is written`() throws {
        let text = #" {"a":[1,-2.5e1,true,false,null,"x\"\\\n\u00e9\ud83d\ude00"],"b":{}} "#
        let expected = JSON.object([
            "a": .array([.number(1), .number(-25), .bool(true), .bool(false), .null, .string("x\"\\\n\u{E9}\u{1F600}")]
            ),
            "b": .object([:]),
        ])
        #expect(try JSON(text) == expected)
    }

    @Test(arguments: [
        "", "{", "[1,]", "{\"a\"}", "01", "1 2", "nul", "\"\n\"", "\"\\x\"", "+1", ".5", "[1 2]",
        String(repeating: "[", count: 100_000),
    ])
    func `refuses what is not`(_ text: String) {
        #expect(throws: JSON.Malformed.self) { try JSON(text) }
    }
}
