// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsDiagnostics

/// `runloop ps`.
struct PsTool {
    static let usage = """
        OVERVIEW: Which processes can be looked into, and what their loops are about.

        Those of the same user that were started with RUNLOOP_INSPECT=1 in their environment and link RunLoopsDiagnostics,
        or have called Inspector.start(). Nothing is changed in them.

        USAGE: runloop ps

        """

    /// How long all of them together may take.
    private static let patience = Duration.seconds(1)

    /// Reads what follows the command's name: nothing.
    init(_ arguments: inout Arguments) throws {
        guard let word = arguments.next() else { return }
        if word == "--help" || word == "-h" { throw CommandEnd.help(Self.usage) }
        throw CommandEnd.misuse("unknown argument '\(word)'", Self.usage)
    }

    func run() throws {
        let clients = InspectorClient.all()
        if clients.isEmpty {
            return print("No process can be looked into. Start one with RUNLOOP_INSPECT=1 in its environment.")
        }
        // The tool asks every process before it waits for any: a stopped process holds up none.
        let asked = clients.map { client in Result { try client.requestLoops() } }
        let deadline = InspectorClient.deadline(Self.patience)
        var rows = [["PID", "PROGRAM", "LOOP", "MODE", "DEPTH", "STATE"]]
        for (client, asked) in zip(clients, asked) {
            do {
                try asked.get()
                rows += Self.rows(try client.takeReport(until: deadline))
            } catch {
                let state = ProcessArgument.isStopped(client.process) ? "stopped" : "\(error)"
                rows.append(["\(client.process)", "", "", "", "", state])
            }
        }
        print(Self.table(rows).joined(separator: "\n"))
    }

    private static func rows(_ process: ProcessReport) -> [[String]] {
        let program = LoopWording.visible(process.program)
        if process.loops.isEmpty { return [["\(process.process)", program, "", "", "", "no loops yet"]] }
        return process.loops.enumerated().map { index, loop in
            [
                index == 0 ? "\(process.process)" : "", index == 0 ? program : "", LoopWording.thread(loop),
                LoopWording.mode(loop), "\(loop.depth)", LoopWording.state(loop),
            ]
        }
    }

    /// Columns as wide as what is in them; numbers to the right.
    private static func table(_ rows: [[String]]) -> [String] {
        let widths = (0..<rows[0].count).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                if column == 0 || column == 4 { return Format.aligned(cell, widths[column]) }
                return column == row.count - 1 ? cell : Format.padded(cell, widths[column])
            }
            return cells.joined(separator: "  ")
        }
    }
}
