// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import LoopUI
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

@testable import LoopUITerminal

/// Input of which a part is late or lost.
@Suite(.ownThread, .serialized) struct LostInputTests {
    /// What comes of the bytes after those of which the rest is lost.
    private func after(_ lost: String, _ bytes: String) -> [Decoded] {
        var decoder = Decoder()
        var output: [Decoded] = []
        decoder.decode(Array(lost.utf8).span, into: &output)
        #expect(decoder.isOpen != decoder.isWaiting)
        decoder.timeHasPassed(into: &output)
        decoder.endIsLost(into: &output)
        #expect(!decoder.isOpen && !decoder.isWaiting && decoder.keptBytes == 0)
        decoder.decode(Array(bytes.utf8).span, into: &output)
        return output
    }

    private let key = Decoded.input(.key(KeyInput(.character("q"))))

    @Test(arguments: ["abc", "", "a\u{1B}[201", "é\u{1B}"])
    func `A pasted text whose end is lost is delivered as far as it was received`(text: String) {
        #expect(after("\u{1B}[200~\(text)", "q") == [.input(.paste(text, isLast: true)), key])
    }

    @Test(arguments: [
        "\u{1B}]11;rgb:1c1c", "\u{1B}P1$r", "\u{1B}_Gi=31", "\u{1B}^x", "\u{1B}[1;", "\u{1B}[?62", "\u{1B}[M!",
        "\u{1B}[[",
        "\u{1B}O5",
    ]) func `A sequence or string whose end is lost is dropped`(lost: String) {
        #expect(after(lost, "q") == [key])
    }

    @Test func `An incomplete scalar whose rest is lost is decoded as the replacement character`() {
        var decoder = Decoder()
        var output: [Decoded] = []
        decoder.decode([0xE2, 0x82].span, into: &output)
        #expect(decoder.isOpen)
        decoder.endIsLost(into: &output)
        #expect(output == [.input(.key(KeyInput(.character("\u{FFFD}"))))])
    }

    @Test func `Escape pressed in an unterminated string is decoded as a key`() {
        #expect(after("\u{1B}]11;\u{1B}", "q") == [.input(.key(KeyInput(.escape))), key])
    }

    /// What comes of bytes of which the first ones were counted as a key.
    private func late(_ beginning: String, _ rest: String, isInTime: Bool = true) -> [Decoded] {
        var decoder = Decoder()
        var output: [Decoded] = []
        decoder.decode(Array(beginning.utf8).span, into: &output)
        decoder.timeHasPassed(into: &output)
        output = []
        let bytes = Array(rest.utf8)
        decoder.resumeLate(bytes, isInTime: isInTime)
        decoder.decode(bytes.span, into: &output)
        return output
    }

    @Test(arguments: [
        ("\u{1B}", "[?62;22c", Decoded.reply(.deviceAttributes([62, 22]))),
        ("\u{1B}[", "?62;22c", .reply(.deviceAttributes([62, 22]))),
        ("\u{1B}", "]11;rgb:ffff/0000/0000\u{1B}\\", .reply(.color(.background, .rgb(255, 0, 0)))),
        ("\u{1B}]", "11;rgb:ffff/0000/0000\u{7}", .reply(.color(.background, .rgb(255, 0, 0)))),
        ("\u{1B}", "P1$r0m\u{1B}\\", .reply(.setting("0m"))),
        ("\u{1B}", "[<0;3;4M", .input(.pointer(PointerInput(.began, at: Point(2, 3))))),
        ("\u{1B}", "[1;5A", .input(.key(KeyInput(.up, modifiers: .control)))),
    ]) func `The rest of a sequence whose Escape was already taken as a key is not decoded as text`(
        beginning: String, rest: String, whole: Decoded
    ) {
        #expect(late(beginning, rest) == [whole])
        #expect(late(beginning, rest + "q") == [whole, key])
        #expect(late(beginning, rest, isInTime: false).count > 1)
    }

    @Test(arguments: ["[a", "[", "]x", "[A", "[1", "P", "Oq", "x[1;5A"])
    func `Characters typed after Escape are decoded as keys`(text: String) {
        let keys = text.map { Decoded.input(.key(KeyInput(.character($0)))) }
        #expect(late("\u{1B}", text).prefix(2) == keys.prefix(2))
    }

    @Test(
        arguments: [
            (nil, 25), ("500", 500), ("0", 0), ("", 25), ("-1", 25), ("1x", 25), ("4000000000", 30_000),
        ] as [(String?, Int)]) func `The variable ESCDELAY sets the escape delay in milliseconds`(
            value: String?, delay: Int
        )
    {
        let timing = Environment { $0 == "ESCDELAY" ? value : nil }.timing
        #expect(timing.escapeDelay == .milliseconds(delay))
    }

    @Test func `Input timeouts are clamped to their range`() {
        var timing = InputTiming(escapeDelay: .seconds(Int64.min), answerTimeout: .seconds(Int64.max))
        #expect(timing.escapeDelay == .zero && timing.answerTimeout == InputTiming.longest)
        timing.sequenceTimeout = .seconds(31)
        #expect(timing.sequenceTimeout == InputTiming.longest)
    }

    // MARK: Programs

    /// Sends a key again and again, with pauses as a user makes them, until the program has ended.
    private func press(_ key: String, on terminal: PseudoTerminal) -> PseudoTerminal.End? {
        let limit = ContinuousClock.now + plenty
        while ContinuousClock.now < limit, terminal.isRunning {
            terminal.send(key)
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
        #expect(press(key, on: terminal) == .status(0))
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
