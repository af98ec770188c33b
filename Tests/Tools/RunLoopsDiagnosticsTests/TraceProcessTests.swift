// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

/// The tool that was built beside the tests.
private let tool = BuiltPrograms.path("runloop")

extension TemporaryDirectory {
    fileprivate func text(_ name: String) -> String {
        guard let file = fopen(path + "/" + name, "re") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

@Suite("Recording a program from outside", .ownThread, .enabled(if: tool != nil))
struct TraceProcessTests {
    /// The exit status of a shell's command, with the tool in `$tool` and the folder in `$folder`.
    private func shell(_ command: String, in folder: TemporaryDirectory) -> CInt {
        // A path may have spaces: what variables hold is not split into words.
        let text =
            "IFS=; tool='\(tool ?? "")'; program=$(dirname $tool)/RunLoopsDiagnosticsPrograms; folder='\(folder.path)'; \(command)"
        // Of this thread, which blocks all signals, the shell would have that.
        return TestThread.run { system(text) >> 8 & 0xFF }
    }

    /// The doctor's findings, without those that a busy machine causes in any program; `nil` if the doctor printed
    /// nothing.
    private func findings(in folder: TemporaryDirectory) -> [Substring]? {
        let lines = folder.text("output").split(separator: "\n")
        guard let last = lines.last, last == "Nothing found." || last.hasPrefix("•") else { return nil }
        return lines.filter { $0.hasPrefix("•") && !$0.contains(" busy for ") && !$0.contains(" was late by ") }
    }

    @Test func `RUNLOOP_TRACE makes a program write its trace`() throws {
        let folder = TemporaryDirectory()
        let status = shell(
            "RUNLOOP_TRACE=$folder/trace.json $program work 300 >$folder/output 2>&1",
            in: folder)
        #expect(status == 0)
        let report = try RunLoop.Trace.Report(json: folder.text("trace.json"))
        #expect(report.program == "RunLoopsDiagnosticsPrograms")
        #expect(report.slices.contains { $0.kind == "timer" })
        #expect(Set(report.slices.filter { $0.kind == "run" }.map(\.thread)).count == 2)
    }

    @Test func `RUNLOOP_TRACE may name a file whose name is not UTF-8`() throws {
        let folder = TemporaryDirectory()
        let status = shell(
            "name=$folder/$(printf '\\377'); RUNLOOP_TRACE=$name $program work 300 >$folder/output 2>&1 && mv $name $folder/trace.json",
            in: folder)
        #expect(status == 0, "\(folder.text("output"))")
        #expect(try RunLoop.Trace.Report(json: folder.text("trace.json")).program == "RunLoopsDiagnosticsPrograms")
    }

    @Test func `runloop trace writes JSON and a page and prints a summary`() throws {
        let folder = TemporaryDirectory()
        let status = shell(
            "$tool trace --output $folder/trace.json -- $program work 300 >$folder/output 2>&1",
            in: folder)
        #expect(status == 0)
        #expect(throws: Never.self) { try RunLoop.Trace.Report(json: folder.text("trace.json")) }
        #expect(folder.text("trace.html").hasPrefix("<!DOCTYPE html>"))
        #expect(folder.text("output").contains("Who woke the loop"))
    }

    @Test func `runloop trace reports a program that records nothing`() {
        let folder = TemporaryDirectory()
        let status = shell(
            "$tool trace --output $folder/trace.json -- true >$folder/output 2>&1", in: folder)
        #expect(status == 1)
        #expect(folder.text("output").contains("true left no trace"))
    }

    @Test func `runloop doctor refuses a file that is not a trace`() {
        let folder = TemporaryDirectory()
        #expect(
            shell("echo '{}' >$folder/trace.json; $tool doctor $folder/trace.json 2>$folder/output", in: folder) == 1)
        #expect(folder.text("output").contains("it has no traceEvents"))
    }

    @Test func `runloop doctor has no findings for a healthy program`() {
        let folder = TemporaryDirectory()
        let status = shell(
            "TMPDIR=$folder $tool doctor -- $program work 1500 >$folder/output 2>&1", in: folder
        )
        #expect(status == 0 || status == 1)
        #expect(findings(in: folder) == [])
    }

    @Test func `runloop doctor finds a program that ends without having run its loop`() {
        let folder = TemporaryDirectory()
        #expect(shell("$tool doctor -- $program forget >$folder/output 2>&1", in: folder) == 1)
        #expect(findings(in: folder)?.count == 1)
        #expect(folder.text("output").contains("Nobody runs main loop, and the timer “never” waits in it for ever."))
    }

    @Test func `runloop doctor ends a program after the time of --for and leaves no file`() {
        let folder = TemporaryDirectory()
        // A pipe that this shell holds open itself: of what the program reads there is no end.
        let status = shell(
            "mkfifo $folder/input; exec 9<>$folder/input; TMPDIR=$folder $tool doctor --for 700ms -- $program work <&9 >$folder/output 2>&1",
            in: folder)
        #expect(status == 0 || status == 1)
        #expect(findings(in: folder) == [])
        #expect(shell("ls -d $folder/runloop-*", in: folder) != 0)
    }

    @Test func `runloop doctor ends a program that records nothing`() {
        let folder = TemporaryDirectory()
        let status = shell("$tool doctor --for 10ms -- sleep 3600 >$folder/output 2>&1", in: folder)
        #expect(status == 1)
        #expect(folder.text("output").contains("sleep left no trace"))
    }

    @Test(arguments: ["", "--for 1s", "--for 1s $folder/x", "x -- y", "x y"])
    func `runloop doctor requires a program, a process or a trace`(_ arguments: String) {
        let folder = TemporaryDirectory()
        #expect(shell("$tool doctor \(arguments) 2>$folder/output", in: folder) == 64)
        #expect(folder.text("output").contains("See 'runloop doctor --help'"))
    }

    // MARK: Files

    @Test(arguments: ["", "pipe", "/dev/null", "no/trace.json"])
    func `runloop trace refuses an output that is not a regular file before it runs the program`(_ name: String) {
        let folder = TemporaryDirectory()
        let output = name.hasPrefix("/") ? name : "$folder/\(name)"
        let status = shell(
            "mkfifo $folder/pipe; $tool trace -o \(output) -- touch $folder/ran >$folder/output 2>&1; status=$?; "
                + "test -p $folder/pipe && test ! -e $folder/ran && rm $folder/pipe && exit $status", in: folder)
        #expect(status == 1)
        #expect(folder.text("output").hasPrefix("Error: \(name.hasPrefix("/") ? name : folder.path)"))
    }

    @Test func `runloop trace replaces an older trace, and keeps it if the program leaves none`() throws {
        let folder = TemporaryDirectory()
        #expect(shell("echo old >$folder/trace.json; $tool trace -o $folder/trace.json -- true 2>&-", in: folder) == 1)
        #expect(folder.text("trace.json") == "old\n")
        #expect(shell("$tool trace -o $folder/trace.json -- $tool describe >/dev/null", in: folder) == 0)
        _ = try RunLoop.Trace.Report(json: folder.text("trace.json"))
    }

    @Test func `runloop doctor reads at most the largest size of a trace`() {
        let folder = TemporaryDirectory()
        #expect(shell("$tool doctor /dev/zero 2>$folder/output", in: folder) == 1)
        #expect(folder.text("output") == "Error: /dev/zero: larger than 256 MB, which no trace is\n")
        #expect(shell("$tool doctor $folder 2>$folder/output", in: folder) == 1)
        #expect(folder.text("output") == "Error: \(folder.path): Is a directory\n")
    }

    // MARK: Signals

    /// The signals of those that do not end this process are ignored by its children, too.
    private static let signals = [SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGQUIT, SIGABRT, SIGSEGV].filter {
        var action = sigaction()
        sigaction($0, nil, &action)
        return action.__sigaction_handler.sa_handler == nil
    }

    private static let mistakes = [
        ("abort", SIGABRT), ("fault", SIGSEGV), ("overflow", SIGSEGV), ("corrupt", SIGABRT), ("allocating", SIGTERM),
    ]

    /// The sanitizers handle all of these but SIGTERM themselves.
    private static let ends =
        Sanitizer.isThread || Sanitizer.isAddress
        ? [("\(SIGTERM)", SIGTERM)] : signals.map { ("\($0)", $0) } + mistakes

    @Test(arguments: ends)
    func `a program that a signal ends writes its trace and ends by that signal`(how: String, signal: CInt) throws {
        let folder = TemporaryDirectory()
        let status = shell(
            "ulimit -c 0; RUNLOOP_TRACE=$folder/trace.json $program end \(how) 2>&-; exit $?", in: folder)
        #expect(status == 128 + signal)
        let report = try RunLoop.Trace.Report(json: folder.text("trace.json"))
        #expect(report.program == "RunLoopsDiagnosticsPrograms")
    }

    @Test func `a signal with a handler of the program calls only that handler and writes no trace`() {
        let folder = TemporaryDirectory()
        #expect(shell("RUNLOOP_TRACE=$folder/trace.json $program end handler", in: folder) == 7)
        #expect(folder.text("trace.json") == "")
    }

    @Test(.enabled(if: !Sanitizer.isAny, "A sanitizer has handlers of its own."))
    func `a forked child that a signal ends writes no trace`() throws {
        let folder = TemporaryDirectory()
        #expect(shell("RUNLOOP_TRACE=$folder/trace.json $program end child", in: folder) == 7)
        _ = try RunLoop.Trace.Report(json: folder.text("trace.json"))
    }

    @Test func `runloop trace ends with the signal's status and writes the trace`() {
        let folder = TemporaryDirectory()
        let status = shell(
            "ulimit -c 0; $tool trace -o $folder/trace.json -- $program end abort >$folder/output 2>&1", in: folder)
        #expect(status == 128 + SIGABRT)
        #expect(folder.text("output").contains("Perfetto: "))
    }
}
