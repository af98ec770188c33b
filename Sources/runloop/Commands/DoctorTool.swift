// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import LinuxLibC
internal import RunLoops
import RunLoopsDiagnostics

/// `runloop doctor`.
struct DoctorTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Says in words what is wrong with a program, which it runs, or with a trace.",
        usage: """
            runloop doctor [--for <duration>] [--json] -- <program> [<argument> ...]
            runloop doctor [--json] <trace>
            """,
        discussion: """
            Looks for timers without tolerance that wake an idle loop, sources that were signalled without a wake-up, items \
            in modes that nobody runs, common items that came to a mode too late, timers that are never on time, callouts \
            that take longer than a frame, and runs nested deeper than three.

            The program has to link RunLoopsDiagnostics; what it prints is its own. The exit status is 1 if something was \
            found, also when the program has failed.
            """)

    @Option(
        name: .customLong("for"),
        help: .duration("Asks the program to end by SIGTERM after that time: 10s, 500ms. (default: until it ends)"))
    var length: Duration?

    @Flag(
        help: """
            One JSON document: {"program": …, "lost": …, "findings": [{"kind", "subject", "text"}]}. What the program \
            prints goes to standard error.
            """)
    var json = false

    @Argument(help: "The JSON that runloop trace has written.", completion: .file(extensions: ["json"]))
    var trace: String?

    @Argument(parsing: .postTerminator, help: "A program and its arguments.", completion: .file())
    var program: [String] = []

    func validate() throws {
        if (trace == nil) == program.isEmpty { throw ValidationError("Give either a trace, or a program after --") }
        if length != nil, program.isEmpty { throw ValidationError("--for is about a program") }
    }

    func run() throws {
        let (text, status) = try traceText()
        let report = try TextFile.report(text, named: trace ?? program[0])
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

    private func traceText() throws -> (json: String, status: CInt) {
        if let trace {
            if Int32(trace) != nil, access(trace, F_OK) != 0 {
                throw CommandFailure(
                    "no trace is named \(trace). To look into the process \(trace): runloop trace \(trace), then runloop doctor trace.json"
                )
            }
            return (try TextFile.read(trace), 0)
        }
        return try RecordedProgram(command: program, length: length, keepsOutputFree: json).run()
    }
}
