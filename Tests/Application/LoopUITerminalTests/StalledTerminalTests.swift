// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

/// A terminal that takes nothing more: after Ctrl-S, or behind a connection that is dead.
@Suite(.ownThread, .serialized) struct StalledTerminalTests {
    private func start(_ scene: String) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(scene)
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("x")
        try terminal.wait(for: "keys 1, last character(\"x\")")
        return terminal
    }

    @Test(arguments: ["print", "flood", "buffer"], [SIGTERM, SIGHUP, SIGSEGV])
    func `A stalled terminal does not delay the end of a program by a signal`(scene: String, signal: CInt) throws {
        let terminal = try start(scene)
        #expect(tcflow(terminal.slave, TCOOFF) == 0)
        kill(terminal.process, signal)
        #expect(terminal.waitForEnd() == .signal(signal))
        #expect(try terminal.now.flags == terminal.before.flags)
    }

    @Test(arguments: ["print", "flood", "buffer"])
    func `A stalled terminal does not delay the normal end of a program`(scene: String) throws {
        let terminal = try start(scene)
        #expect(tcflow(terminal.slave, TCOOFF) == 0)
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(try terminal.now.flags == terminal.before.flags)
    }

    @Test func `Long printed output takes limited memory and its last part is shown at the end`() throws {
        let report = Report()
        let terminal = try PseudoTerminal("flood", report: report.path)
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("x")
        try terminal.wait(for: "keys 1, last character(\"x\")")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(try #require(report.number("grown")) <= 20 * 1024)
        #expect(try #require(report.number("kept")) <= 64)
        #expect(terminal.shell.contains("the last line"))
        #expect(terminal.shell.utf8.count <= 20 * 1024 && terminal.shell.utf8.count > 12 * 1024)
    }

    @Test func `A child that writes more than a pipe holds is not blocked by a busy program`() throws {
        let terminal = try start("child")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(terminal.shell.contains("the child's last line"))
    }

    @Test(arguments: [
        "\"$program\" keys <&- 2>&1 | cat; echo end.", "\"$program\" keys < /dev/null >&-; echo end.",
        "\"$program\" keys < /dev/null >&- 2>&-; echo end.",
    ]) func `A program whose standard input or output is closed ends without showing its screen`(commands: String)
        throws
    {
        let terminal = try PseudoTerminal(commands: commands, columns: 100, rows: 60, answers: "")
        try terminal.wait(for: "end.")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(!terminal.screen.text.contains("keys"))
    }
}
