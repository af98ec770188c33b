// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import LinuxLibC
internal import RunLoops
import RunLoopsDiagnostics

/// The command `runloop doctor`, which reports probable problems of a program, a process or a trace.
struct DoctorTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Says in words what is wrong with a program that it runs, with a process or with a trace.",
        usage: """
            runloop doctor [--for <duration>] [--json] -- <program> [<argument> ...]
            runloop doctor [--for <duration>] [--json] <pid>
            runloop doctor [--json] <trace>
            """,
        discussion: """
            Looks for timers without tolerance that wake an idle loop, sources that were signalled without a wake-up, items \
            in modes that nobody runs, common items that came to a mode too late, timers that are never on time, callouts \
            that take longer than a frame, and runs nested deeper than three.

            The program has to link RunLoopsDiagnostics; what it prints is its own. A process that can be looked into (see \
            runloop ps) is recorded for a while, and goes on. A number is a process unless a file has that name. The exit \
            status is 1 if something was found, also when the program has failed.
            """)

    @Option(
        name: .customLong("for"),
        help: .duration(
            "How long. A process: Control-C ends it sooner. (default: 5s) A program is asked to end by SIGTERM. (default: until it ends)"
        ))
    var length: Duration?

    @Flag(
        help: """
            One JSON document: {"program": …, "lost": …, "findings": [{"kind", "subject", "text"}]}. What the program \
            prints goes to standard error.
            """)
    var json = false

    @Argument(
        help: ArgumentHelp(
            "The number of a process, or the JSON that runloop trace has written.", valueName: "pid or trace"),
        completion: .file(extensions: ["json"]))
    var subject: String?

    @Argument(parsing: .postTerminator, help: "A program and its arguments.", completion: .file())
    var program: [String] = []

    func validate() throws {
        if (subject == nil) == program.isEmpty {
            throw ValidationError("Give a process, a trace, or a program after --")
        }
        if length != nil, subject != nil, process == nil {
            throw ValidationError("--for is about a program or a process")
        }
    }

    func run() throws {
        let (text, status) = try traceText()
        let report = try TextFile.report(text, named: subject ?? program[0])
        let findings = report.findings()
        if json {
            let document: JSON = [
                "program": .string(report.program), "lost": .integer(Int64(report.lost)),
                "findings": .array(
                    findings.map {
                        ["kind": .string($0.kind.rawValue), "subject": .string($0.subject), "text": .string($0.text)]
                    }),
            ]
            print(document.text)
        } else {
            if report.lost > 0 {
                print("\(report.lost) events were overwritten by later ones; what is said is about the rest.")
            }
            for finding in findings { print("• \(finding.text)") }
            if findings.isEmpty { print("Nothing found.") }
        }
        if !findings.isEmpty { throw ExitCode(1) }
        if status != 0 { throw ExitCode(status) }
    }

    /// The process that the argument names; `nil` if a file has this name.
    private var process: ProcessArgument? {
        guard let subject, let process = ProcessArgument(argument: subject), access(subject, F_OK) != 0 else {
            return nil
        }
        return process
    }

    private func traceText() throws -> (json: String, status: CInt) {
        if let process { return (try process.record(for: length), 0) }
        if let subject { return (try TextFile.read(subject), 0) }
        return try RecordedProgram(command: program, length: length, keepsOutputFree: json).run()
    }
}
