// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import LoopUI

/// What a field should hold, the slow and simple way: scalars in one array, characters counted anew each time.
private struct Model {
    var scalars: [Unicode.Scalar] = []
    var caret = 0
    var anchor = 0
    let most: Int

    func text(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        String(String.UnicodeScalarView(scalars))
    }

    /// The numbers of scalars before each character, and before the end.
    func starts(_ scalars: [Unicode.Scalar]) -> [Int] {
        text(scalars).reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.unicodeScalars.count) }
    }

    mutating func replace(_ range: Range<Int>, with new: String) {
        let starts = starts(scalars)
        let (low, high) = (starts[range.lowerBound], starts[range.upperBound])
        let isFull = starts.count - 1 - range.count >= most
        var inserted = isFull ? [] : Array(new.unicodeScalars)
        while true {
            let whole = Array(scalars[..<low]) + inserted + Array(scalars[high...])
            let all = self.starts(whole)
            if all.count - 1 <= most || inserted.isEmpty {
                scalars = text(whole).flatMap { $0.unicodeScalars.count > 32 ? ["\u{FFFD}"] : Array($0.unicodeScalars) }
                caret = all.firstIndex { $0 >= low + inserted.count } ?? 0
                anchor = caret
                return
            }
            let excess = all.count - 1 - most
            var kept = Array(text(inserted))
            kept.removeLast(min(excess, kept.count))
            inserted = Array(String(kept).unicodeScalars)
        }
    }
}

@Suite(.ownThread) struct TextBufferTests {
    private static let pieces = [
        "a", "Z", " ", "e", "\u{301}", "é", "日", "本語", "👨", "\u{200D}", "👩‍👧", "🇩", "🇪", "🇫🇷", "ก", "็", "각", "\u{1100}",
        "\u{1161}", "\u{11A8}", "\u{FE0F}", "❤️", "👍🏽", "🏽", "नि", "्", "क", "abc def", "\u{308}x",
    ]

    @Test(arguments: 0..<20) func `A text buffer agrees with a simple model after random edits`(seed: UInt64) {
        var random = SeededRandom(seed)
        var buffer = TextBuffer()
        let most = seed % 2 == 0 ? 65_536 : 12
        buffer.maximumLength = most
        var model = Model(most: most)
        for step in 0..<2_000 {
            let count = buffer.characters.count
            switch Int.random(in: 0..<10, using: &random) {
            case 0...4:
                // A limit on the simple model's work.
                let new = count > 60 ? "" : Self.pieces.randomElement(using: &random) ?? ""
                let range = buffer.selection
                buffer.insert(new)
                if !(range.isEmpty && new.isEmpty) { model.replace(range, with: new) }
            case 5, 6:
                let start = Int.random(in: 0...count, using: &random)
                let range = start..<Int.random(in: start...min(count, start + 3), using: &random)
                let (caret, anchor) = (model.caret, model.anchor)
                buffer.remove(range)
                if range.isEmpty {
                    (model.caret, model.anchor) = (caret, anchor)
                } else {
                    model.replace(range, with: "")
                }
            case 7:
                let (place, selecting) = (Int.random(in: -1...count + 1, using: &random), Bool.random(using: &random))
                buffer.move(to: place, selecting: selecting)
                model.caret = min(max(0, place), count)
                if !selecting { model.anchor = model.caret }
            case 8:
                buffer.selectWord(at: Int.random(in: 0...count, using: &random))
                (model.anchor, model.caret) = (buffer.anchor, buffer.caret)
            default:
                buffer.move(to: Bool.random(using: &random) ? buffer.wordStart : buffer.wordEnd)
                (model.anchor, model.caret) = (buffer.anchor, buffer.caret)
            }
            let expected = model.text(model.scalars)
            guard Array(buffer.text.unicodeScalars) == model.scalars, buffer.characters == Array(expected),
                buffer.caret == model.caret, buffer.anchor == model.anchor, buffer.characters.count <= most
            else {
                Issue.record("step \(step): \(buffer.text.debugDescription) is not \(expected.debugDescription)")
                return
            }
        }
    }

    @Test func `Characters match the text after half a flag is inserted before flags`() {
        let flags = String(repeating: "🇩🇪🇫🇷", count: 50)
        var buffer = TextBuffer("a" + flags + "b")
        buffer.move(to: 1)
        buffer.insert("🇮")
        #expect(buffer.characters == Array("a🇮" + flags + "b"))
        #expect(buffer.characters.count == 103 && buffer.caret == 2)
        buffer.move(to: 1)
        buffer.insert("x")
        buffer.remove(2..<3)
        buffer.insert("\u{308}")
        #expect(buffer.text.hasPrefix("ax\u{308}"))
        #expect(buffer.characters == Array(buffer.text))
    }

    @Test func `Line breaks become spaces and control characters are removed`() {
        var buffer = TextBuffer()
        buffer.insert("a\r\nb\nc\td\u{2028}e\u{1B}[2J\u{0}\u{9B}f")
        #expect(buffer.text == "a b c d e[2Jf")
    }

    @Test func `A character of a million scalars is replaced by the replacement character`() {
        var buffer = TextBuffer()
        buffer.insert("é" + String(repeating: "\u{301}", count: 30))
        #expect(buffer.text.unicodeScalars.count == 31)
        buffer.insert(String(repeating: "\u{301}", count: 1_000_000))
        #expect(buffer.characters == ["\u{FFFD}"])
        for _ in 0..<1_000 { buffer.insert("\u{301}") }
        #expect(buffer.characters.count == 1 && buffer.text.unicodeScalars.count <= 32)
    }

    @Test func `Setting a smaller maximumLength cuts the text`() {
        var buffer = TextBuffer("hello")
        buffer.maximumLength = 3
        #expect(buffer.text == "hel")
        #expect(buffer.caret == 3)
        buffer.maximumLength = 0
        buffer.insert("x")
        #expect(buffer.text == "")
    }

    @MainActor @Test func `A paste of ten megabytes in parts is cut at the field's limit and is one undo step`() throws
    {
        try TestApplication.with(size: Size(30, 1)) { app in
            let field = TextField().at(0, 0, 30)
            app.show(all: field)
            field.becomeFirstResponder()
            let part = String(repeating: "0123456789日é\n", count: 256)
            let parts = 10_000_000 / part.utf8.count
            for number in 0..<parts {
                app.display.push(.paste(part, isLast: number == parts - 1))
                app.application.run(until: app.manual.now)
            }
            app.settle()
            #expect(field.text.count == 65_536)
            #expect(field.text.hasPrefix("0123456789日é 0123"))
            #expect(app.cursor == Point(29, 0))
            // One paste is one step back.
            field.perform(.undo, from: nil)
            #expect(field.text == "")
        }
    }

    @Test func `Undo keeps few states of long texts, and many of short ones`() {
        func states(length: Int) -> Int {
            var buffer = TextBuffer(String(repeating: "x", count: length))
            var undo = UndoStack()
            for _ in 0..<1_000 {
                undo.didChange(from: buffer, .other)
                buffer.insert("y")
                buffer.remove(buffer.caret - 1..<buffer.caret)
            }
            var count = 0
            while undo.undo(&buffer) { count += 1 }
            return count
        }
        #expect(states(length: 10) == UndoStack.capacity)
        #expect(states(length: 60_000) == 4)
    }
}
