// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

@Suite("What an inspector and those who ask it say")
struct InspectorProtocolTests {
    private typealias Request = InspectorProtocol.Request

    private func read(_ line: String) -> Result<InspectorProtocol.Request, InspectorProtocol.Refusal> {
        Result { () throws(InspectorProtocol.Refusal) in try Request(line.utf8) }
    }

    @Test func `each request is read as it was written`() {
        let requests: [Request] = [
            .loops, .dump, .statistics, .record(capacity: 1), .record(capacity: Request.mostEvents), .recorded,
            .events(loop: 0), .events(loop: 255),
        ]
        for request in requests {
            #expect(request.line.utf8.count < InspectorProtocol.longestRequest)
            #expect(read(String(request.line.dropLast())) == .success(request))
        }
    }

    @Test(arguments: [
        "", " ", "runloop-inspect/2", "runloop-inspect/2 ", "runloop-inspect/2 dump ", "runloop-inspect/2  dump",
        "runloop-inspect/3 dump", "dump", "runloop-inspect/2 record", "runloop-inspect/2 record 0",
        "runloop-inspect/2 record 999999999999", "runloop-inspect/2 record -1", "runloop-inspect/2 record 1 2",
        "runloop-inspect/2 events", "runloop-inspect/2 events -1", "runloop-inspect/2 events 99999999999999999999",
        "GET / HTTP/1.1", "\u{0}\u{1}\u{2}", "runloop-inspect/2 \u{FFFD}",
    ])
    func `what is no request is refused`(_ line: String) {
        #expect(throws: InspectorProtocol.Refusal.self) { try read(line).get() }
    }

    @Test func `an answer says how long it is`() throws {
        let answer = InspectorProtocol.answer(.success(Array("text".utf8)))
        #expect(String(decoding: answer, as: UTF8.self) == "runloop-inspect/2 ok 4\ntext")
        let head = try #require(InspectorProtocol.head("runloop-inspect/2 ok 4".utf8))
        #expect(head.isAnswer && head.length == 4)
        let refusal = try #require(InspectorProtocol.head("runloop-inspect/2 no 12".utf8))
        #expect(!refusal.isAnswer && refusal.length == 12)
        for words in ["", " ok", " ok -1", " ok 99999999999", " yes 1"] {
            let line = "runloop-inspect/2\(words)"
            #expect(InspectorProtocol.head(line.utf8) == nil)
        }
    }

    @Test func `events arrive as they were, and cut ones are refused`() {
        let events: [RunLoop.Trace.Event] = [
            RunLoop.Trace.Event(time: 5_000_000_000_000_000_000, depth: 1, kind: .runBegan(.default)),
            RunLoop.Trace.Event(time: 5_000_000_000_000_000_001, depth: 1, kind: .passed(.beforeTimers)),
            RunLoop.Trace.Event(time: 5_000_000_000_000_000_002, depth: 1, kind: .calloutBegan(.timer, "a b\tc \"d\"")),
            RunLoop.Trace.Event(
                time: 5_000_000_000_000_000_003, depth: 1,
                kind: .wanted(.init(since: -3, thread: 7, tolerance: 1, interval: .max))),
            RunLoop.Trace.Event(time: 5_000_000_000_000_000_004, depth: 2, kind: .calloutBegan(.block, "a b\tc \"d\"")),
            RunLoop.Trace.Event(time: 5_000_000_000_000_000_005, depth: 1, kind: .calloutEnded),
            RunLoop.Trace.Event(
                time: 5_000_000_000_000_000_006, depth: 1,
                kind: .woke(.init(cause: .descriptor, asleepSince: 1, calledAt: 2, thread: 3))),
            RunLoop.Trace.Event(time: 5_000_000_000_000_000_007, depth: 1, kind: .runEnded(.stopped)),
        ]
        let bytes = TraceTransfer.encode(events)
        #expect(TraceTransfer.decode(bytes) == events)
        #expect(TraceTransfer.decode([]) == [])
        for line in ["x", "r 1 1 9", "c 1 1 99 0", "k 1 1 1", "e 1", "z 1 1", "e 1 a"] {
            #expect(TraceTransfer.decode(Array(line.utf8)) == nil)
        }
        var random = SeededRandom(7)
        for _ in 0..<2000 {
            // No trap, whatever comes.
            var torn = bytes
            for _ in 0..<4 { torn[Int.random(in: torn.indices, using: &random)] = .random(in: 0...255, using: &random) }
            _ = TraceTransfer.decode(torn)
        }
    }

    @Test func `statistics arrive as they were`() throws {
        var statistics = RunLoop.Statistics()
        statistics.turns = 12
        statistics.busy = 3_000_000_000
        statistics.asleep = 4
        for cause in RunLoop.Trace.Event.Waking.Cause.allCases {
            statistics.wakings[cause] = UInt64(cause.rawValue) + 1
        }
        for callee in RunLoop.Trace.Event.Callee.allCases { statistics.callouts[callee] = UInt64(callee.rawValue) }
        statistics.lateness.add(nanoseconds: 1_234_567)
        statistics.stretches.add(nanoseconds: 1)
        var latency = RunLoop.DurationHistogram()
        latency.add(nanoseconds: 5)
        statistics.latency[.block] = latency
        statistics.dearest = [.init(callee: .timer, label: "a \"b\"", count: 2, total: 7, longest: 5)]
        var json = JSONWriter()
        statistics.write(to: &json)
        #expect(RunLoop.Statistics(try JSON(json.text)) == statistics)
    }

    @Test func `a report that makes no sense is refused, and none traps`() throws {
        let texts = [
            "{}", "[]", "{\"program\":1}", "{\"program\":\"a\",\"loops\":[1]}", "{\"program\":\"a\",\"loops\":[{}]}",
        ]
        for text in texts {
            #expect(ProcessReport(try JSON(text), process: 1) == nil)
        }
        let odd = """
            {"program":"a","time":1e300,"loops":[{"thread":1e18,"activity":"busy","since":-1e308,"turns":-5,"depth":1.5,
            "wakings":[-1,"a",1e99],"callouts":[{}],"timers":[7],"statistics":{"turns":1,"stretches":{"steps":[1]},
            "lateness":{"steps":[9999,1]}}}]}
            """
        let report = try #require(ProcessReport(try JSON(odd), process: 1))
        #expect(report.loops[0].turns == 0 && report.loops[0].statistics == nil)
    }
}
