// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

@testable import RunLoopsTerminal

extension Decoder {
    /// Everything that comes of bytes, cut into parts of a length.
    static func decode(_ bytes: [UInt8], parts: Int = .max, waits: Bool = false) -> [Event] {
        var decoder = Decoder()
        var output: [Event] = []
        var start = 0
        while start < bytes.count {
            let end = bytes.count - start <= parts ? bytes.count : start + parts
            decoder.decode(Array(bytes[start..<end]).span, into: &output)
            start = end
        }
        if waits { decoder.timeHasPassed(into: &output) }
        return output
    }

    static func keys(_ text: String, waits: Bool = false) -> [String] {
        decode(Array(text.utf8), waits: waits).map { one in
            guard case .key(let key) = one else { return "\(one)" }
            let names: [(Modifiers, String)] = [
                (.control, "control-"), (.alt, "alt-"), (.shift, "shift-"), (.command, "command-"),
            ]
            let modifiers = names.map { key.modifiers.contains($0.0) ? $0.1 : "" }.joined()
            let phase = key.phase == .began ? "" : " \(key.phase)"
            if case .character(let character) = key.key { return "\(modifiers)\(character)\(phase)" }
            return "\(modifiers)\(key.key)\(phase)"
        }
    }
}

@Suite(.ownThread) struct DecoderTests {
    @Test(arguments: [
        ("aé日😀", ["a", "é", "日", "😀"]),
        ("\r\t\u{7F}\u{8}", ["enter", "tab", "backspace", "backspace"]),
        ("\u{3}\u{1A}\u{0}\u{1F}", ["control-c", "control-z", "control- ", "control-_"]),
        // xterm, VT220
        ("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D\u{1B}[H\u{1B}[F", ["up", "down", "right", "left", "home", "end"]),
        ("\u{1B}OA\u{1B}OP\u{1B}OS\u{1B}[1;5P", ["up", "function(1)", "function(4)", "control-function(1)"]),
        (
            "\u{1B}[1;5C\u{1B}[1;2A\u{1B}[1;3D\u{1B}[1;8H",
            ["control-right", "shift-up", "alt-left", "control-alt-shift-home"]
        ),
        ("\u{1B}[2~\u{1B}[3~\u{1B}[5~\u{1B}[6;5~", ["insert", "delete", "pageUp", "control-pageDown"]),
        ("\u{1B}[15~\u{1B}[17~\u{1B}[24~\u{1B}[25~", ["function(5)", "function(6)", "function(12)", "function(13)"]),
        ("\u{1B}[Z\u{1B}x\u{1B}é\u{1B}\u{7F}\u{1B}\r", ["shift-tab", "alt-x", "alt-é", "alt-backspace", "alt-enter"]),
        ("\u{1B}[27;5;9~\u{1B}[27;6;65~", ["control-tab", "control-shift-A"]),
        // rxvt
        (
            "\u{1B}[a\u{1B}Oa\u{1B}[7$\u{1B}[8^\u{1B}[3@",
            ["shift-up", "control-up", "shift-home", "control-end", "control-shift-delete"]
        ),
        ("\u{1B}\u{1B}[A", ["alt-up"]),
        // the Linux console, and keypads
        ("\u{1B}[[A\u{1B}[[E\u{1B}Oj\u{1B}OM", ["function(1)", "function(5)", "*", "enter"]),
        // kitty
        ("\u{1B}[97u\u{1B}[97;5u\u{1B}[97;1:3u", ["a", "control-a", "a ended"]),
        ("\u{1B}[97;2;65u\u{1B}[97:65;2:2;65u", ["A", "A repeated"]),
        ("\u{1B}[13;2u\u{1B}[27u\u{1B}[127;3:3u", ["shift-enter", "escape", "alt-backspace ended"]),
        ("\u{1B}[57399u\u{1B}[57376u\u{1B}[57361;2u", ["0", "function(13)", "shift-other(57361)"]),
        ("\u{1B}[57441;2u\u{1B}[57441;1:3u\u{1B}[1089::99;5u\u{1B}[1089::99;;1089u", ["control-c", "с"]),
        ("\u{1B}[1;1:3A\u{1B}[3;5:2~", ["up ended", "control-delete repeated"]),
        ("\u{1B}[0;;229u", ["å"]), ("\u{1B}[0u", []),
        ("\u{1B}[97;65u", ["a"]),
    ]) func `Each key sequence is decoded as its key`(bytes: String, keys: [String]) {
        #expect(Decoder.keys(bytes) == keys)
    }

    @Test(arguments: [
        ("\u{1B}", "escape"), ("\u{1B}\u{1B}", "alt-escape"), ("\u{1B}[", "alt-["), ("\u{1B}O", "alt-O"),
        ("\u{1B}]", "alt-]"), ("\u{1B}P", "alt-P"),
    ]) func `An incomplete key sequence becomes a key after the wait`(bytes: String, key: String) {
        #expect(Decoder.keys(bytes) == [])
        #expect(Decoder.keys(bytes, waits: true) == [key])
        // A sequence that has gone further is no key.
        #expect(Decoder.keys("\u{1B}[1", waits: true) == [])
    }

    @Test(arguments: [
        ("<0;3;4M", Event.mouse(Mouse(.pressed, column: 2, row: 3))),
        ("<32;3;4M", .mouse(Mouse(.moved, column: 2, row: 3))),
        ("<2;1;1m", .mouse(Mouse(.released, button: 2, column: 0, row: 0))),
        ("<28;3;4M", .mouse(Mouse(.pressed, column: 2, row: 3, modifiers: [.shift, .alt, .control]))),
        ("<128;1;1M", .mouse(Mouse(.pressed, button: 7, column: 0, row: 0))),
        ("<64;3;4M", .mouse(Mouse(.wheel(columns: 0, rows: -1), column: 2, row: 3))),
        ("<65;3;4M", .mouse(Mouse(.wheel(columns: 0, rows: 1), column: 2, row: 3))),
        ("<67;3;4M", .mouse(Mouse(.wheel(columns: 1, rows: 0), column: 2, row: 3))),
        ("I", .focus(true)), ("O", .focus(false)),
        ("48;30;100;600;800t", .resized(Size(columns: 100, rows: 30))),
    ]) func `Mouse, focus and size reports are decoded as events`(sequence: String, event: Event) {
        #expect(Decoder.decode(Array("\u{1B}[\(sequence)".utf8)) == [event])
    }

    @Test func `A release in a three-byte mouse report is assigned to the pressed button`() {
        let bytes: [UInt8] = [0x1B, 0x5B, 0x4D, 34, 35, 36, 0x1B, 0x5B, 0x4D, 66, 36, 36, 0x1B, 0x5B, 0x4D, 35, 36, 36]
        let actions: [(Mouse.Action, Int)] = [(.pressed, 2), (.moved, 3), (.released, 3)]
        #expect(
            Decoder.decode(bytes) == actions.map { .mouse(Mouse($0.0, button: 2, column: $0.1, row: 3)) })
    }

    @Test(arguments: [
        ("\u{1B}[?62;4;22c", Reply.deviceAttributes([62, 4, 22])), ("\u{1B}[?2026;2$y", .mode(2026, state: 2)),
        ("\u{1B}[?5u", .keyboardFlags(5)), ("\u{1B}[?3;7R", .cursor(column: 6, row: 2)),
        ("\u{1B}[3;7R", .cursor(column: 6, row: 2)),
        ("\u{1B}P1$r48:2::1:2:3m\u{1B}\\", .setting("48:2::1:2:3m")),
        ("\u{1B}[6;20;10t", .cellSize(width: 10, height: 20)), ("\u{1B}_Gi=31;OK\u{1B}\\", .graphics("i=31;OK")),
        ("\u{1B}]11;rgb:1c1c/ffff/0000\u{1B}\\", .color(.background, red: 0x1C, green: 0xFF, blue: 0)),
        ("\u{1B}]4;1;rgb:f/00/abc\u{7}", .color(.palette(1), red: 255, green: 0, blue: 171)),
        ("\u{1B}]10;rgba:11/22/33/44\u{7}", .color(.foreground, red: 0x11, green: 0x22, blue: 0x33)),
    ]) func `Replies of the terminal are not decoded as keys`(bytes: String, reply: Reply) {
        #expect(Decoder.decode(Array(bytes.utf8)) == [.reply(reply)])
    }

    @Test func `Unrequested control strings are skipped`() {
        #expect(
            Decoder.keys("\u{1B}]52;c;aGVsbG8=\u{7}a\u{1B}_i=1;OK\u{1B}\\b\u{1B}P0$r\u{1B}\\c\u{1B}^x\u{1B}\\d") == [
                "a", "b", "c", "d",
            ])
        // A return ends what looked like a string, so that a key is not lost for long.
        #expect(Decoder.keys("\u{1B}]ls\rx") == ["enter", "x"])
        let long = String(repeating: "z", count: 3 * Decoder.longest)
        #expect(Decoder.keys("\u{1B}]11;\(long)\u{7}e") == ["e"])
    }

    @Test(
        arguments: [
            ([0xFF], 1), ([0xC3], 0), ([0xC3, 0x41], 2), ([0xE2, 0x82, 0x41], 2), ([0xC0, 0xAF], 2),
            ([0xED, 0xA0, 0x80], 3), ([0xF4, 0x90, 0x80, 0x80], 4), ([0xF0, 0x9F, 0x98, 0x80], 1),
        ] as [([UInt8], Int)]) func `Invalid UTF-8 is replaced as Unicode recommends`(bytes: [UInt8], count: Int)
    {
        let scalars = Decoder.decode(bytes).compactMap { one -> Character? in
            guard case .key(let key) = one, case .character(let character) = key.key else { return nil }
            return character
        }
        #expect(scalars.count == count)
        if count > 0 { #expect(String(scalars) == String(decoding: bytes, as: UTF8.self)) }
    }

    // MARK: Paste

    private func paste(_ bytes: [UInt8], parts: Int = .max) -> [(String, Bool)] {
        Decoder.decode(bytes, parts: parts).compactMap { one in
            guard case .paste(let text, let isLast) = one else { return nil }
            return (text, isLast)
        }
    }

    @Test func `Escape sequences in a pasted text are delivered as text`() {
        let text = "a\u{1B}[A\u{1B}[20\u{1B}[201\u{3}\u{1B}]0;x\u{7}\u{1B}[<0;1;1Mé"
        let bytes = Array("\u{1B}[200~\(text)\u{1B}[201~b".utf8)
        for parts in [1, 2, 5, 1000] {
            let output = Decoder.decode(bytes, parts: parts)
            #expect(
                output == [.paste(text, isLast: true), .key(KeyPress(.character("b")))])
        }
    }

    @Test func `Lines of a pasted text end with a line feed`() {
        #expect(paste(Array("\u{1B}[200~a\rb\r\nc\nd\r\r\u{1B}[201~".utf8)).map(\.0) == ["a\nb\nc\nd\n\n"])
    }

    @Test func `A long pasted text is delivered in parts of whole characters`() {
        let text = String(repeating: "aé日😀", count: 40_000)
        let bytes = Array("\u{1B}[200~\(text)\u{1B}[201~".utf8)
        let whole = paste(bytes)
        #expect(whole.map(\.0).joined() == text)
        #expect(whole.map(\.1) == Array(repeating: false, count: whole.count - 1) + [true])
        #expect(whole.allSatisfy { $0.0.utf8.count <= Decoder.longest && !$0.0.contains("\u{FFFD}") })
        #expect(whole.count == text.utf8.count / Decoder.longest + 1)
        let cut = paste(bytes, parts: 4093)
        #expect(cut.map(\.0) == whole.map(\.0))
    }

    // MARK: Anything

    private static let seeds = [
        "hello é日😀", "\u{1B}[1;5A", "\u{1B}[<32;10;20M", "\u{1B}[200~pasted\r\n\u{1B}[201~", "\u{1B}[97:65;2:3;65u",
        "\u{1B}]11;rgb:ffff/0000/0000\u{1B}\\", "\u{1B}P1$r48:2m\u{1B}\\", "\u{1B}[?2026;2$y", "\u{1B}OA", "\u{1B}[[A",
        "\u{1B}[M !!", "\u{1B}\u{1B}", "\u{1B}[1;2;3;4;5;6;7;8;9;1;2;3;4;5;6;7;8;9;1;2;3;4;5;6;7;8;9;1;2;3;4;5;6;7m",
        "\u{1B}[99999999999999999999~", "\u{1B}[48;24;80;0;0t",
    ].map { Array($0.utf8) }

    /// A million with `RUNLOOPS_FUZZ=1000000`.
    private static let rounds = fuzzedInputs(orElse: 5_000)

    @Test func `Random bytes are decoded the same wherever they are split`() {
        var random = SeededRandom(14)
        for round in 0..<Self.rounds {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                if Bool.random(using: &random) {
                    bytes += Self.seeds.randomElement(using: &random)!
                } else {
                    bytes += (0..<Int.random(in: 0...8, using: &random)).map { _ in
                        Bool.random(using: &random)
                            ? UInt8.random(in: 0...255, using: &random)
                            : [0x1B, 0x5B, 0x3B, 0x4F, 0x5D, 0x07, 0x5C, 0x7E, 0x30].randomElement(using: &random)!
                    }
                }
            }
            for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
                bytes[bytes.indices.randomElement(using: &random)!] = UInt8.random(in: 0...255, using: &random)
                if bytes.count > 1, Bool.random(using: &random) {
                    bytes.remove(at: bytes.indices.randomElement(using: &random)!)
                }
            }
            let whole = Decoder.decode(bytes)
            let parts = Int.random(in: 1...7, using: &random)
            if Decoder.decode(bytes, parts: parts) != whole {
                Issue.record("round \(round): \(bytes) differs in parts of \(parts)")
                return
            }
        }
    }

    @Test func `The memory of the decoder is limited`() {
        var decoder = Decoder()
        var output: [Event] = []
        var most = 0
        for beginning in ["\u{1B}]11;", "\u{1B}P", "\u{1B}[200~", "\u{1B}["] {
            decoder.decode(Array(beginning.utf8).span, into: &output)
            let chunk = [UInt8](repeating: beginning == "\u{1B}[" ? 0x3B : 0x61, count: 10_000)
            for _ in 0..<100 {
                decoder.decode(chunk.span, into: &output)
                most = max(most, decoder.keptBytes)
                output = []
            }
            decoder = Decoder()
        }
        #expect(most <= Decoder.longest)
    }

    /// Prints its rate with `RUNLOOPS_FULL=1`, in an optimised build the figure of the documentation.
    @Test(.enabled(if: isFull)) func `Each drag report and each character in megabytes of input is decoded once`() {
        let drags = (0..<100_000).map { "\u{1B}[<32;\($0 % 200 + 1);\($0 % 60 + 1)M" }.joined()
        let text = String(repeating: "The quick brown fox jumps over the lazy dog. ", count: 30_000)
        for (name, bytes, inputs) in [("drags", Array(drags.utf8), 100_000), ("text", Array(text.utf8), text.count)] {
            var best = Duration.seconds(100)
            var count = 0
            for _ in 0..<30 {
                var decoder = Decoder()
                var output: [Event] = []
                count = 0
                best = min(
                    best,
                    processorTime {
                        var start = 0
                        while start < bytes.count {
                            let end = min(bytes.count, start + 4096)
                            decoder.decode(bytes.span.extracting(start..<end), into: &output)
                            count += output.count
                            output.removeAll(keepingCapacity: true)
                            start = end
                        }
                    })
            }
            let rate = Double(bytes.count) / (Double(best.components.attoseconds) / 1e18) / 1e6
            #expect(count == inputs)
            print("decoder, \(name): \(Int(rate)) MB/s, \(count) inputs")
        }
    }
}
