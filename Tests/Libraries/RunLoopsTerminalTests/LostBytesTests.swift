// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

@testable import RunLoopsTerminal

/// Bytes of which a part is late or lost.
@Suite struct LostBytesTests {
    /// What comes of the bytes after those of which the rest is lost.
    private func after(_ lost: String, _ bytes: String) -> [Event] {
        var decoder = Decoder()
        var output: [Event] = []
        decoder.decode(Array(lost.utf8).span, into: &output)
        #expect(decoder.isOpen != decoder.isWaiting)
        decoder.timeHasPassed(into: &output)
        decoder.endIsLost(into: &output)
        #expect(!decoder.isOpen && !decoder.isWaiting && decoder.keptBytes == 0)
        decoder.decode(Array(bytes.utf8).span, into: &output)
        return output
    }

    private let key = Event.key(KeyPress(.character("q")))

    @Test(arguments: ["abc", "", "a\u{1B}[201", "é\u{1B}"])
    func `A pasted text whose end is lost is delivered as far as it was received`(text: String) {
        #expect(after("\u{1B}[200~\(text)", "q") == [.paste(text, isLast: true), key])
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
        var output: [Event] = []
        decoder.decode([0xE2, 0x82].span, into: &output)
        #expect(decoder.isOpen)
        decoder.endIsLost(into: &output)
        #expect(output == [.key(KeyPress(.character("\u{FFFD}")))])
    }

    @Test func `Escape pressed in an unterminated string is decoded as a key`() {
        #expect(after("\u{1B}]11;\u{1B}", "q") == [.key(KeyPress(.escape)), key])
    }

    /// What comes of bytes of which the first ones were counted as a key.
    private func late(_ beginning: String, _ rest: String, isInTime: Bool = true) -> [Event] {
        var decoder = Decoder()
        var output: [Event] = []
        decoder.decode(Array(beginning.utf8).span, into: &output)
        decoder.timeHasPassed(into: &output)
        output = []
        let bytes = Array(rest.utf8)
        decoder.resumeLate(bytes, isInTime: isInTime)
        decoder.decode(bytes.span, into: &output)
        return output
    }

    @Test(arguments: [
        ("\u{1B}", "[?62;22c", Event.reply(.deviceAttributes([62, 22]))),
        ("\u{1B}[", "?62;22c", .reply(.deviceAttributes([62, 22]))),
        ("\u{1B}", "]11;rgb:ffff/0000/0000\u{1B}\\", .reply(.color(.background, red: 255, green: 0, blue: 0))),
        ("\u{1B}]", "11;rgb:ffff/0000/0000\u{7}", .reply(.color(.background, red: 255, green: 0, blue: 0))),
        ("\u{1B}", "P1$r0m\u{1B}\\", .reply(.setting("0m"))),
        ("\u{1B}", "[<0;3;4M", .mouse(Mouse(.pressed, column: 2, row: 3))),
        ("\u{1B}", "[1;5A", .key(KeyPress(.up, modifiers: .control))),
    ]) func `The rest of a sequence whose Escape was already taken as a key is not decoded as text`(
        beginning: String, rest: String, whole: Event
    ) {
        #expect(late(beginning, rest) == [whole])
        #expect(late(beginning, rest + "q") == [whole, key])
        #expect(late(beginning, rest, isInTime: false).count > 1)
    }

    @Test(arguments: ["[a", "[", "]x", "[A", "[1", "P", "Oq", "x[1;5A"])
    func `Characters typed after Escape are decoded as keys`(text: String) {
        let keys = text.map { Event.key(KeyPress(.character($0))) }
        #expect(late("\u{1B}", text).prefix(2) == keys.prefix(2))
    }

    @Test(
        arguments: [
            (nil, 25), ("500", 500), ("0", 0), ("", 25), ("-1", 25), ("1x", 25), ("4000000000", 30_000),
        ] as [(String?, Int)]) func `The variable ESCDELAY sets the escape delay in milliseconds`(
            value: String?, delay: Int
        )
    {
        let timing = InputTiming(escapeDelay: value)
        #expect(timing.escapeDelay == .milliseconds(delay))
    }

    @Test func `Input timeouts are clamped to their range`() {
        var timing = InputTiming(escapeDelay: .seconds(Int64.min), answerTimeout: .seconds(Int64.max))
        #expect(timing.escapeDelay == .zero && timing.answerTimeout == InputTiming.longest)
        timing.sequenceTimeout = .seconds(31)
        #expect(timing.sequenceTimeout == InputTiming.longest)
    }
}
