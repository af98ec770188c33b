// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import LoopUI
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

@testable import LoopUITerminal
@testable import RunLoopsTerminal

/// What the environment and the terminal say about what can be shown.
@Suite(.ownThread, .serialized) struct EnvironmentTests {
    private func abilities(_ variables: [String: String]) -> DisplayAbilities {
        Environment { variables[$0] }.abilities
    }

    @Test(arguments: [
        (["TERM": "xterm"], DisplayAbilities.Colors.palette16), (["TERM": "xterm-256color"], .palette256),
        (["TERM": "xterm-direct"], .direct), (["TERM": "xterm", "COLORTERM": "truecolor"], .direct),
        (["TERM": "xterm", "COLORTERM": "24bit", "NO_COLOR": ""], .direct),
        (["TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"], .none),
    ]) func `The environment variables decide the number of colours`(
        variables: [String: String], colors: DisplayAbilities.Colors
    ) {
        #expect(abilities(variables).colors == colors)
    }

    @Test func `The first locale variable that is set decides whether Unicode is used`() {
        #expect(abilities(["LANG": "de_DE.UTF-8"]).hasUnicode)
        #expect(abilities(["LANG": "de_DE.utf8", "LC_ALL": ""]).hasUnicode)
        #expect(abilities(["LANG": "de_DE.UTF-8@euro"]).hasUnicode)
        #expect(!abilities(["LANG": "de_DE@euro"]).hasUnicode)
        #expect(!abilities(["LANG": "de_DE.UTF-8", "LC_ALL": "C"]).hasUnicode)
        #expect(!abilities([:]).hasUnicode)
        #expect(abilities(["LOOPUI_REDUCE_MOTION": "1"]).reducesMotion)
        #expect(!abilities(["TERM": "linux"]).hasPointer)
    }

    private func interview(_ answers: String) -> Interview {
        var interview = Interview()
        var decoder = Decoder()
        var events: [RawTerminal.Event] = []
        decoder.decode(Array(answers.utf8).span, into: &events)
        for case .reply(let reply) in events { interview.take(reply) }
        return interview
    }

    @Test func `Answers of the terminal take precedence over the environment`() {
        let guessed = abilities(["TERM": "xterm-256color"])
        let silent = interview("\u{1B}[?62;22c")
        #expect(silent.isOver && silent.improved(guessed) == guessed)
        #expect(!silent.hasSynchronizedUpdates && !silent.hasResizeReports && !silent.hasKeyEnds)
        let rich = interview(
            "\u{1B}[?1006;2$y\u{1B}[?1004;2$y\u{1B}[?2026;2$y\u{1B}[?2048;2$y\u{1B}[?0u\u{1B}P1$r0;48:2::1:2:3m\u{1B}\\\u{1B}[?62c"
        )
        #expect(rich.hasSynchronizedUpdates && rich.hasResizeReports && rich.hasKeyEnds)
        #expect(rich.improved(guessed).colors == .direct && rich.improved(guessed).reportsKeyEnds)
        #expect(rich.improved(abilities(["NO_COLOR": "1"])).colors == .none)
        let poor = interview("\u{1B}[?1006;0$y\u{1B}[?1004;0$y\u{1B}[?2026;4$y\u{1B}[?6c")
        #expect(!poor.improved(guessed).hasPointer && !poor.improved(guessed).reportsFocus)
        #expect(!poor.hasSynchronizedUpdates)
        #expect(!interview("\u{1B}[?2026;2$y").isOver)
    }

    @Test(arguments: [
        ("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[6;20;10t\u{1B}[?62;4c", PictureAbility(.kitty, cell: Size(10, 20))),
        ("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62c", PictureAbility(.kitty, cell: nil)),
        ("\u{1B}[6;16;8t\u{1B}[?64;1;4;9c", PictureAbility(.sixel, cell: Size(8, 16))),
        // Nobody knows how many pixels a cell has.
        ("\u{1B}[?64;1;4;9c", nil),
        // 4 as the kind of the device says nothing of sixels; an error is no yes.
        ("\u{1B}[6;16;8t\u{1B}[?4;6c", nil),
        ("\u{1B}_Gi=31;ENOTSUPPORTED:\u{1B}\\\u{1B}[6;16;8t\u{1B}[?62;22c", nil),
    ]) func `The terminal's answers decide how pictures are shown`(answers: String, ability: PictureAbility?) {
        #expect(interview(answers).pictures(cell: nil) == ability)
        // What the device says counts more.
        let measured = interview(answers + "\u{1B}[?1;4c").pictures(cell: (7, 13))
        #expect(measured?.cell == Size(7, 13))
    }

    @Test func `A program asks about picture support only if it shows pictures and is not on the console`() {
        let plain = Interview.questions(isConsole: false)
        let asked = Interview.questions(isConsole: false, ofPictures: true)
        #expect(!plain.contains("\u{1B}_G") && asked.contains("\u{1B}_Gi=31") && asked.contains("\u{1B}[16t"))
        #expect(
            Interview.questions(isConsole: true, ofPictures: true) == Interview.questions(isConsole: true))
    }

    // MARK: Programs

    @Test func `The first frame does not wait for the terminal's answers`() throws {
        let terminal = try PseudoTerminal("keys", answers: "")
        try terminal.wait(for: "keys 0, last none.")
        #expect(terminal.screen[0, 0].foreground == "36")
        terminal.send("\u{1B}[?2026;2$y\u{1B}P1$r48:2::1:2:3m\u{1B}\\\u{1B}[?62c")
        try terminal.wait("an update that is marked") { $0.screen.everSet.contains(2026) }
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test func `A picture is drawn in half blocks until the terminal answers that it shows pictures`() throws {
        let terminal = try PseudoTerminal("picture", answers: "")
        try terminal.wait(for: "▀▀")
        #expect(terminal.screen[20, 2].text == "▀" && terminal.screen[21, 2].text == "▀")
        terminal.send("\u{1B}[6;16;8t\u{1B}[?64;1;4;9c")
        try terminal.wait("the picture") { $0.screen.titles.contains("sixel 8 by 16, 2 cells") }
        try terminal.wait("blanks") { !$0.screen.text.contains("▀") }
        // Other cells change, and the picture does not.
        terminal.send("a")
        try terminal.wait("another frame") { $0.screen.titles.last == "sixel 8 by 16, 0 cells" }
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test(arguments: ["\u{1B}[6;16;8t\u{1B}[?62;22c", "\u{1B}[?64;4c"])
    func `A terminal without picture support or cell size gets half blocks`(
        answers: String
    ) throws {
        let terminal = try PseudoTerminal("picture", answers: answers)
        try terminal.wait(for: "▀▀")
        terminal.send("a")
        try terminal.wait(for: "keys 1, ")
        #expect(terminal.screen[20, 2].text == "▀" && terminal.screen.titles == ["Board"])
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test func `Pictures stored by kitty are removed when the terminal is restored`() throws {
        let terminal = try PseudoTerminal("picture", answers: "\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62;22c")
        try terminal.wait("the picture") { $0.screen.titles.contains("kitty unknown, 2 cells") }
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(terminal.screen.complaints.count { $0 == "escape 95" } == 2)
    }

    @Test func `A late answer does not reach the shell`() throws {
        let terminal = try PseudoTerminal(commands: "\"$program\" keys; echo code $?; cat", answers: "")
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("q\u{1B}[?62;22c")
        try terminal.wait("the shell") { $0.shell.contains("code 0") }
        terminal.send("\u{4}")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(!terminal.shell.contains("62"))
    }

    @Test func `NO_COLOR turns colours off`() throws {
        let terminal = try PseudoTerminal("keys", environment: ["NO_COLOR=1"])
        try terminal.wait(for: "keys 0, last none.")
        #expect(terminal.screen[0, 0].text == "╭" && terminal.screen[0, 0].foreground == "39")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test func `Without UTF-8 only ASCII characters are used`() throws {
        let terminal = try PseudoTerminal("keys", environment: ["LC_ALL=C"])
        try terminal.wait(for: "keys 0, last none.")
        #expect(terminal.screen[0, 0].text == "+")
        #expect(terminal.screen.text.contains("???? ? *."))
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test func `A dumb terminal keeps its settings and gets only the changed lines`() throws {
        let terminal = try PseudoTerminal("keys", rows: 40, term: "dumb", answers: "")
        try terminal.wait(for: "│ keys 0, last none.")
        #expect(try terminal.now.flags == terminal.before.flags)
        terminal.send("ab\n")
        try terminal.wait(for: "│ keys 3, last enter.")
        #expect(terminal.screen.everSet == [] && terminal.screen.complaints == [])
        // The lines that have not changed are not written again.
        #expect(terminal.screen.history.split(separator: "\n").count { $0.contains("touch none.") } == 1)
        terminal.send("q\n")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test func `A screen reader gets changes as lines, and keys take effect without Enter`() throws {
        let terminal = try PseudoTerminal(
            commands: "set -m; \"$program\" keys; echo stopped; read line; fg; exit $?", rows: 40,
            environment: ["LOOPUI_LINEAR=1"], answers: "")
        try terminal.wait(for: "│ keys 0, last none.")
        #expect(try terminal.now.flags != terminal.before.flags)
        terminal.send("\u{1B}[A")
        try terminal.wait(for: "│ keys 1, last up.")
        #expect(terminal.screen.everSet == [] && terminal.screen.complaints == [])
        terminal.send("\u{1A}")
        try terminal.wait(for: "stopped")
        #expect(try terminal.now.flags == terminal.before.flags)
        terminal.send("\n")
        try terminal.wait("raw keys") { terminal in (try? terminal.now.flags) != terminal.before.flags }
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(try terminal.now.flags == terminal.before.flags)
    }

    @Test(arguments: [
        "printf 'ab\\nq' | \"$program\" keys | cat; echo end.", "\"$program\" keys < /dev/null | cat; echo end.",
    ])
    func `A program without a terminal reads and writes lines`(commands: String) throws {
        let terminal = try PseudoTerminal(commands: commands, columns: 100, rows: 60, answers: "")
        try terminal.wait(for: "end.")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(terminal.screen.text.contains("keys "))
        #expect(terminal.screen.everSet == [] && terminal.screen.complaints == [])
    }

    @Test func `Keys are read from the terminal even if standard input is a file`() throws {
        let terminal = try PseudoTerminal(commands: "exec \"$program\" keys < /dev/null")
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test func `The flags of the shell's descriptors do not change`() throws {
        let terminal = try PseudoTerminal("keys")
        try terminal.wait(for: "keys 0, last none.")
        let file = try #require(fopen("/proc/\(terminal.process)/fdinfo/0", "r"))
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        var flags: Int?
        while fgets(&line, 256, file) != nil {
            let text = String(
                decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix("flags:") { flags = Int(text.drop { !$0.isNumber }, radix: 8) }
        }
        #expect(try #require(flags) & Int(O_NONBLOCK) == 0)
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }
}
