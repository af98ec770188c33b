// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

/// Input of a program of which a part is late or lost.
@Suite(.ownThread, .serialized) struct LostInputTests {
    /// Sends a key again and again, with pauses as a user makes them, until the program has restored the terminal, whose driver
    /// then makes a signal of the key, and has ended.
    private func press(_ key: String, on terminal: PseudoTerminal) throws -> PseudoTerminal.End? {
        let limit = ContinuousClock.now + plenty
        while ContinuousClock.now < limit, terminal.isRunning {
            if try terminal.now.c_lflag & tcflag_t(ICANON) == 0 { terminal.send(key) }
            _ = poll(nil, 0, 300)
            while terminal.read(waiting: 0) {}
        }
        return terminal.waitForEnd()
    }

    @Test(arguments: ["\u{1B}[200~pasted \u{3} text", "\u{1B}]52;c;aGVs", "\u{1B}P$"], ["\u{3}", "\u{1B}[99;5u"])
    func `Ctrl-C ends a program that waits for the end of a pasted text or a string`(lost: String, key: String) throws {
        let terminal = try PseudoTerminal("keys")
        try terminal.wait(for: "keys 0, last none.")
        terminal.send(lost)
        _ = poll(nil, 0, 200)
        #expect(try press(key, on: terminal) == .status(0))
    }

    @Test func `Keys pressed after a pasted text whose end is lost are delivered as keys`() throws {
        let terminal = try PseudoTerminal("hurry")
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("\u{1B}[200~pasted")
        try terminal.wait(for: "pasted 6.")
        terminal.send("a")
        try terminal.wait(for: "last character(\"a\")")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test func `A key received in parts within ESCDELAY is one key`() throws {
        let terminal = try PseudoTerminal("keys", environment: ["ESCDELAY=30000"])
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("\u{1B}")
        _ = poll(nil, 0, 200)
        terminal.send("[A")
        try terminal.wait(for: "keys 1, last up.")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test(arguments: [("\u{1B}", "[?62;22c"), ("\u{1B}[", "?62;22c"), ("\u{1B}[?62", ";22c")])
    func `A late answer received in parts is not decoded as text`(first: String, second: String) throws {
        let terminal = try PseudoTerminal("keys", answers: "")
        try terminal.wait(for: "keys 0, last none.")
        terminal.send(first)
        _ = poll(nil, 0, 300)
        terminal.send(second)
        _ = poll(nil, 0, 300)
        terminal.send("z")
        try terminal.wait(for: "last character(\"z\")")
        // Beside this key at most the one that the beginning was taken for.
        #expect(terminal.screen.text.contains("keys 1,") || terminal.screen.text.contains("keys 2,"))
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }
}
