// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RunLoopsDiagnostics

/// The command `runloop ps`, which lists the processes that can be inspected, with the state of their loops.
struct PsTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ps", abstract: "Lists the processes that can be inspected, with the state of their loops.",
        discussion: """
            A process can be inspected by its own user if it links RunLoopsDiagnostics and was started with RUNLOOP_INSPECT=1 \
            in its environment, or has called Inspector.start(). Inspecting a process does not change it.
            """)

    /// The longest wait for the answers of all processes together.
    private static let patience = Duration.seconds(1)

    typealias Answer = (process: Int32, answer: Result<ProcessReport, CommandFailure>)

    @Flag(help: "Print one JSON document: {\"processes\": […]}.")
    var json = false

    func run() {
        let clients = InspectorClient.all()
        // The tool asks every process before it waits for any: a stopped process holds up none. A process that cannot be
        // asked gives no answer either.
        for client in clients { try? client.requestLoops() }
        let deadline = InspectorClient.deadline(Self.patience)
        let answers = clients.map { client -> Answer in
            let answer = Result { () throws(InspectorClient.Failure) in try client.takeReport(until: deadline) }
            return (client.process, answer.mapError { CommandFailure(ProcessArgument.state(client.process, $0)) })
        }
        if json {
            let processes = answers.map { process, answer -> JSON in
                switch answer {
                case .success(let report): report.document
                case .failure(let why): ["process": .integer(Int64(process)), "error": .string(why.description)]
                }
            }
            return Output.document(["processes": .array(processes)])
        }
        if answers.isEmpty {
            return Output.line("No process can be inspected. Start one with RUNLOOP_INSPECT=1 in its environment.")
        }
        Output.lines(Self.table(answers.flatMap(Self.rows)))
    }

    private static func rows(_ answer: Answer) -> [[String]] {
        switch answer.answer {
        case .failure(let why): return [["\(answer.process)", "", "", "", "", why.description]]
        case .success(let report):
            let program = LoopWording.visible(report.program)
            if report.loops.isEmpty { return [["\(answer.process)", program, "", "", "", "no loops yet"]] }
            return report.loops.enumerated().map { index, loop in
                (index == 0 ? ["\(answer.process)", program] : ["", ""])
                    + [LoopWording.thread(loop), LoopWording.mode(loop), "\(loop.depth)", LoopWording.state(loop)]
            }
        }
    }

    /// Formats rows as columns that are as wide as their longest text, with numbers aligned to the right.
    private static func table(_ rows: [[String]]) -> [String] {
        let rows = [["PID", "PROGRAM", "LOOP", "MODE", "DEPTH", "STATE"]] + rows
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                if column == 0 || column == 4 { return Format.aligned(cell, widths[column]) }
                return column == row.count - 1 ? cell : Format.padded(cell, widths[column])
            }
            return cells.joined(separator: "  ")
        }
    }
}
