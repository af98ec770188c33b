// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import Testing

/// A wide character is whole, or not there.
@Suite struct WideCharacterTests {
    private func laid(_ text: String, at column: Double, over below: String) -> CellGrid {
        var grid = CellGrid(width: 10, height: 1)
        for (text, column) in [(below, 0), (text, column)] {
            var canvas = Canvas(size: Size(10, 1))
            canvas.write(text, at: Point(column, 0))
            grid.lay(canvas.grid, x: 0, y: 0, clip: grid.bounds)
        }
        return grid
    }

    @Test func `Text over one half of a wide character blanks the other half`() {
        #expect(laid("x", at: 1, over: "日本").text(row: 0) == " x本")
        #expect(laid("x", at: 2, over: "日本").text(row: 0) == "日x")
        #expect(laid("xy", at: 1, over: "日本語").text(row: 0) == " xy 語")
        #expect(laid("語", at: 1, over: "日本").text(row: 0) == " 語")
        #expect(laid("語", at: 2, over: "日本日").text(row: 0) == "日語日")
    }

    @Test func `Text over wide characters leaves both halves of a wide character or none`() {
        for text in ["x", "xy", "語", "x語", "語x", "語語"] {
            for column in 0..<8 {
                let grid = laid(text, at: Double(column), over: "日本日本日")
                for x in 0..<10 {
                    let isWide = (grid[x, 0].glyph.character?.cellWidth ?? 1) == 2
                    let isFollowed = x + 1 < 10 && grid[x + 1, 0].glyph == .continuation
                    #expect(isWide == isFollowed, "\(text) at \(column)")
                }
            }
        }
    }
}
