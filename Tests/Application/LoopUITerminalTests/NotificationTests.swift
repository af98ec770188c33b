// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

@testable import LoopUITerminal

/// Notifications that a program shows to its user, who may be looking at another window.
@Suite(.ownThread, .serialized) struct NotificationTests {
    private func text(_ text: String, unicode: Bool = true, tmux: Bool = false) -> String {
        String(decoding: NotificationBytes.bytes(for: text, isUnicode: unicode, isInTmux: tmux), as: UTF8.self)
    }

    @Test(arguments: [
        ("Built in 3 s", "Built in 3 s"), ("a\u{1B}]52;c;\u{7}b\u{9C}\nc\td", "a]52;c;b c d"), ("Käse 🧀", "Käse 🧀"),
        // Numbers are commands of ConEmu.
        ("7;calc.exe", " 7;calc.exe"), ("4;1;50", " 4;1;50"), ("12", " 12"),
    ]) func `A notification is control string 9 without control characters and without commands`(
        plain: String, shown: String
    ) {
        #expect(text(plain) == "\u{1B}]9;\(shown)\u{7}")
    }

    @Test func `A notification has at most 256 characters, and is ASCII without Unicode`() {
        let long = String(repeating: "e" + String(repeating: "\u{301}", count: 1000), count: 1000)
        #expect(text(long).count < 300)
        #expect(text(String(repeating: "x", count: 1000)).utf8.count == 256 + 5)
        #expect(text("Käse", unicode: false) == "\u{1B}]9;Kse\u{7}")
    }

    @Test func `In tmux a notification is wrapped for the terminal outside`() {
        #expect(text("done", tmux: true) == "\u{1B}Ptmux;\u{1B}\u{1B}]9;done\u{7}\u{1B}\\")
        func isInTmux(_ variables: [String: String]) -> Bool { Environment { variables[$0] }.isInTmux }
        #expect(isInTmux(["TERM": "screen-256color", "TMUX": "/tmp/tmux-0/default,1,0"]))
        #expect(isInTmux(["TERM": "tmux-256color"]))
        #expect(!isInTmux(["TERM": "xterm-256color", "TMUX": ""]))
    }

    @Test func `A terminal receives a notification, and the screen stays as it is`() throws {
        let terminal = try PseudoTerminal("notify")
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("x")
        try terminal.wait(for: "keys 1, last character(\"x\")")
        try terminal.wait("a notification") { $0.screen.notifications == ["Built: Käse]2;x"] }
        #expect(terminal.screen.text.contains("notified true"))
        #expect(terminal.screen.titles == ["Board"] && terminal.screen.complaints == [])
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test func `The console of Linux receives no notification and no link`() throws {
        let terminal = try PseudoTerminal("notify", term: "linux")
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("x")
        try terminal.wait(for: "notified false")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(terminal.screen.notifications == [])
        #expect(!Environment { ["TERM": "linux"][$0] }.abilities.hasLinks)
        #expect(Environment { ["TERM": "xterm"][$0] }.abilities.hasLinks)
    }

    @Test func `A request for attention rings the bell while the terminal does not have the focus`() throws {
        let terminal = try PseudoTerminal("attention")
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("x")
        try terminal.wait(for: "asked false")
        terminal.send("\u{1B}[Ox")
        try terminal.wait(for: "asked true")
        try terminal.wait("the bell") { $0.screen.bells == 1 }
        terminal.send("\u{1B}[Ix")
        try terminal.wait(for: "asked false")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(terminal.screen.bells == 1 && terminal.screen.complaints == [])
    }

    @Test func `The console of Linux and a pipe receive no bell`() throws {
        let terminal = try PseudoTerminal("attention", term: "linux")
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("\u{1B}[Ox")
        try terminal.wait(for: "asked false")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(terminal.screen.bells == 0)
    }

    @Test func `A notification during a release of the terminal is written when the terminal is taken again`() throws {
        let terminal = try PseudoTerminal("notify-released", environment: ["SCRIPT=echo in the shell; read line"])
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("x")
        try terminal.wait("the shell") { $0.shell.contains("in the shell") }
        #expect(terminal.screen.notifications == [])
        terminal.send("\n")
        try terminal.wait("a notification") { $0.screen.notifications == ["Built: Käse]2;x"] }
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test func `Without a terminal a notification is a line`() throws {
        let terminal = try PseudoTerminal(
            commands: "printf 'xq' | \"$program\" notify | cat; echo end.", columns: 90, rows: 40)
        try terminal.wait(for: "end.")
        #expect(terminal.screen.text.contains("Built: Käse]2;x\n"))
        #expect(terminal.screen.notifications == [] && terminal.screen.complaints == [])
    }

    @Test func `A program shows links in a terminal and text in a pipe`() throws {
        let terminal = try PseudoTerminal("link")
        try terminal.wait(for: "the page")
        let linked = (0..<40 * 10).map { terminal.screen[$0 % 40, $0 / 40] }.first { $0.text == "p" && $0.link != nil }
        let shown = try #require(linked)
        #expect(shown.link?.address == "https://example.org/page%20one")
        #expect(terminal.screen.openLink == nil)
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        let pipe = try PseudoTerminal(
            commands: "printf 'q' | \"$program\" link | cat; echo end.", columns: 90, rows: 40)
        try pipe.wait(for: "end.")
        #expect(pipe.screen.text.contains("the page"))
        #expect((0..<90 * 40).allSatisfy { pipe.screen[$0 % 90, $0 / 90].link == nil })
    }
}
