// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import LoopUI

/// Adjacent cells of one row.
struct CellSpan: Hashable {
    var row: Int
    var columns: Range<Int>

    /// Returns the cells that differ between two grids; all cells of the new grid if it has another size.
    ///
    /// - Parameters:
    ///   - old: The grid that is shown.
    ///   - new: The grid to show.
    ///   - cursors: Cells that are drawn again in any case.
    /// - Returns: Spans from top to bottom. No span cuts a wide character, and at least four equal cells are between two
    ///   spans of one row.
    /// - Complexity: O(cells).
    static func changes(from old: CellGrid, to new: CellGrid, cursors: [CellPlace] = []) -> [CellSpan] {
        let (width, height) = (new.width, new.height)
        if width == 0 { return [] }
        if old.width != width || old.height != height {
            return (0..<height).map { CellSpan(row: $0, columns: 0..<width) }
        }
        let (before, after) = (old.cells, new.cells)
        var spans: [CellSpan] = []
        for row in 0..<height {
            let start = row * width
            for column in 0..<width {
                let isCursor = cursors.contains(CellPlace(column: column, row: row))
                if before[start + column] == after[start + column], !isCursor { continue }
                if let last = spans.last, last.row == row, column - last.columns.upperBound < 4 {
                    spans[spans.count - 1].columns = last.columns.lowerBound..<column + 1
                } else {
                    spans.append(CellSpan(row: row, columns: column..<column + 1))
                }
            }
        }
        return spans.map { $0.wholeCharacters(in: new) }
    }

    /// Returns the span, extended where its ends cut a wide character.
    func wholeCharacters(in grid: CellGrid) -> CellSpan {
        var span = self
        while span.columns.lowerBound > 0, grid[span.columns.lowerBound, row].glyph == .continuation {
            span.columns = span.columns.lowerBound - 1..<span.columns.upperBound
        }
        while span.columns.upperBound < grid.width, grid[span.columns.upperBound, row].glyph == .continuation {
            span.columns = span.columns.lowerBound..<span.columns.upperBound + 1
        }
        return span
    }

    /// Returns the span with up to `count` more cells on each side, as far as the row has them.
    func widened(by count: Int, in grid: CellGrid) -> CellSpan {
        let columns = max(0, columns.lowerBound - count)..<min(grid.width, columns.upperBound + count)
        return CellSpan(row: row, columns: columns).wholeCharacters(in: grid)
    }
}

/// The column and the row of a cell.
struct CellPlace: Hashable {
    var column: Int
    var row: Int
}

/// The cursor, as a window shows it.
struct Cursor: Hashable {
    var place: CellPlace
    /// Whether the cursor is a block, as in a window that has the focus; otherwise it is a frame.
    var isBlock: Bool
}

extension Cursor {
    /// The cursor at a position of a frame; nil if the frame has none, or has it outside of its cells.
    init?(_ position: Point?, in cells: CellGrid, isBlock: Bool) {
        guard let position else { return nil }
        let (column, row) = (Int(position.x.rounded()), Int(position.y.rounded()))
        guard (0..<cells.width).contains(column), (0..<cells.height).contains(row) else { return nil }
        self.init(place: CellPlace(column: column, row: row), isBlock: isBlock)
    }
}
#endif
