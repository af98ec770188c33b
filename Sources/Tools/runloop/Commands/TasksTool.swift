// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RunLoopsDiagnostics
import RunLoopsLibC
import RunLoopsSystem

/// The command `runloop tasks`, which lists the tasks of any Swift program, and what each of them waits for.
struct TasksTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tasks",
        abstract: "Prints the tasks of a Swift program, and what each of them waits for.",
        discussion: """
            The program needs no preparation and is not stopped: its memory is read from outside. The process must be of the \
            same user, and the system must permit that it is traced. Tasks that wait for each other come first, then the \
            tree of tasks: the functions below a task are those that it is in, innermost first. A process that must not be \
            read is asked to look itself, as with --inside.

            Where llvm-symbolizer is installed, which every Swift toolchain has, the line is printed at which each function goes on: that of the \
            await.

            A core file has the tasks of a process that has ended. The program and its libraries must be on this machine.

            The exit status is 65 if the process has no Swift concurrency, or the file is no core file, 66 if there is no such process, 69 if its Swift \
            runtime is not known, 75 if it ends meanwhile, and 77 if it must not be read.
            """)

    @Flag(
        help: """
            Print one JSON document: {"process": …, "program": …, "layout": …, "rings": [[id, …]], "tasks": [{"id", "name", \
            "state", "isCancelled", "priority", "parent", "waitsFor", "stack", "lines"}], "retries": …, "bytes": …}.
            """)
    var json = false

    @Flag(
        help: "Ask the process to look itself: it must link RunLoopsDiagnostics and be started with RUNLOOP_INSPECT=1.")
    var inside = false

    @Flag(
        inversion: .prefixedNo,
        help: """
            Print the source lines of functions, which llvm-symbolizer finds in the program's debug information. Without this flag, they are \
            printed if they can be found; with it, the reason is printed if they cannot. An answer from inside has none.
            """)
    var lines: Bool?

    @Flag(help: "Print the tasks again and again, in a terminal in place of what was printed before, until Control-C.")
    var watch = false

    @Option(help: .duration("The time between two looks of --watch."))
    var every: Duration = .seconds(1)

    @Argument(
        help: ArgumentHelp("The number of a process, or a core file.", valueName: "pid or core"),
        completion: .file())
    var subject: FileArgument

    /// The longest wait for the answer of a process that looks itself: it may have a million tasks.
    private static let patience = Duration.seconds(60)

    func validate() throws {
        if process == nil {
            if subject.path.withCString({ access($0, F_OK) }) != 0 {
                throw ValidationError("Give the number of a process, or a core file")
            }
            if inside || watch { throw ValidationError("--inside and --watch need the number of a process") }
        }
        if every <= .zero { throw ValidationError("--every must be more than 0") }
    }

    /// The process that the argument names; `nil` if a file has this name.
    private var process: ProcessArgument? {
        guard let process = ProcessArgument(argument: subject.path.decoded) else { return nil }
        return subject.path.withCString { access($0, F_OK) } == 0 ? nil : process
    }

    func run() throws {
        var sources = SourceLines()
        guard let process else {
            let report = try orExit("\(subject)") { () throws(TaskReport.Failure) -> TaskReport in
                try TaskReport(core: subject.path)
            }
            return print(answer(report, &sources))
        }
        guard watch else { return print(try look(at: process, &sources)) }
        let isTerminal = isatty(STDOUT_FILENO) == 1 && !json
        while true {
            let answer = try look(at: process, &sources)
            if isTerminal { Output.clear() }
            print(answer)
            Output.flush()
            usleep(UInt32(clamping: every.milliseconds * 1000))
        }
    }

    private func look(at process: ProcessArgument, _ sources: inout SourceLines) throws -> (
        document: JSON, lines: [String]
    ) {
        if inside { return try process.ask { try $0.tasks(within: Self.patience) } }
        let report: TaskReport
        do { report = try TaskReport(of: process.number) } catch {
            if error == .notPermitted, let client = InspectorClient.find(process.number),
                let answer = try? client.tasks(within: Self.patience)
            {
                return answer
            }
            return try orExit("process \(process.number)") {
                () throws(TaskReport.Failure) -> (document: JSON, lines: [String]) in throw error
            }
        }
        return answer(report, &sources)
    }

    /// Returns a report with the source lines that are known.
    private func answer(_ report: TaskReport, _ sources: inout SourceLines) -> (document: JSON, lines: [String]) {
        var report = report
        if lines != false {
            do { try sources.add(to: &report) } catch {
                // Once: the next look at the process has the same reason.
                if lines == true, sources.looks == 1 { Output.errors(["No source lines: \(error)"]) }
            }
        }
        return (report.document, report.lines)
    }

    /// Calls the body; a failure ends the command with a sentence and a status.
    private func orExit<Value>(_ subject: String, _ body: () throws(TaskReport.Failure) -> Value) throws -> Value {
        do { return try body() } catch {
            Output.error("\(subject) \(error)")
            throw ExitCode(Self.status(error))
        }
    }

    private func print(_ answer: (document: JSON, lines: [String])) {
        if json { Output.document(answer.document) } else { Output.lines(answer.lines) }
    }

    /// The exit status of a failure, by the numbers of sysexits.h.
    static func status(_ failure: TaskReport.Failure) -> CInt {
        switch failure {
        case .noRuntime, .noCore: 65
        case .noProcess: 66
        case .unknownLayout, .contradiction: 69
        case .ended: 75
        case .notPermitted: 77
        }
    }
}
