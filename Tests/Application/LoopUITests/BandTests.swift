// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import RunLoopsTestSupport
import Testing

/// One random thing that is drawn.
private struct Stroke {
    var text = ""
    var place = Point.zero
    var style = Style.plain
    var isFill = false

    private static let texts = [
        "plain text", "日本語", "a日", "e\u{301}e", "ae\u{301}", "👍x", "a\u{FE0F}b", "one\r\ntwo", "tab\tx", "", "    ",
        "\u{301}", "~\u{7F}~",
    ]

    init(in size: Size, using random: inout SeededRandom) {
        text = Self.texts.randomElement(using: &random)!
        place = Point(
            Double(Int.random(in: -4..<Int(size.width), using: &random)),
            Double(Int.random(in: -1...Int(size.height), using: &random)))
        style = Style(
            [.red, .default].randomElement(using: &random)!, on: [.clear, .blue].randomElement(using: &random)!)
        isFill = Int.random(in: 0..<5, using: &random) == 0
    }

    func draw(in canvas: inout Canvas) {
        if isFill { canvas.fill(Rect(origin: place, size: Size(5, 3)), with: "#", style: style) }
        canvas.write(text, at: place, style: style)
    }

    /// The same, character by character on all cells.
    func draw(in grid: inout CellGrid) {
        if isFill {
            grid.fill(CellRect(Rect(origin: place, size: Size(5, 3))), with: Cell(Glyph("#"), style))
        }
        var (x, y) = (Int(place.x), Int(place.y))
        guard (0..<grid.height).contains(y) else { return }
        for character in text {
            if character == "\t" {
                // To the next multiple of 8 cells from the beginning.
                let width = 8 - (x - Int(place.x)) % 8
                grid.fill(CellRect(x: x, y: y, width: width, height: 1), with: Cell(.space, style))
                x += width
                continue
            }
            if character.isNewline || x + character.cellWidth > grid.width { return }
            if x >= 0 {
                grid.fill(
                    CellRect(x: x, y: y, width: character.cellWidth, height: 1), with: Cell(.continuation, style))
                grid[x, y].glyph = Glyph(character)
            }
            x += character.cellWidth
        }
    }
}

@MainActor private final class Drawing: View {
    var strokes: [Stroke] = [] { didSet { setNeedsDisplay() } }

    override func draw(in canvas: inout Canvas) { for stroke in strokes { stroke.draw(in: &canvas) } }
}

/// Canvases and views keep only the rows that were drawn in, and show the same.
@MainActor @Suite(.ownThread) struct BandTests {
    @Test func `After the same random drawing a Canvas and a CellGrid have the same cells`() {
        var random = SeededRandom(11)
        for round in 0..<400 {
            let size = Size(
                Double(Int.random(in: 1...16, using: &random)), Double(Int.random(in: 1...6, using: &random)))
            var canvas = Canvas(size: size)
            var grid = CellGrid(width: Int(size.width), height: Int(size.height), filledWith: .clear)
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let stroke = Stroke(in: size, using: &random)
                stroke.draw(in: &canvas)
                stroke.draw(in: &grid)
            }
            #expect(canvas.grid == grid, "round \(round)")
            if canvas.grid != grid { return }
        }
    }

    @Test func `A substring is drawn like a string`() {
        var canvas = Canvas(size: Size(10, 1))
        let text = "one two 日本"
        #expect(canvas.write(text.dropFirst(4), at: .zero, width: 7) == 6)
        #expect(canvas.grid.text == "two 日\n")
    }

    @Test func `The display shows each random drawing, and rows not listed as changed are unchanged`() throws {
        try TestApplication.with(size: Size(20, 8)) { app in
            var random = SeededRandom(5)
            let view = Drawing(frame: Rect(2, 1, 16, 6))
            app.show(View()).addSubview(view)
            app.settle()
            var shown = app.display.frame?.cells
            for round in 0..<300 {
                // Busy at times: what it has missed counts as changed.
                app.display.isBusy = round % 4 == 1
                view.strokes = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    Stroke(in: view.frame.size, using: &random)
                }
                app.advance(by: .seconds(1))
                if app.display.isBusy { continue }
                let frame = try #require(app.display.frame)
                var own = CellGrid(width: 16, height: 6, filledWith: .clear)
                for stroke in view.strokes { stroke.draw(in: &own) }
                var expected = CellGrid(width: 20, height: 8)
                expected.lay(own, x: 2, y: 1, clip: expected.bounds)
                #expect(frame.cells == expected, "round \(round)")
                let changed = try #require(frame.changedRows)
                for y in 0..<8 where !changed.contains(y) {
                    for x in 0..<20 { #expect(frame.cells[x, y] == shown?[x, y], "round \(round), \(x), \(y)") }
                }
                shown = frame.cells
            }
        }
    }
}
