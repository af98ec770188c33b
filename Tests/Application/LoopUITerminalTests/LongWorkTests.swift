// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

/// A program that works on its main thread until it is ended, and serves the system meanwhile.
@Suite(.ownThread, .serialized) struct LongWorkTests {
    @Test func `In the middle of long work a program is resized and ended, and does not handle keys`() throws {
        let report = Report()
        let terminal = try PseudoTerminal("work", report: report.path)
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("x")
        try terminal.wait(for: "working")
        // Would end the program.
        terminal.send("q")
        terminal.useScreen(columns: 44, rows: 11)
        terminal.resize(columns: 44, rows: 11)
        try terminal.wait(for: "size 44 11.")
        #expect(terminal.isRunning)
        kill(terminal.process, SIGTERM)
        #expect(terminal.waitForEnd() == .signal(SIGTERM))
        #expect(try terminal.now.flags == terminal.before.flags)
        #expect(terminal.screen.modes == [7, 25])
        #expect(report["keys"] == "1" && report["states"] == "active,terminate")
        // As the dump of a main loop on Apple's systems: a signalled source, and sources of the kernel, with the observers of these.
        let dump = report.lines(of: "loop")
        let start = try #require(dump.firstIndex { $0.hasPrefix("    GSEventReceiveRunLoopMode") })
        let section = dump[(start + 1)...].prefix { $0 != "    }" }
        let items = section.filter { $0.contains("<RunLoop.") }
        #expect(items.count { $0.contains("handleEventQueue") && $0.contains("order -1") } == 1)
        #expect(items.contains { $0.contains("end") } && items.contains { $0.contains("resize") })
        #expect(!items.contains { $0.contains("terminal input") })
        #expect(items.allSatisfy { !$0.contains("<RunLoop.Observer") || $0.contains("<RunLoop.Observer signal") })
        #expect(section.contains("      timers = (none)"))
    }

    @Test func `A program is stopped and continued in the middle of long work`() throws {
        let terminal = try PseudoTerminal(commands: "set -m; \"$program\" work; echo stopped; read line; fg; exit $?")
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("x")
        try terminal.wait(for: "working")
        kill(-terminal.foreground, SIGTSTP)
        try terminal.wait("a stop") { $0.shell.contains("stopped") }
        #expect(try terminal.now.flags == terminal.before.flags)
        terminal.send("\n")
        try terminal.wait("the screen again") {
            $0.screen.modes.contains(1049) && $0.screen.text.contains("working")
        }
        kill(-terminal.foreground, SIGTERM)
        _ = terminal.waitForEnd()
        #expect(try terminal.now.flags == terminal.before.flags)
        #expect(terminal.screen.modes == [7, 25])
    }
}
