// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import Testing

/// Cells, canvases and rectangles.
@Suite struct DrawingTests {
    @Test func `Text is written in cells and cut where it does not fit`() {
        var canvas = Canvas(size: Size(8, 2))
        #expect(canvas.write("日本語text", at: Point(1, 0)) == 7)
        #expect(canvas.grid.text == " 日本語t\n\n")
        // Half a wide character is not written.
        #expect(canvas.write("日本", at: Point(5, 1)) == 2)
        #expect(canvas.grid.text(row: 1) == "     日")
        #expect(canvas.write("日本", at: Point(-1, 1)) == 4)
        #expect(canvas.grid.text(row: 1) == " 本  日")
        canvas.write("x\ny", at: Point(0, 1))
        #expect(canvas.grid.text(row: 1) == "x本  日")
        canvas.write("nowhere", at: Point(0, 9))
        canvas.write("nor here", at: Point(0, -1))
        #expect(canvas.grid.text(row: 0) == " 日本語t")
    }

    @Test func `A wide character of which one half is overwritten leaves the other half blank`() {
        var canvas = Canvas(size: Size(6, 1))
        canvas.write("日本語", at: .zero)
        canvas.write("x", at: Point(1, 0))
        #expect(canvas.grid.text == " x本語\n")
        canvas.write("y", at: Point(4, 0))
        #expect(canvas.grid.text == " x本y\n")
        canvas.fill(Rect(2, 0, 1, 1), with: "-", style: .plain)
        #expect(canvas.grid.text == " x- y\n")
    }

    @Test func `A grid laid over another grid is clipped, and its clear cells show the cells below`() {
        var below = CellGrid(width: 8, height: 1)
        below.fill(below.bounds, with: Cell(Glyph("."), Style(on: .blue)))
        var above = CellGrid(width: 4, height: 1, filledWith: .clear)
        above[0, 0] = Cell(Glyph("日"), .plain)
        above[1, 0] = Cell(.continuation, .plain)
        above[3, 0] = Cell(Glyph("x"), Style(on: .red))
        below.lay(above, x: 1, y: 0, clip: below.bounds)
        #expect(below.text == ".日.x...\n")
        // A clear background shows what lies below.
        #expect(below[1, 0].style.background == .blue)
        #expect(below[4, 0].style.background == .red)
        below.lay(above, x: 5, y: 0, clip: CellRect(x: 6, y: 0, width: 2, height: 1))
        #expect(below.text == ".日.x. .\n")
        below.lay(above, x: -1, y: 0, clip: below.bounds)
        #expect(below.text(row: 0).hasPrefix(" "))
    }

    @Test func `A glyph keeps a character of several scalars and replaces control characters`() {
        for character in ["e\u{301}", "👩‍👩‍👧‍👦", "🇩🇪", "नि"] as [Character] {
            #expect(Glyph(character).character == character)
            #expect(Glyph(character) == Glyph(character))
        }
        #expect(Glyph("\u{1B}").character == "\u{FFFD}")
        #expect(Glyph("\r\n").character == "\u{FFFD}")
        #expect(Glyph("\u{9B}").character == "\u{FFFD}")
        #expect(Glyph.none.character == nil)
        #expect(Glyph.continuation.character == nil)
    }

    @Test func `A canvas draws borders and fills with the given characters and colours`() {
        var canvas = Canvas(size: Size(5, 3))
        canvas.border(canvas.bounds, .rounded)
        canvas.fill(Rect(1, 1, 3, 1), with: "#", style: Style(.rgb(1, 2, 3), on: .palette(9), [.bold, .underline]))
        #expect(canvas.grid.text == "╭───╮\n│###│\n╰───╯\n")
        let style = canvas.grid[2, 1].style
        #expect(style.foreground.kind == .rgb(red: 1, green: 2, blue: 3))
        #expect(style.background.kind == .palette(9))
        #expect(Color.default.kind == .default && Color.clear.kind == .clear)
        canvas.border(Rect(0, 0, 1, 3))
        #expect(canvas.grid[0, 1].glyph == Glyph("│"))
    }

    @Test func `Rectangles are rounded by their edges, so that neighbours neither overlap nor leave a gap`() {
        let (left, right) = (CellRect(Rect(0, 0, 2.5, 1)), CellRect(Rect(2.5, 0, 2.5, 1)))
        #expect(left.columns.upperBound == right.columns.lowerBound)
        #expect(CellRect(Rect(0, 0, 1e300, .infinity)).columns.count == 1_000_000_000)
        #expect(Rect(0, 0, -3, 2).isEmpty)
        #expect(Rect(1, 1, 2, 2).union(.zero) == Rect(1, 1, 2, 2))
        #expect(Rect(0, 0, 4, 4).intersection(Rect(2, 3, 9, 9)) == Rect(2, 3, 2, 1))
        #expect(Rect(0, 0, 4, 4).intersection(Rect(5, 5, 1, 1)).isEmpty)
        #expect(!Rect(0, 0, 4, 4).contains(Point(4, 0)))
    }

    @Test func `A rectangle covers the same number of cells at negative and at positive coordinates`() {
        for fraction in [-0.5, -0.25, 0, 0.25, 0.5] {
            let start = CellRect(Rect(fraction + 8, fraction + 8, 1, 2.5))
            for step in -3...3 {
                let moved = CellRect(Rect(fraction + Double(step), fraction + Double(step), 1, 2.5))
                #expect(moved.columns.lowerBound - step == start.columns.lowerBound - 8)
                #expect(moved.columns.count == 1 && moved.rows.count == start.rows.count)
            }
        }
    }
}
