// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

/// The output of a test runner of this package, and its status.
struct RunnerOutput {
    let text: String
    let status: CInt

    var lines: [String] { text.split(separator: "\n").map(String.init) }

    /// Runs one of the programs with words of a shell.
    init(_ program: String, _ words: String, environment: String = "") throws {
        let path = try #require(BuiltPrograms.path(program))
        // A pseudo-terminal or colours are not wanted; a path may have spaces.
        // Tests that hang keep what they have, which the address sanitizer would report.
        let variables = "NO_COLOR=1 ASAN_OPTIONS=detect_leaks=0 \(environment)"
        let command = "exec env \(variables) '\(path)' \(words) 2>&1 </dev/null"
        // Of this thread, which blocks all signals, the shell would have that.
        let (text, status) = try TestThread.run {
            let stream = try #require(popen(command, "re"))
            var bytes: [UInt8] = []
            while case let byte = fgetc(stream), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
            return (String(decoding: bytes, as: UTF8.self), pclose(stream))
        }
        (self.text, self.status) = (text, status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F)
    }
}

@Suite("Tests that hang", .ownThread)
struct HangProgramTests {
    private static let program = "RunLoopsTestingHangsPrograms"

    @Test func `ten hanging tests of five kinds fail at their lines, and the other tests have their results`() throws {
        let output = try RunnerOutput(
            Self.program, "--testing-library swift-testing --filter '\\.HangingTests/|\\.EndingTests/'")
        #expect(output.status == 1)
        let names = [
            "a wake-up of the main actor is lost", "two tasks wait for each other", "a child never ends",
            "the main thread is blocked", "a loop never ends",
        ]
        for name in names {
            let issues = output.lines.filter {
                $0.contains("Test \"\(name)\" recorded an issue") && $0.contains("HangingTests.swift:")
            }
            #expect(issues.count == 2, "\(name): \(output.text)")
        }
        #expect(output.lines.filter { $0.contains("The test has not ended after 3 seconds.") }.count >= 10)
        // What it is that they wait for.
        for number in 1...2 {
            let ring = output.lines.contains { line in
                line.contains("\"ping \(number)\"") && line.contains("\"pong \(number)\"")
                    && line.hasSuffix("wait for each other")
            }
            #expect(ring, "\(output.text)")
        }
        #expect(output.text.contains("waits for a child process"))
        for name in names.suffix(3) {
            #expect(output.text.contains("`\(name)`(number: Swift.Int) -> ()"), "\(output.text)")
        }
        // The other tests.
        #expect(
            output.lines.contains { $0.contains("Test \"a test ends\" with 20 test cases passed") }, "\(output.text)")
        #expect(output.text.contains("Expectation failed: 1 + 1 == 3") || output.text.contains("1 + 1 → 2"))
        #expect(output.text.contains("Caught error: Thrown()"))
        #expect(output.text.contains("The test has not ended after 500 ms."))
        #expect(output.lines.contains { $0.contains("Test run with") && $0.contains("failed") }, "\(output.text)")
    }

    @Test func `the process ends with a sentence if tasks of a test block all threads of the pool`() throws {
        let output = try RunnerOutput(Self.program, "--testing-library swift-testing --filter BlockingTests")
        #expect(output.status == 1)
        #expect(output.text.contains("The tests cannot go on: "), "\(output.text)")
        #expect(output.text.contains("\"blocked 0\": running"), "\(output.text)")
    }

    @Test func `a test hangs if the process is idle for its time`() throws {
        let output = try RunnerOutput(Self.program, "--testing-library swift-testing --filter IdleTests")
        #expect(output.status == 1)
        #expect(
            output.text.contains("The test has not ended, and the process has done nothing for 600 ms."),
            "\(output.text)")
    }

    @Test func `tests of XCTest that hang are named, and the tests after them run`() throws {
        let output = try RunnerOutput("RunLoopsXCTestHangsPrograms", "", environment: "RUNLOOPS_HANG_AFTER=1")
        #expect(output.status == 1)
        let module = "RunLoopsXCTestHangsPrograms"
        let hung = ["FirstTests/test2BlocksTheMainThread", "FirstTests/test4WaitsForATask", "SecondTests/test2Loops"]
        for name in hung {
            #expect(output.lines.contains("Test Case '\(module).\(name)' hangs."), "\(output.text)")
        }
        #expect(output.lines.last == "3 tests hung: \(hung.map { "\(module).\($0)" }.joined(separator: ", "))")
        for name in ["FirstTests.test1Ends", "FirstTests.test5Ends", "SecondTests.test1Ends"] {
            #expect(output.lines.filter { $0.hasPrefix("Test Case '\(name)' passed") }.count == 1, "\(output.text)")
        }
        #expect(output.lines.filter { $0.hasPrefix("Test Case 'FirstTests.test3Fails' failed") }.count == 1)
        #expect(output.lines.contains("The process goes on with 5 tests."))
        #expect(output.text.contains("test2BlocksTheMainThread()") && output.text.contains("neverResumed()"))
    }

    @Test func `tests of XCTest are not watched without a limit`() throws {
        let output = try RunnerOutput(
            "RunLoopsXCTestHangsPrograms", "RunLoopsXCTestHangsPrograms.FirstTests/test1Ends",
            environment: "RUNLOOPS_HANG_AFTER=nonsense")
        #expect(output.status == 0)
        #expect(output.text.contains("RUNLOOPS_HANG_AFTER: not a positive number of seconds: nonsense"))
    }
}
