// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RunLoopsTestSupport
import Testing

@testable import runloop

@Suite("The tool's arguments", .ownThread)
struct ArgumentTests {
    @Test(
        "A number and a unit are a duration, exactly",
        arguments: [
            ("3s", Duration.seconds(3)), ("500ms", .milliseconds(500)), ("1.5s", .milliseconds(1500)),
            ("2m", .seconds(120)), ("0.25us", .nanoseconds(250)), ("1h", .seconds(3600)), ("0.1s", .milliseconds(100)),
        ])
    func parses(text: String, duration: Duration) {
        #expect(Duration(argument: text) == duration)
    }

    @Test(
        "Anything else is none",
        arguments: [
            "", "3", "s", "-1s", "1.s", ".5s", "1.2.3s", "1e3s", "0x1s", "infs", "nans", "9999999999h", "３s", "3 s",
        ])
    func refuses(text: String) {
        #expect(Duration(argument: text) == nil)
    }

    @Test func `Words after the two hyphens belong to the program`() throws {
        let words = ["--for", "5s", "-o", "x", "--", "--help"]
        let trace = try #require(
            try RunLoopTool.parseAsRoot(["trace", "-o", "a.json", "--", "prog"] + words) as? TraceTool)
        #expect(trace.program == ["prog"] + words)
        #expect(trace.output == "a.json" && trace.length == nil && trace.process == nil)
        let doctor = try #require(
            try RunLoopTool.parseAsRoot(["doctor", "--for", "700ms", "--json", "--", "prog", "--json"]) as? DoctorTool)
        #expect(doctor.program == ["prog", "--json"])
        #expect(doctor.length == .milliseconds(700) && doctor.json && doctor.subject == nil)
    }

    @Test func `Options and a process may be in any order`() throws {
        let top = try #require(
            try RunLoopTool.parseAsRoot(["top", "12", "--once", "--every=50ms", "--json"]) as? TopTool)
        #expect(top.process.number == 12 && top.once && top.json && top.every == .milliseconds(50))
        let send = try #require(
            try RunLoopTool.parseAsRoot(["port", "send", "clock", "how", "--id", "4", "are", "you", "--reply"])
                as? PortSending)
        #expect(send.name == "clock" && send.text == ["how", "are", "you"] && send.id == 4 && send.reply)
    }

    @Test(arguments: [
        "nonsense", "ps x", "tasks", "tasks 0", "tasks x", "tasks 1 2", "dump", "dump 0", "dump -- -1", "dump x",
        "dump 1 2", "top", "top --every 49ms 1",
        "top --json 1", "top --every 1", "demo", "trace", "trace --", "trace 1 -- x",
        "trace -o x.html 1", "trace x", "doctor", "doctor --", "doctor --for 1s", "doctor --for 1s x", "doctor x -- y",
        "doctor x y", "port listen", "port send", "port send x --count -1", "port ls x",
    ])
    func `Misuse ends with status 64 and refers to the help`(line: String) {
        let words = line.split(separator: " ").map(String.init)
        do {
            _ = try RunLoopTool.parseAsRoot(words)
            Issue.record("'\(line)' was taken")
        } catch {
            #expect(RunLoopTool.exitCode(for: error).rawValue == 64)
            let message = RunLoopTool.fullMessage(for: error)
            #expect(message.contains("for more information."))
            // Not the whole help.
            #expect(!message.contains("OVERVIEW") && message.split(separator: "\n").count <= 5)
        }
    }

    /// Words of all commands, words that are nearly theirs, and words that are nobody's.
    @Test func `Random words are parsed or refused and never trap`() {
        let words = [
            "ps", "tasks", "dump", "top", "trace", "doctor", "port", "describe", "listen", "send", "ls", "--json",
            "--once",
            "--every", "50ms", "--every=1h", "--for", "700ms", "-o", "x.html", "--output", "--", "--id", "--count",
            "-1",
            "--reply", "--help", "-h", "--version", "help", "1", "0", "-0", "2147483648", "99999999999999999999", "",
            " ", "-", "---", "--=", "--json=", "=", "\u{0}", "ü\u{301}", "9999999999h", "1e9s",
            "--generate-completion-script",
        ]
        var random = SeededRandom(19)
        let count = fuzzedInputs(orElse: 2000)
        var commands = 0
        for _ in 0..<count {
            var line = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                words[Int.random(in: words.indices, using: &random)]
            }
            if random.oneIn(4), let place = line.indices.randomElement(using: &random) {
                let scalars = (0..<Int.random(in: 0...8, using: &random)).compactMap { _ in
                    Unicode.Scalar(UInt32.random(in: 0...0x2FFF, using: &random))
                }
                line[place] = String(String.UnicodeScalarView(scalars))
            }
            do {
                _ = try RunLoopTool.parseAsRoot(line)
                commands += 1
            } catch {
                if RunLoopTool.exitCode(for: error) != .success, RunLoopTool.message(for: error).isEmpty {
                    Issue.record("\(line) is refused without a word")
                }
            }
        }
        // Words that are all refused, or none, would show nothing.
        #expect(commands > count / 100 && commands < count)
    }
}
