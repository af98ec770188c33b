// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RunLoopsDiagnostics
import RunLoopsLibC

/// The command `runloop tasks`, which lists the tasks of any Swift program, and what each of them waits for.
struct TasksTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tasks",
        abstract: "Prints the tasks of a running Swift program, and what each of them waits for.",
        discussion: """
            The program needs no preparation and is not stopped: its memory is read from outside. The process must be of the \
            same user, and the system must permit that it is traced. Tasks that wait for each other come first, then the \
            tree of tasks: the functions below a task are those that it is in, innermost first.

            The exit status is 65 if the process has no Swift concurrency, 66 if there is no such process, 69 if its Swift \
            runtime is not known, 75 if it ends meanwhile, and 77 if it must not be read.
            """)

    @Flag(
        help: """
            Print one JSON document: {"process": …, "program": …, "layout": …, "rings": [[id, …]], "tasks": [{"id", "name", \
            "state", "isCancelled", "priority", "parent", "waitsFor", "stack"}], "retries": …, "bytes": …}.
            """)
    var json = false

    @Argument(help: "The number of a process.")
    var process: ProcessArgument

    func run() throws {
        let report: TaskReport
        do { report = try TaskReport(of: process.number) } catch {
            Output.error("process \(process.number) \(error)")
            throw ExitCode(Self.status(error))
        }
        if json { Output.document(report.document) } else { Output.lines(report.lines) }
    }

    /// The exit status of a failure, by the numbers of sysexits.h.
    static func status(_ failure: TaskReport.Failure) -> CInt {
        switch failure {
        case .noRuntime: 65
        case .noProcess: 66
        case .unknownLayout, .contradiction: 69
        case .ended: 75
        case .notPermitted: 77
        }
    }
}
