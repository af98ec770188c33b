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
            runloop doctor [--for <duration>] [--hang-after <duration>] [--hang-idle <duration>] [--json] -- <program> ...
            runloop doctor [--for <duration>] [--json] <pid>
            runloop doctor [--json] <trace>
            """,
        discussion: """
            Finds timers without tolerance that wake an idle loop, sources that were signalled without a wake-up, items in \
            modes that never run, modes that ran before a common item was added to them, timers that stood still while other \
            modes ran, descriptors that were closed while they were watched, timers that are always late, callouts that \
            take longer than a frame, and runs nested more than three deep; and tasks of a process that wait for each other, \
            or for a main actor whose thread is blocked.

            A program must link RunLoopsDiagnostics; its output is not changed. A process must be listed by runloop ps; it \
            is recorded for the given time, and keeps running. A number is a process unless a file has that name. The exit \
            status is 1 if there is a finding, also if the program failed.

            A program that hangs, such as a test runner, needs to link nothing. If it and the processes that it has started \
            have used no processor for a minute, the tasks and the threads of each are printed on standard error, and it \
            goes on. With --hang-after or --hang-idle it is ended then: first by SIGTERM, five seconds later by SIGKILL.
            """)

    @Option(
        name: .customLong("for"),
        help: .duration(
            "How long to record. Control-C stops recording a process early (default: 5s); a program gets SIGTERM at the end (default: until it exits)."
        ))
    var length: Duration?

    @Option(help: .duration("Report and end a program that has not ended after this time."))
    var hangAfter: Duration?

    @Option(help: .duration("Report and end a program that has used no processor for this time."))
    var hangIdle: Duration?

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
        if subject != nil, hangAfter != nil || hangIdle != nil {
            throw ValidationError("--hang-after and --hang-idle need a program")
        }
        if length != nil, hangAfter != nil || hangIdle != nil {
            throw ValidationError("Give --for, or --hang-after and --hang-idle")
        }
        if length != nil, subject != nil, process == nil {
            throw ValidationError("--for needs a program or a process")
        }
    }

    func run() throws {
        let recorded = try record()
        // A program that hung may have left no trace.
        let report = try recorded.json.map { try TextFile.report($0, named: subject?.description ?? program[0]) }
        let lost = report?.lost ?? 0
        let findings =
            recorded.hangs.map { (kind: "hangs", subject: program.first ?? "", text: $0) }
            + (report?.findings() ?? []).map { (kind: $0.kind.rawValue, subject: $0.subject, text: $0.text) }
            + taskFindings()
        if json {
            let document: JSON = [
                "program": .string(report?.program ?? program[0]), "lost": .integer(Int64(lost)),
                "seconds": recorded.time.map { .decimal($0 / .seconds(1)) },
                "keptSeconds": .decimal((report?.length ?? 0) / 1e6),
                "findings": .array(
                    findings.map {
                        ["kind": .string($0.kind), "subject": .string($0.subject), "text": .string($0.text)]
                    }),
            ]
            Output.document(document)
        } else {
            if let report, lost > 0 {
                Output.line("\(report.reach(of: recorded.time)) What is said is about these.")
            } else if let time = recorded.time {
                Output.line("Looked at \(report?.program ?? program[0]) for \(Format.short(time)).")
            }
            for finding in findings { Output.line("• \(finding.text)") }
            if findings.isEmpty { Output.line("Nothing found.") }
        }
        if !findings.isEmpty { throw ExitCode(1) }
        if recorded.status != 0 { throw ExitCode(recorded.status) }
    }

    /// The tasks of the process that wait for each other, or for a thread that is blocked.
    private func taskFindings() -> [(kind: String, subject: String, text: String)] {
        // A process that answers may be read in most cases. Where it may not, the doctor knows less.
        guard let process, let report = try? TaskReport(of: process.number) else { return [] }
        return report.ringLines.map { ("tasksWaitInRing", "tasks", $0) }
            + (blockedMainActor(process.number, report).map { [("mainActorBlocked", "tasks", $0)] } ?? [])
    }

    /// How long tasks must wait for the main actor, and its thread for the same thing.
    private static let blockedTime = Duration.milliseconds(200)

    /// A sentence about tasks that wait for the main actor while its thread waits in one place.
    private func blockedMainActor(_ process: Int32, _ report: TaskReport) -> String? {
        func waiting(_ report: TaskReport) -> Set<UInt64> {
            Set(report.tasks.filter { $0.wait == .mainActor }.map(\.id))
        }
        func mainThread() -> ThreadReport? { ThreadReport.threads(of: process).first { $0.number == process } }
        let before = waiting(report)
        guard !before.isEmpty, let thread = mainThread(), thread.state != "runs" else { return nil }
        usleep(UInt32(Self.blockedTime.milliseconds * 1000))
        guard let now = mainThread(), now.state == thread.state, now.stack == thread.stack,
            let count = (try? TaskReport(of: process)).map({ waiting($0).intersection(before).count }), count > 0
        else { return nil }
        // Not the loop's own functions.
        let stack = now.stack.prefix { !$0.contains("RUNLOOP_IS_") }.prefix(6)
        let place = stack.isEmpty ? "" : ": " + stack.joined(separator: ", called by ")
        let subject = count == 1 ? "A task waits" : "\(count) tasks wait"
        return "\(subject) for the main actor, whose thread \(now.state)\(place)"
    }

    /// The process that the argument names; `nil` if a file has this name.
    private var process: ProcessArgument? {
        guard let path = subject?.path, let process = ProcessArgument(argument: path.decoded) else { return nil }
        return path.withCString { access($0, F_OK) } == 0 ? nil : process
    }

    /// What was recorded; without a time for a trace from a file.
    private func record() throws -> (json: String?, status: CInt, time: Duration?, hangs: [String]) {
        if let process {
            let (json, time) = try process.record(for: length)
            return (json, 0, time, [])
        }
        if let subject { return (try TextFile.read(subject.path), 0, nil, []) }
        // A program that gets SIGTERM after a time is expected to be idle.
        let patience = length == nil ? ProgramPatience(time: hangAfter, idle: hangIdle) : nil
        let result = try RecordedProgram(
            command: program, length: length, keepsOutputFree: json, patience: patience
        ).run()
        return (result.json, result.status, result.time, result.hangs)
    }
}
