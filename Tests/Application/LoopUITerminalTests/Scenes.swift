// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import TerminalTestSupport
import Testing

extension PseudoTerminal {
    /// The program that was built beside the tests.
    static let program = BuiltPrograms.path("LoopUITerminalPrograms")

    /// Starts a scene, or a shell's commands in which `$program` is the program, on a new terminal.
    convenience init(
        _ scene: String = "", commands: String? = nil, report: String? = nil, columns: UInt16 = 40, rows: UInt16 = 10,
        term: String = "xterm-256color", environment: [String] = [], answers: String = "\u{1B}[?62;22c"
    ) throws {
        let program = try #require(Self.program)
        try self.init(
            commands.map { ["/bin/sh", "-c", $0] } ?? [program, scene] + (report.map { [$0] } ?? []),
            columns: columns, rows: rows, term: term,
            environment: ["program=\(program)", "report=\(report ?? "")"] + environment, answers: answers)
    }
}
