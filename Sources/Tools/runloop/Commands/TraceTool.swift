// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RunLoops
import RunLoopsDiagnostics
import RunLoopsLibC
import RunLoopsSystem

/// The command `runloop trace`, which records the loops of a program or process and prints a summary.
struct TraceTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Records the run loops of a program or process, and prints a summary.",
        usage: """
            runloop trace [--output <file>] [--for <duration>] [--events <number>] -- <program> [<argument> ...]
            runloop trace [--output <file>] [--for <duration>] [--events <number>] <pid>
            """,
        discussion: """
            A program must link RunLoopsDiagnostics, and needs no other change. Its trace is written when it exits or is \
            ended by a signal other than SIGKILL. A process must be listed by runloop ps; it is recorded for the given \
            time, and keeps running. Two files are written: JSON for Perfetto or chrome://tracing, and an HTML page. Each \
            replaces a regular file of the same name once it is complete; anything else of that name is an error.
            """)

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The JSON file; the page has the same name with .html.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var output: FileArgument = "trace.json"

    @Option(
        name: .customLong("for"),
        help: .duration(
            "How long to record. Control-C stops recording a process early (default: 5s); a program gets SIGTERM at the end (default: until it exits)."
        ))
    var length: Duration?

    @Option(
        help: .number(
            "How many events to keep for each loop, the latest; at most \(InspectorClient.maxEvents) (default: \(RecordedProgram.usualEvents))."
        ))
    var events = RecordedProgram.usualEvents

    @Argument(help: .process)
    var process: ProcessArgument?

    @Argument(parsing: .postTerminator, help: "A program and its arguments.", completion: .file())
    var program: [String] = []

    func validate() throws {
        if (process == nil) == program.isEmpty { throw ValidationError("Give either a process, or a program after --") }
        if output.path.bytes.suffix(5).elementsEqual(".html".utf8) {
            throw ValidationError("--output names the JSON, not the page")
        }
        if !(1...InspectorClient.maxEvents).contains(events) {
            throw ValidationError("--events must be from 1 to \(InspectorClient.maxEvents)")
        }
    }

    func run() throws {
        let json = output.path.bytes
        let stem = json.suffix(5).elementsEqual(".json".utf8) ? json.dropLast(5) : json[...]
        let page = FileArgument(SystemText(prefixOf: stem + ".html".utf8))
        // A recording that cannot be kept is better not made.
        for file in [output, page] { try TextFile.check(file.path) }
        let recorded = try record()
        try TextFile.write(recorded.json, to: output.path)
        let report = try TextFile.report(recorded.json, named: "\(output)")
        try TextFile.write(TracePage.text(program: report.program, json: recorded.json), to: page.path)
        Output.lines(report.summary(width: Self.width))
        if report.lost > 0 { Output.lines(["", "\(report.reach(of: recorded.time)) --events keeps more."]) }
        let count = report.findings().count
        if count > 0 {
            Output.lines(["", "runloop doctor \(output) has \(Format.count(count, "thing")) to say about it."])
        }
        Output.lines(["", "Page: \(page)   Perfetto: \(output)"])
        if recorded.status != 0 { throw ExitCode(recorded.status) }
    }

    private func record() throws -> (json: String, status: CInt, time: Duration) {
        guard let process else {
            let result = try RecordedProgram(command: program, length: length, events: events).run()
            // Without patience, there is a trace.
            return (result.json ?? "", result.status, result.time)
        }
        let (json, time) = try process.record(for: length, events: events)
        return (json, 0, time)
    }

    /// The width of the terminal on standard output; 80 where there is none.
    private static var width: Int {
        var size = winsize()
        return ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }
}
