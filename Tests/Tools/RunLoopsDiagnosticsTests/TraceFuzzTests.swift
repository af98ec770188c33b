// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoopsDiagnostics

/// Breaks a trace, one event a line, in the ways in which files are broken.
private struct TraceBreaker {
    private static let numbers = [
        "0", "-1", "1e999", "1e300", "-1e300", "5e-324", "9223372036854775807", "-9223372036854775808",
        "9223372036854775808", "18446744073709551616", "-0", "0.5", "1e18", "3155760000000000", "00", "NaN", "null",
        "\"7\"", "[]", "{}", "true",
    ]
    private static let texts = [
        "B", "E", "X", "i", "s", "f", "M", "run", "turn", "sleep", "timer", "source", "block", "wake-up", "", "ph",
        "args", "thread_name", "\\ud800", "\\u0000", "unfinished",
    ]

    var random: SeededRandom

    mutating func breaking(_ text: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for _ in 0..<Int.random(in: 1...3, using: &random) { breakOnce(&lines) }
        var bytes = Array(lines.joined(separator: "\n").utf8)
        if random.oneIn(20) { bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))) }
        if random.oneIn(20), !bytes.isEmpty {
            bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func breakOnce(_ lines: inout [String]) {
        // The header is one line of many: half of the time it is meant.
        let place = random.oneIn(4) ? 0 : Int.random(in: lines.indices, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0 where lines.count > 1: lines.remove(at: place)
        case 1: lines.insert(lines[place], at: place)
        case 2: lines.swapAt(place, Int.random(in: lines.indices, using: &random))
        case 3...5: replace(in: &lines[place], Self.numbers) { $0.isNumber || $0 == "-" || $0 == "." }
        default: replace(in: &lines[place], Self.texts) { $0.isLetter || $0 == "_" || $0 == "-" }
        }
    }

    /// Replaces one of the line's words of such characters.
    private mutating func replace(
        in line: inout String, _ choices: [String], where isPart: (Character) -> Bool
    ) {
        var words: [Range<String.Index>] = []
        var start = line.startIndex
        while let begin = line[start...].firstIndex(where: isPart) {
            let end = line[begin...].firstIndex { !isPart($0) } ?? line.endIndex
            words.append(begin..<end)
            start = end
        }
        if let word = words.randomElement(using: &random), let choice = choices.randomElement(using: &random) {
            line.replaceSubrange(word, with: choice)
        }
    }
}

@Suite("Damaged traces", .ownThread)
struct TraceFuzzTests {
    /// A small trace with something of everything.
    private func smallTrace() -> RunLoop.Trace {
        var trace = ManualRunLoop.with { manual in
            let recording = RunLoop.Recording()
            recording.add(manual.loop)
            let loop = manual.loop
            loop.add(RunLoop.Timer(.every(.milliseconds(10)), label: "tick") { _ in }, in: .default)
            loop.add(RunLoop.Timer(.every(.milliseconds(10)), label: "lonely") { _ in }, in: .modalPanel)
            loop.add(RunLoop.Timer(.every(.milliseconds(10)), label: "common") { _ in }, in: .common)
            let source = RunLoop.Source(label: "input") { _ in }
            loop.add(source, in: .default)
            loop.add(
                RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in
                    source.signal()
                    loop.performLocally(wake: false) {}
                }, in: .default)
            loop.performLocally {
                loop.performLocally {}
                loop.runTurn()
            }
            manual.advance(by: .milliseconds(35))
            return recording.trace()
        }
        trace.foundationTimerOverdue = 2_000_000_000
        trace.loops[0].asleepSince = trace.loops[0].events.last?.time
        trace.end = (trace.loops[0].asleepSince ?? 0) + 1_000_000_000
        trace.loops[0].events.append(.init(time: trace.end, depth: 1, kind: .calloutBegan(.block, "hangs")))
        return trace
    }

    @Test func `damaged traces are read or refused without a trap`() {
        let text = smallTrace().chromeJSON()
        // RUNLOOPS_FUZZ=1000000 takes an hour in a debug build.
        let count = fuzzedInputs(orElse: isFull ? 100_000 : Sanitizer.isAny || !isThorough ? 500 : 5000)
        var breaker = TraceBreaker(random: SeededRandom(11))
        var (read, found) = (0, 0)
        for _ in 0..<count {
            guard let report = try? RunLoop.Trace.Report(json: breaker.breaking(text)) else { continue }
            read += 1
            found += report.findings().count + report.summary().count
        }
        // Both ways are taken often.
        #expect(read > count / 20 && read < count && found > read)
    }
}
