// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

/// Another program on the terminal, for a while.
@Suite(.ownThread, .serialized) struct ReleasedTerminalTests {
    private static let kitty = "\u{1B}[?2026;2$y\u{1B}[?2048;2$y\u{1B}[?1006;2$y\u{1B}[?0u\u{1B}[?62;22c"

    private func expectShell(_ terminal: PseudoTerminal, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try terminal.now.flags == terminal.before.flags, sourceLocation: sourceLocation)
        #expect(terminal.screen.modes == [7, 25], sourceLocation: sourceLocation)
        #expect(terminal.screen.keyboardFlags == [] && terminal.savedTitles == 0, sourceLocation: sourceLocation)
        #expect(terminal.screen.complaints == [], sourceLocation: sourceLocation)
    }

    private func expectProgram(_ terminal: PseudoTerminal, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try terminal.wait("the modes again", sourceLocation: sourceLocation) {
            $0.screen.modes.isSuperset(of: [1049, 1002, 1006, 2004, 2048])
        }
        #expect(try terminal.now.flags != terminal.before.flags, sourceLocation: sourceLocation)
        #expect(
            terminal.screen.keyboardFlags == ["31"] && terminal.savedTitles == 1, sourceLocation: sourceLocation)
    }

    private func start(_ script: String, _ report: Report) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(
            "release", report: report.path, environment: ["SCRIPT=\(script)"], answers: Self.kitty)
        try terminal.wait(for: "keys 0, last none.")
        try terminal.wait("modes that are offered") { $0.screen.modes.contains(2048) }
        return terminal
    }

    private static let states = "active,resign,background,foreground,active,terminate"

    @Test func `A child gets the terminal's streams, settings and screen, and the program is drawn again afterwards`()
        throws
    {
        let report = Report()
        let terminal = try start("test -t 0 && test -t 1 && test -t 2 && echo begun; read line; echo got $line", report)
        terminal.send("x")
        try terminal.wait("the child") { $0.shell.contains("begun") }
        // What the program had printed comes first.
        #expect(terminal.shell.contains("printed before"))
        try expectShell(terminal)
        #expect(terminal.foreground == terminal.process)
        terminal.send("a line\n")
        try terminal.wait("the child's end") { $0.screen.modes.contains(1049) }
        try expectProgram(terminal)
        try terminal.wait(for: "keys 1, last character(\"x\")")
        terminal.send("a")
        try terminal.wait(for: "last character(\"a\")")
        #expect(terminal.screen.text.contains("│ exited(0)"))
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        try expectShell(terminal)
        #expect(report["states"] == Self.states)
    }

    @Test func `Ctrl-C interrupts the child and does not end the program`() throws {
        let report = Report()
        let terminal = try start("trap 'echo caught; exit 4' INT; echo begun; while :; do sleep 0.05; done", report)
        terminal.send("x")
        try terminal.wait("the child") { $0.shell.contains("begun") }
        terminal.send("\u{3}")
        try terminal.wait(for: "│ exited(4)")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(report["states"] == Self.states)
    }

    @Test func `The shell does not get the terminal settings that a child left`() throws {
        let report = Report()
        let terminal = try start("stty raw -echo; echo begun", report)
        terminal.send("x")
        try terminal.wait(for: "│ exited(0)")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        try expectShell(terminal)
    }

    @Test func `The loop runs and SIGTERM ends the program while a child has the terminal`() throws {
        let report = Report()
        let terminal = try start("echo begun; read line", report)
        terminal.send("x")
        try terminal.wait("the child") { $0.shell.contains("begun") }
        kill(terminal.process, SIGTERM)
        #expect(terminal.waitForEnd() == .signal(SIGTERM))
        try expectShell(terminal)
        #expect(report["states"] == "active,resign,background,terminate")
    }

    @Test func `Ctrl-Z stops the child and the program, and fg lets both go on`() throws {
        let terminal = try PseudoTerminal(
            commands: """
                set -m
                "$program" release
                echo "a stop"; read line; fg
                exit $?
                """, environment: ["SCRIPT=echo begun $$ .; read line; echo got $line"], answers: Self.kitty)
        try terminal.wait(for: "keys 0, last none.")
        try terminal.wait("modes that are offered") { $0.screen.modes.contains(2048) }
        terminal.send("x")
        try terminal.wait("the child") { $0.shell.contains(" .") }
        let words = terminal.shell.split(whereSeparator: \.isWhitespace)
        let child = try #require(words.drop { $0 != "begun" }.dropFirst().first.flatMap { pid_t($0) })
        terminal.send("\u{1A}")
        try terminal.wait("a stop") { $0.shell.contains("a stop") }
        // A child that has not been scheduled since the signal is still inside its read, and would take the next line.
        try terminal.wait("the child's stop") { _ in RestoreTests.isStopped(child) }
        try expectShell(terminal)
        terminal.send("\n")
        try terminal.wait("the child goes on") { $0.foreground != $0.process }
        terminal.send("a line\n")
        try terminal.wait(for: "│ exited(0)")
        try expectProgram(terminal)
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        try expectShell(terminal)
    }
}
