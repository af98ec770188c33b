// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

/// The tool that was built beside the tests.
private let tool: String? = {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    // The test runner may be the toolchain's own: the bundle's place is in its arguments.
    let own = CommandLine.arguments + [String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)]
    for path in own where path.contains("/") {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        if access(folder + "/runloop", X_OK) == 0 { return folder + "/runloop" }
    }
    return nil
}()

/// A folder of its own, gone with the value's life.
private final class Folder {
    let path: String

    init() {
        var template = Array("/tmp/runloop-trace-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/nonexistent"
    }

    deinit {
        for name in ["trace.json", "trace.html", "output", "input"] { unlink(path + "/" + name) }
        rmdir(path)
    }

    func text(_ name: String) -> String {
        guard let file = fopen(path + "/" + name, "re") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

@Suite("Recording a program from outside", .timeLimit(.minutes(10)), .enabled(if: tool != nil))
struct TraceProcessTests {
    /// The exit status of a shell's command, with the tool in `$tool` and the folder in `$folder`.
    private func shell(_ command: String, in folder: Folder) -> CInt {
        let text = "tool='\(tool ?? "")'; folder='\(folder.path)'; \(command)"
        return system(text) >> 8 & 0xFF
    }

    /// The doctor's findings, without those that a busy machine causes in any program; `nil` if the doctor printed
    /// nothing.
    private func findings(in folder: Folder) -> [Substring]? {
        let lines = folder.text("output").split(separator: "\n")
        guard let last = lines.last, last == "Nothing found." || last.hasPrefix("•") else { return nil }
        return lines.filter { $0.hasPrefix("•") && !$0.contains(" busy for ") && !$0.contains(" was late by ") }
    }

    @Test func `the environment alone makes a program write its trace`() throws {
        let folder = Folder()
        let status = shell(
            "RUNLOOP_TRACE=$folder/trace.json $tool demo --plain --for 300ms </dev/null >$folder/output 2>&1",
            in: folder)
        #expect(status == 0)
        let report = try RunLoop.Trace.Report(json: folder.text("trace.json"))
        #expect(report.program == "runloop")
        #expect(report.slices.contains { $0.kind == "timer" })
        #expect(Set(report.slices.filter { $0.kind == "run" }.map(\.thread)).count == 2)
    }

    @Test func `runloop trace leaves JSON and a page, and prints a summary`() throws {
        let folder = Folder()
        let status = shell(
            "$tool trace --output $folder/trace.json -- $tool demo --plain --for 300ms </dev/null >$folder/output 2>&1",
            in: folder)
        #expect(status == 0)
        #expect(throws: Never.self) { try RunLoop.Trace.Report(json: folder.text("trace.json")) }
        #expect(folder.text("trace.html").hasPrefix("<!DOCTYPE html>"))
        #expect(folder.text("output").contains("Who woke the loop"))
    }

    @Test func `a program that records nothing is named, and so is its status`() {
        let folder = Folder()
        let status = shell(
            "$tool trace --output $folder/trace.json -- true >$folder/output 2>&1", in: folder)
        #expect(status == 1)
        #expect(folder.text("output").contains("true left no trace"))
    }

    @Test func `runloop doctor refuses what is no trace`() {
        let folder = Folder()
        #expect(
            shell("echo '{}' >$folder/trace.json; $tool doctor $folder/trace.json 2>$folder/output", in: folder) == 1)
        #expect(folder.text("output").contains("it has no traceEvents"))
    }

    @Test func `runloop doctor finds nothing wrong with the demo`() {
        let folder = Folder()
        let status = shell(
            "TMPDIR=$folder $tool doctor -- $tool demo --plain --for 1500ms </dev/null >$folder/output 2>&1", in: folder
        )
        #expect(status == 0 || status == 1)
        #expect(findings(in: folder) == [])
    }

    @Test func `runloop doctor asks a program to end when its time is over, and leaves no file`() {
        let folder = Folder()
        // A pipe that this shell holds open itself: of what the demo reads there is no end.
        let status = shell(
            "mkfifo $folder/input; exec 9<>$folder/input; TMPDIR=$folder $tool doctor --for 700ms -- $tool demo --plain <&9 >$folder/output 2>&1",
            in: folder)
        #expect(status == 0 || status == 1)
        #expect(findings(in: folder) == [])
        #expect(shell("ls -d $folder/runloop-*", in: folder) != 0)
    }

    @Test func `runloop doctor ends a program that records nothing, too`() {
        let folder = Folder()
        let status = shell("$tool doctor --for 10ms -- sleep 3600 >$folder/output 2>&1", in: folder)
        #expect(status == 1)
        #expect(folder.text("output").contains("sleep left no trace"))
    }

    @Test(arguments: ["", "--for 1s", "--for 1s $folder/x", "x -- y", "x y"])
    func `runloop doctor wants a program or a trace`(_ arguments: String) {
        let folder = Folder()
        #expect(shell("$tool doctor \(arguments) 2>$folder/output", in: folder) == 64)
        #expect(folder.text("output").contains("USAGE"))
    }
}
