// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

@Suite("The protocol of the inspector", .ownThread)
struct InspectorProtocolTests {
    private typealias Request = InspectorProtocol.Request

    private func read(_ line: String) -> Result<InspectorProtocol.Request, InspectorProtocol.Refusal> {
        Result { () throws(InspectorProtocol.Refusal) in try Request(line.utf8) }
    }

    @Test func `each written request is read back`() {
        let requests: [Request] = [
            .loops, .dump, .statistics, .record(capacity: 1), .record(capacity: Request.maxEvents), .recorded,
        ]
        for request in requests {
            #expect(request.line.utf8.count < InspectorProtocol.maxRequestLength)
            #expect(read(String(request.line.dropLast())) == .success(request))
        }
    }

    @Test(arguments: [
        "", " ", "runloop-inspect/3", "runloop-inspect/3 ", "runloop-inspect/3 dump ", "runloop-inspect/3  dump",
        "runloop-inspect/2 dump", "dump", "runloop-inspect/3 record", "runloop-inspect/3 record 0",
        "runloop-inspect/3 record 999999999999", "runloop-inspect/3 record -1", "runloop-inspect/3 record 1 2",
        "runloop-inspect/3 events 0", "runloop-inspect/3 record 99999999999999999999",
        "GET / HTTP/1.1", "\u{0}\u{1}\u{2}", "runloop-inspect/3 \u{FFFD}",
    ])
    func `invalid requests are refused`(_ line: String) {
        #expect(throws: InspectorProtocol.Refusal.self) { try read(line).get() }
    }

    @Test func `an answer begins with its length`() throws {
        let answer = InspectorProtocol.answer(.success(Array("text".utf8)))
        #expect(String(decoding: answer, as: UTF8.self) == "runloop-inspect/3 ok 4\ntext")
        let head = try #require(InspectorProtocol.head("runloop-inspect/3 ok 4".utf8))
        #expect(head.isAnswer && head.length == 4)
        let refusal = try #require(InspectorProtocol.head("runloop-inspect/3 no 12".utf8))
        #expect(!refusal.isAnswer && refusal.length == 12)
        for words in ["", " ok", " ok -1", " ok 99999999999", " yes 1"] {
            let line = "runloop-inspect/3\(words)"
            #expect(InspectorProtocol.head(line.utf8) == nil)
        }
    }

    @Test func `a recording above the size limit of an answer loses its oldest events`() throws {
        let events = (0..<1000 as Range<Int64>).flatMap { turn in
            [
                RunLoop.Trace.Event(time: turn * 2000, depth: 1, kind: .calloutBegan(.block, "number \(turn)")),
                RunLoop.Trace.Event(time: turn * 2000 + 1000, depth: 1, kind: .calloutEnded),
            ]
        }
        let loop = RunLoop.Trace.Loop(thread: 7, name: "a", isMain: false, events: events, lost: 1)
        var other = loop
        other.thread = 8
        let trace = RunLoop.Trace(process: 1, program: "p", loops: [loop, other], loopsNotRecorded: 0)
        let whole = trace.chromeJSON()
        for limit in [whole.utf8.count / 2, whole.utf8.count / 20, 2000] {
            let text = try #require(trace.chromeJSON(atMost: limit))
            #expect(text.utf8.count <= limit)
            let report = try RunLoop.Trace.Report(json: text)
            // An end whose beginning is lost is no slice.
            #expect(0...2 ~= 2 + 4000 - 2 * report.slices.count - report.lost)
            #expect(report.slices.last?.name == "number 999")
        }
        #expect(trace.chromeJSON(atMost: whole.utf8.count * 200) == whole)
        #expect(trace.chromeJSON(atMost: 100) == nil)
    }

    @Test func `written statistics are read back`() throws {
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
        let text = try #require(statistics.asJSON?.text)
        #expect(RunLoop.Statistics(json: try JSON(parsing: text)) == statistics)
    }

    @Test func `an invalid report is refused without a trap`() throws {
        let texts = [
            "{}", "[]", "{\"program\":1}", "{\"program\":\"a\",\"loops\":[1]}", "{\"program\":\"a\",\"loops\":[{}]}",
        ]
        for text in texts {
            #expect(ProcessReport(json: try JSON(parsing: text)) == nil)
        }
        let odd = """
            {"program":"a","time":1e300,"loops":[{"thread":1e18,"activity":"busy","since":-1e308,"turns":-5,"depth":1.5,
            "wakings":{"timer":-1,"limit":"a","wake-up":1e99},"callouts":[{}],"timers":[7],"statistics":{"turns":1,"stretches":{"steps":[1]},
            "lateness":{"steps":[9999,1]}}}]}
            """
        let report = try #require(ProcessReport(json: try JSON(parsing: odd)))
        #expect(report.loops[0].turns == 0 && report.loops[0].statistics == nil)
        #expect(report.loops[0].wakings == [.timer: 0] && report.loops[0].callouts.count == 1)
    }

    @Test func `a written report is read back with every nanosecond`() throws {
        var loop = LoopReport()
        loop.thread = 77
        loop.name = "worker \u{2028}"
        loop.activity = .asleep
        loop.since = 9_007_199_254_740_993
        loop.mode = "a mode"
        loop.isLocked = true
        loop.wakings = [.timer: 3, .limit: .max]
        loop.callouts = [.init(kind: "timer", label: "a", place: nil, since: 1)]
        loop.timers = [.init(label: "t", due: -5, interval: .max, tolerance: .min)]
        loop.statistics = RunLoop.Statistics()
        let process = ProcessReport(process: 5, program: "p<", time: .max - 1, loops: [loop])
        let text = process.document.text
        #expect(!text.contains("<") && !text.contains("\u{2028}"))
        let read = try #require(ProcessReport(json: try JSON(parsing: text)))
        #expect(read.time == .max - 1 && read.loops[0].since == 9_007_199_254_740_993)
        #expect(read.loops[0].wakings == [.timer: 3, .limit: UInt64(Int64.max)])
        // Nothing is lost on the way: the second text is the first.
        #expect(read.document.text == text)
    }

    @Test func `damaged requests, heads and answers are read or refused without a trap`() {
        var report = ProcessReport(process: 7, program: "program", time: 12, loops: [])
        report.loops = [LoopReport(), LoopReport()]
        let answer = InspectorProtocol.answer(.success(Array(report.document.text.utf8)))
        let lines: [[UInt8]] =
            ["loops", "dump", "statistics", "record 16", "recorded"].map {
                Array("\(InspectorProtocol.version) \($0)".utf8)
            }
            + [Array("\(InspectorProtocol.version) ok 5120".utf8), answer]
        var random = SeededRandom(23)
        let count = fuzzedInputs(orElse: 20_000)
        var (requests, heads, reports) = (0, 0, 0)
        for _ in 0..<count {
            var line = lines[Int.random(in: lines.indices, using: &random)]
            for _ in 0..<Int.random(in: 0...3, using: &random) where !line.isEmpty {
                let place = Int.random(in: line.indices, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: line[place] = .random(in: 0...255, using: &random)
                case 1: line.remove(at: place)
                case 2: line.insert(contentsOf: line[place...].prefix(9), at: place)
                default: line.replaceSubrange(place..., with: Array("9223372036854775808".utf8))
                }
            }
            if (try? Request(line)) != nil { requests += 1 }
            guard let feed = line.firstIndex(of: UInt8(ascii: "\n")) else {
                if let head = InspectorProtocol.head(line), head.length >= 0 { heads += 1 }
                continue
            }
            if InspectorProtocol.head(line[..<feed]) != nil { heads += 1 }
            let text = String(decoding: line[(feed + 1)...], as: UTF8.self)
            if let json = try? JSON(parsing: text), ProcessReport(json: json) != nil { reports += 1 }
        }
        // Each way is taken often, and often not.
        for taken in [requests, heads, reports] { #expect(taken > count / 100 && taken < count / 2) }
    }
}
