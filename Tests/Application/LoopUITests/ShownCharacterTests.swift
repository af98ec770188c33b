// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LoopUI

/// Which part of a text a display gets, whichever text it is.
@Suite struct ShownCharacterTests {
    private func row(_ text: String, width: Int = 40) -> CellGrid {
        var canvas = Canvas(size: Size(Double(width), 1))
        canvas.write(text, at: .zero)
        return canvas.grid
    }

    private func scalars(of text: String) -> [UInt32] { text.unicodeScalars.map(\.value) }

    @Test func `Tab stops are eight columns apart, counted from the beginning of the text`() {
        #expect(row("a\tb\tc").text(row: 0) == "a       b       c")
        #expect(row("\tx").text(row: 0) == "        x")
        #expect("a\tb".cellWidth == 9 && "日本語\tb".cellWidth == 9 && "12345678\tb".cellWidth == 17)
        #expect(row("12345\t678", width: 7).text(row: 0) == "12345")
        var canvas = Canvas(size: Size(20, 1))
        #expect(canvas.write("a\tb", at: Point(3, 0)) == 9)
        #expect(canvas.write("a\tb", at: Point(-3, 0)) == 9)
        #expect(canvas.grid.text(row: 0) == "     b     b")
    }

    @Test(arguments: [
        "\u{200B}", "\u{200E}", "\u{200F}", "\u{202A}", "\u{202E}", "\u{2066}", "\u{2069}", "\u{061C}", "\u{FEFF}",
        "\u{2060}", "\u{AD}", "\u{180E}", "\u{FFF9}", "\u{FFFB}", "\u{E0001}", "\u{E0041}", "\u{200D}",
        "\u{206A}", "\u{1D173}",
    ]) func `An invisible character takes no cell and is not sent to the display`(invisible: Character) {
        let text = "a\(invisible)b"
        #expect(invisible.cellWidth == 0)
        #expect(text.cellWidth == 2)
        #expect(scalars(of: row(text).text(row: 0)) == [0x61, 0x62])
        #expect(scalars(of: text.shown()) == [0x61, 0x62])
        #expect(Glyph(invisible) == .space)
    }

    @Test(arguments: [0x1B, 0x7, 0x9B, 0x7F, 0xFFFE, 0xFDD0, 0x1FFFF] as [UInt32])
    func `A control character is shown as the replacement character and left out of titles`(value: UInt32) throws {
        let control = Character(try #require(Unicode.Scalar(value)))
        #expect(row("a\(control)b").text(row: 0) == "a\u{FFFD}b")
        #expect("a\(control)b".shown() == "ab")
    }

    @Test func `Line breaks and tabs in a title become spaces`() {
        #expect("a\tb\nc\r\nd\u{2028}e".shown() == "a b c d e")
        #expect(String(repeating: "x", count: 1000).shown(limit: 10) == "xxxxxxxxxx")
    }

    @Test(arguments: [
        "é", "e\u{301}", "👩‍👩‍👧", "👩🏽‍❤️‍💋‍👨🏽", "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", "🇩🇪", "1\u{FE0F}\u{20E3}",
        "한", "\u{1112}\u{1161}\u{11AB}", "نی\u{200C}ز", "क्षि", "น้ำ", "\u{845B}\u{E0100}", "日",
    ]) func `Texts in natural languages are shown unchanged`(text: String) {
        #expect(scalars(of: row(text).text(row: 0)) == scalars(of: text))
    }

    @Test(arguments: ["a", "日", "👍"])
    func `A cell keeps a limited number of the scalars of a character with many marks`(letter: String) throws {
        let text = letter + String(repeating: "\u{301}", count: 50_000) + "b"
        #expect(text.count == 2)
        let shown = row(text).text(row: 0)
        #expect(shown.unicodeScalars.count == Character.maxShownScalars + 1)
        #expect(shown.last == "b" && shown.unicodeScalars.first == letter.unicodeScalars.first)
        #expect(text.cellWidth == letter.cellWidth + 1)
        #expect(text.shown().unicodeScalars.count == Character.maxShownScalars + 1)
        // Marks that take a cell each.
        let wide = "क" + String(repeating: "\u{93E}", count: 50_000)
        #expect(wide.count == 1 && wide.cellWidth == Character.maxShownScalars)
    }

    @Test func `A joiner at the end of a character does not join the next cell`() {
        let grid = row("👩\u{200D}!")
        #expect(scalars(of: grid.text(row: 0)) == [0x1F469, 0x21])
        #expect(Character("\u{FE0F}").cellWidth == 0 && Character("\u{200D}").cellWidth == 0)
        // Tags that belong to no flag are a text that is not seen.
        #expect(scalars(of: row("x\u{E0041}\u{E0042}").text(row: 0)) == [0x78])
    }

    @Test(arguments: [
        ("น้ำ", 2), ("ทำ", 2), ("น้", 1), ("ຳ", 1), ("ນ້ຳ", 2), ("का", 2), ("क्षि", 3), ("ந்தி", 3), ("กำลัง", 4),
    ]) func `A spacing vowel sign has its own cell`(text: String, width: Int) {
        #expect(text.cellWidth == width)
        let grid = row(text + "|")
        #expect(grid[width, 0].glyph == Glyph("|"))
        #expect(grid.text(row: 0) == text + "|")
    }

    // MARK: Composed characters

    /// Characters of three scalars, all different.
    private func composed(_ number: Int) -> Character {
        let scalars = [0x1E00 + number / 4096, 0x300 + number / 64 % 64, 0x300 + number % 64]
        let text = String(String.UnicodeScalarView(scalars.compactMap { Unicode.Scalar(UInt32($0)) }))
        return Character(text)
    }

    @Test func `Grids keep their composed characters while many others are made, and unused ones are lost`() {
        let first = Character("q\u{323}\u{307}\u{301}")
        var kept = CellGrid(width: 2, height: 1)
        kept[1, 0].glyph = Glyph(first)
        var copy = CellGrid(width: 2, height: 1)
        copy.takeRow(0, from: kept)
        var laid = CellGrid(width: 2, height: 1)
        laid.lay(kept, x: 0, y: 0, clip: laid.bounds)
        kept = CellGrid(width: 2, height: 1)
        let loose = Glyph(composed(1))
        var wrong = 0
        for number in 1..<3 * Glyph.characters.recentCount {
            let character = composed(number)
            if Glyph(character).character != character { wrong += 1 }
        }
        #expect(wrong == 0)
        #expect(copy[1, 0].glyph.character == first && laid[1, 0].glyph.character == first)
        #expect(Glyph(first) == copy[1, 0].glyph)
        // In no cell: forgotten, and nothing else.
        #expect(loose.character == "\u{FFFD}")
        #expect(Glyph(composed(1)).character == composed(1))
    }

    @Test func `A grid releases composed characters that it no longer shows`() {
        var grid = CellGrid(width: 10, height: 2)
        weak var first: Numbered<Character>?
        // Characters of this test alone: a character that another test has made already replaces no older one.
        let start = 1 << 18
        let last = start + 2 * Glyph.characters.recentCount - 1
        for number in start...last {
            let glyph = Glyph(composed(number))
            grid[number % 10, 0].glyph = glyph
            if number == start { first = glyph.owner }
        }
        #expect(first == nil)
        #expect(grid[last % 10, 0].glyph.character == composed(last))
    }
}
