// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

/// What the write-ups say of a program on a device, of a program on a terminal.
@Suite(.ownThread, .serialized) struct FiveStatesTests {
    private static let kitty = "\u{1B}[?2026;2$y\u{1B}[?2048;2$y\u{1B}[?1006;2$y\u{1B}[?0u\u{1B}[?62;22c"

    @Test(arguments: [SIGTERM, SIGHUP])
    func `The program's state changes with the focus, Ctrl-Z, fg and a termination signal`(signal: CInt) throws {
        let report = Report()
        // Below a shell: nobody else could let the program go on after Ctrl-Z, and then it would not stop.
        let terminal = try PseudoTerminal(
            commands: """
                set -m
                "$program" keys "$report"
                echo "a stop"; read line; fg
                exit $?
                """, report: report.path, answers: Self.kitty)
        try terminal.wait(for: "keys 0, last none.")
        // Inactive without the focus, and active again; a key shows that both were handled.
        terminal.send("\u{1B}[O\u{1B}[Ia")
        try terminal.wait(for: "last character(\"a\")")
        terminal.send("\u{1A}")
        // Suspended: nothing runs, also no callback.
        try terminal.wait("a stop") { $0.shell.contains("a stop") }
        terminal.send("\n")
        try terminal.wait("modes again") { $0.screen.modes.isSuperset(of: [1049, 1002, 1006, 2004]) }
        terminal.send("b")
        try terminal.wait(for: "last character(\"b\")")
        kill(-terminal.foreground, signal)
        #expect(terminal.waitForEnd() == .status(128 + signal))
        #expect(report["states"] == "active,resign,active,resign,background,foreground,active,terminate")
    }

    /// [000]: beside the event queue's source of the order −1 stand the ports, which have no other order than 0 here.
    @Test
    func
        `The terminal's ports are in both common modes with the event queue's source, and all but its input in the receive mode`()
        throws
    {
        let report = Report()
        let terminal = try PseudoTerminal("keys", report: report.path, answers: Self.kitty)
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        var sources: [String: [String]] = [:]
        var mode = ""
        for line in report.lines(of: "loop") {
            if let name = line.firstMatch(of: /^    (\w+Mode)/) { mode = String(name.1) }
            if let source = line.firstMatch(of: /^        <RunLoop\.(Source|DescriptorSource) ([\w ]+)>/) {
                sources[mode, default: []].append("\(source.1) \(source.2)")
            }
        }
        let expected =
            ["Source handleEventQueue", "DescriptorSource terminal input", "DescriptorSource terminal output"]
            + ["end", "end", "end", "end", "resize", "stop", "go on"].map { "DescriptorSource \($0)" }
        #expect(
            sources == [
                "kCFRunLoopDefaultMode": expected, "UITrackingRunLoopMode": expected,
                "GSEventReceiveRunLoopMode": expected.filter { !$0.hasSuffix("input") },
            ])
    }

    @Test func `Observers of signals are called after the frame was written`() throws {
        let report = Report()
        let terminal = try PseudoTerminal("keys", report: report.path)
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        let observers = report.lines(of: "loop").compactMap { line in
            line.firstMatch(of: /<RunLoop.Observer ([^>]*)>{.*order (-?\d+)/)
        }
        let orders = observers.filter { $0.1.hasPrefix("signal ") }.compactMap { Int($0.2) }
        #expect(orders.count >= 7)
        // The transaction's is 2,000,000.
        #expect(orders.allSatisfy { $0 > 2_000_000 })
    }
}
