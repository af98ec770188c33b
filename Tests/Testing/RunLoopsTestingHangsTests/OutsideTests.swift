// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

@Suite("A program that hangs, from outside", .ownThread)
struct OutsideTests {
    private func doctor(_ words: String) throws -> RunnerOutput { try RunnerOutput("runloop", "doctor \(words)") }

    private func program(_ name: String) throws -> String { "'\(try #require(BuiltPrograms.path(name)))'" }

    @Test func `doctor ends a program that is idle, and prints the tasks of its descendants`() throws {
        let tasks = try program("RunLoopsTasksPrograms")
        // The program ends with its input.
        let output = try doctor("--hang-idle 1s -- sh -c \"sleep 1000 | \(tasks) deadlock 2; true\"")
        #expect(output.status == 1)
        #expect(output.text.contains(", with 2 descendants, has used no processor for 1"), "\(output.text)")
        #expect(output.lines.contains { $0.contains("\"knot 0\" and task ") && $0.hasSuffix("wait for each other") })
        #expect(output.lines.contains { $0.hasPrefix("• RunLoopsTasksPr") && $0.hasSuffix("wait for each other") })
        // Its stacks, and those of a program that is not Swift's.
        #expect(
            output.text.contains("RunLoopsTasksPrograms.Program.endWithInput() -> ()")
                && output.text.contains("nanosleep"))
    }

    @Test func `doctor ends a program that has not ended in its time`() throws {
        let output = try doctor("--hang-after 500ms -- sh -c 'while :; do :; done'")
        #expect(output.status == 1)
        #expect(output.text.contains("sh has not ended after 500.0 ms."), "\(output.text)")
    }

    @Test func `doctor reports a hang as JSON`() throws {
        let output = try doctor("--json --hang-idle 300ms -- sleep 1000 2>/dev/null")
        #expect(output.status == 1)
        #expect(output.text.contains(#""kind":"hangs""#) && output.text.contains("sleep has used no processor"))
    }

    @Test func `a program that ends in time has no hang`() throws {
        let output = try doctor("--hang-after 100s --hang-idle 100s -- true")
        #expect(output.text.contains("left no trace") && !output.text.contains("has used no processor"))
    }

    @Test func `limits of hangs need a program`() throws {
        #expect(try doctor("--hang-idle 1s 12").text.contains("--hang-after and --hang-idle need a program"))
        #expect(
            try doctor("--for 1s --hang-idle 1s -- true").text.contains("Give --for, or --hang-after and --hang-idle"))
    }
}
