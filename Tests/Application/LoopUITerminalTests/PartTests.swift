// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

/// An application on some rows of the screen.
@Suite(.ownThread, .serialized) struct PartTests {
    private func open(_ commands: String, environment: [String] = []) throws -> PseudoTerminal {
        try PseudoTerminal(commands: commands, columns: 50, rows: 8, environment: environment)
    }

    private func rows(_ count: Int, keys: Int, columns: Int = 50) -> [String] {
        (0..<count).map { "row \($0) of \(count), \(columns) columns, \(keys) keys." }
    }

    private func lines(_ terminal: PseudoTerminal) -> [String] {
        var shown = terminal.screen.scrolled + (0..<terminal.screen.height).map { terminal.screen.text(row: $0) }
        while shown.last == "" { shown.removeLast() }
        return shown
    }

    /// Waits until the screen, with the rows that have left it, is these lines.
    private func expect(
        _ expected: [String], on terminal: PseudoTerminal, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try terminal.wait("\(expected)", sourceLocation: sourceLocation) { lines($0) == expected }
        #expect(terminal.screen.complaints == [], sourceLocation: sourceLocation)
    }

    @Test func `Printed lines stay above a part of the screen, which grows and shrinks`() throws {
        let terminal = try open("echo before; \"$program\" part; echo after")
        try expect(["before"] + rows(3, keys: 0), on: terminal)
        #expect(!terminal.screen.everSet.contains(1049))
        terminal.send("p")
        try expect(["before", "printed 1."] + rows(3, keys: 1), on: terminal)
        terminal.send("+")
        try expect(["before", "printed 1."] + rows(5, keys: 2), on: terminal)
        terminal.send("pp")
        let printed = ["before", "printed 1.", "printed 3.", "printed 4."]
        try expect(printed + rows(5, keys: 4), on: terminal)
        terminal.send("-")
        try expect(printed + rows(3, keys: 5), on: terminal)
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        try expect(printed + rows(3, keys: 6) + ["after"], on: terminal)
        #expect(try terminal.now.flags == terminal.before.flags)
        #expect(terminal.screen.modes == [7, 25])
    }

    @Test func `A notification does not disturb a part of the screen`() throws {
        let terminal = try open("echo before; exec \"$program\" part")
        try expect(["before"] + rows(3, keys: 0), on: terminal)
        terminal.send("n")
        try terminal.wait("a notification") { $0.screen.notifications == ["notified"] }
        try expect(["before"] + rows(3, keys: 1), on: terminal)
        terminal.send("p")
        try expect(["before", "printed 2."] + rows(3, keys: 2), on: terminal)
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test func `After a change of the terminal's size the part is drawn in its place`() throws {
        let terminal = try open("echo before; exec \"$program\" part")
        try expect(["before"] + rows(3, keys: 0), on: terminal)
        // No row is longer than either width, so that the terminal wraps none.
        terminal.resize(columns: 40, rows: 8)
        try expect(["before"] + rows(3, keys: 0, columns: 40), on: terminal)
        terminal.send("p")
        try expect(["before", "printed 1."] + rows(3, keys: 1, columns: 40), on: terminal)
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test func `A part that gets narrower than its rows keeps what was printed, on a terminal that wraps no row anew`()
        throws
    {
        let terminal = try open("echo before; exec \"$program\" part")
        try expect(["before"] + rows(3, keys: 0), on: terminal)
        terminal.resize(columns: 20, rows: 8)
        try expect(["before"] + rows(3, keys: 0, columns: 20).map { String($0.prefix(20)) }, on: terminal)
        terminal.send("p")
        try expect(
            ["before", "printed 1."] + rows(3, keys: 1, columns: 20).map { String($0.prefix(20)) }, on: terminal)
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test func `Ctrl-Z leaves the part on the screen, and fg draws it below`() throws {
        let terminal = try open("set -m; \"$program\" part; echo stopped; read line; fg; exit $?")
        try expect(rows(3, keys: 0), on: terminal)
        terminal.send("\u{1A}")
        try terminal.wait(for: "stopped")
        #expect(try terminal.now.flags == terminal.before.flags)
        #expect(terminal.screen.modes == [7, 25])
        terminal.send("\n")
        try terminal.wait("the part again") { lines($0).last == "row 2 of 3, 50 columns, 1 keys." }
        let all = lines(terminal)
        #expect(all.contains("row 2 of 3, 50 columns, 0 keys.") && all.contains("stopped"))
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test(arguments: [("x", SIGABRT), ("", SIGTERM)])
    func `A fault or a signal leaves the cursor below the part`(key: String, signal: CInt) throws {
        let terminal = try open("exec \"$program\" part")
        try expect(rows(3, keys: 0), on: terminal)
        if key == "" { kill(terminal.process, signal) } else { terminal.send(key) }
        #expect(terminal.waitForEnd() == .signal(signal))
        #expect(terminal.screen.y == 3 && terminal.screen.x == 0)
        #expect(try terminal.now.flags == terminal.before.flags)
        #expect(terminal.screen.modes == [7, 25])
    }

    @Test(arguments: [([], "36"), (["NO_COLOR=1"], "39")] as [([String], String)])
    func `With NO_COLOR a part has no colours`(environment: [String], color: String) throws {
        let terminal = try open("exec \"$program\" part", environment: environment)
        try expect(rows(3, keys: 0), on: terminal)
        #expect(terminal.screen[0, 0].foreground == color)
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test func `Without a terminal a part is lines among the printed ones`() throws {
        let terminal = try open("printf 'pq' | \"$program\" part | cat; echo end.")
        try terminal.wait(for: "end.")
        #expect(terminal.waitForEnd() == .status(0))
        let all = lines(terminal)
        #expect(all.contains("printed 1."))
        // The change directly before the end, too.
        #expect(all.contains("row 0 of 24, 80 columns, 2 keys."))
        #expect(terminal.screen.everSet == [] && terminal.screen.complaints == [])
    }
}
