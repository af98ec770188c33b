// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RunLoops
import RunLoopsDiagnostics
internal import RunLoopsLibC
import RunLoopsSystem

/// The command `runloop doctor`, which reports probable problems of a program, a process or a trace.
struct DoctorTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Reports probable problems of a program, a process or a trace.",
        usage: """
            runloop doctor [--for <duration>] [--json] -- <program> [<argument> ...]
            runloop doctor [--for <duration>] [--json] <pid>
            runloop doctor [--json] <trace>
            """,
        discussion: """
            Finds timers without tolerance that wake an idle loop, sources that were signalled without a wake-up, items in \
            modes that never run, modes that ran before a common item was added to them, timers that stood still while other \
            modes ran, descriptors that were closed while they were watched, timers that are always late, callouts that \
            take longer than a frame, and runs nested more than three deep; and tasks of a process that wait for each other.

            A program must link RunLoopsDiagnostics; its output is not changed. A process must be listed by runloop ps; it \
            is recorded for the given time, and keeps running. A number is a process unless a file has that name. The exit \
            status is 1 if there is a finding, also if the program failed.
            """)

    @Option(
        name: .customLong("for"),
        help: .duration(
            "How long to record. Control-C stops recording a process early (default: 5s); a program gets SIGTERM at the end (default: until it exits)."
        ))
    var length: Duration?

    @Flag(
        help: """
            Print one JSON document: {"program": …, "lost": …, "seconds": …, "keptSeconds": …, "findings": [{"kind", \
            "subject", "text"}]}. The output of the program goes to standard error.
            """)
    var json = false

    @Argument(
        help: ArgumentHelp(
            "The number of a process, or a JSON file written by runloop trace.", valueName: "pid or trace"),
        completion: .file(extensions: ["json"]))
    var subject: FileArgument?

    @Argument(parsing: .postTerminator, help: "A program and its arguments.", completion: .file())
    var program: [String] = []

    func validate() throws {
        if (subject == nil) == program.isEmpty {
            throw ValidationError("Give a process, a trace, or a program after --")
        }
        if length != nil, subject != nil, process == nil {
            throw ValidationError("--for needs a program or a process")
        }
    }

    func run() throws {
        let (text, status, time) = try traceText()
        let report = try TextFile.report(text, named: subject?.description ?? program[0])
        let findings = report.findings().map { (kind: $0.kind.rawValue, subject: $0.subject, text: $0.text) } + rings()
        if json {
            let document: JSON = [
                "program": .string(report.program), "lost": .integer(Int64(report.lost)),
                "seconds": time.map { .decimal($0 / .seconds(1)) }, "keptSeconds": .decimal(report.length / 1e6),
                "findings": .array(
                    findings.map {
                        ["kind": .string($0.kind), "subject": .string($0.subject), "text": .string($0.text)]
                    }),
            ]
            Output.document(document)
        } else {
            if let time, report.lost == 0 {
                Output.line("Looked at \(report.program) for \(Format.short(time)).")
            } else if report.lost > 0 {
                Output.line("\(report.reach(of: time)) What is said is about these.")
            }
            for finding in findings { Output.line("• \(finding.text)") }
            if findings.isEmpty { Output.line("Nothing found.") }
        }
        if !findings.isEmpty { throw ExitCode(1) }
        if status != 0 { throw ExitCode(status) }
    }

    /// The tasks of the process that wait for each other.
    private func rings() -> [(kind: String, subject: String, text: String)] {
        // A process that answers may be read in most cases. Where it may not, the doctor knows less.
        guard let process, let report = try? TaskReport(of: process.number) else { return [] }
        return report.ringLines.map { ("tasksWaitInRing", "tasks", $0) }
    }

    /// The process that the argument names; `nil` if a file has this name.
    private var process: ProcessArgument? {
        guard let path = subject?.path, let process = ProcessArgument(argument: path.decoded) else { return nil }
        return path.withCString { access($0, F_OK) } == 0 ? nil : process
    }

    /// The trace, the status of the program, and how long was recorded now; `nil` for a trace from a file.
    private func traceText() throws -> (json: String, status: CInt, time: Duration?) {
        if let process {
            let (json, time) = try process.record(for: length)
            return (json, 0, time)
        }
        if let subject { return (try TextFile.read(subject.path), 0, nil) }
        return try RecordedProgram(command: program, length: length, keepsOutputFree: json).run()
    }
}
