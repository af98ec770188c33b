// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The cells that a view has drawn.
///
/// The band keeps the rows from the first to the last that the view has written in; all other rows are clear. Most views
/// write in few of their rows, and a change of one line then does not clear, compare or read the other rows.
///
/// Of a large view it keeps the window that can be seen: what is written elsewhere is left out.
struct Band: Sendable {
    /// The number of columns of the whole view.
    let width: Int
    /// The number of rows of the whole view.
    let height: Int
    /// The cells of the view that can be kept.
    let window: CellRect
    /// The first of the rows that are kept.
    private(set) var top = 0
    /// The rows that are kept.
    private(set) var grid: CellGrid

    /// The maximum numbers of columns, rows and cells of a drawing without a window; this many cells take half a gigabyte.
    ///
    /// A view may have a frame of any size; without a window, the part beyond these limits is not drawn.
    static let maxColumns = 65_536
    static let maxRows = 1 << 20
    static let maxCells = 1 << 25

    /// The number of cells of a view from which on only the part is kept that can be seen; a large display has fewer.
    static let maxCellsWithoutWindow = 1 << 16

    init(width: Int, height: Int, window: CellRect? = nil) {
        (self.width, self.height) =
            window == nil ? Self.limited(width: width, height: height) : (max(0, width), max(0, height))
        let all = CellRect(x: 0, y: 0, width: self.width, height: self.height)
        self.window = window?.clipped(to: all) ?? all
        grid = CellGrid(width: self.window.columns.count, height: 0)
    }

    /// The first of the columns that are kept.
    var left: Int { window.columns.lowerBound }

    /// Returns the part of a size that can be drawn.
    static func limited(width: Int, height: Int) -> (width: Int, height: Int) {
        let width = min(max(0, width), maxColumns)
        return (width, min(max(0, height), maxRows, maxCells / max(1, width)))
    }

    /// Whether nothing was drawn.
    var isEmpty: Bool { grid.height == 0 }

    /// The rows that are kept.
    private var rows: Range<Int> { top..<top + grid.height }

    // MARK: Drawing

    /// Sets all cells of a rectangle; cells outside of the view are left out.
    mutating func fill(_ rect: CellRect, with cell: Cell) {
        let area = rect.clipped(to: window)
        if area.isEmpty { return }
        open(area.rows)
        grid.fill(moved(area), with: cell)
    }

    /// Sets a character, all columns of which are inside the view.
    mutating func put(_ glyph: Glyph, x: Int, y: Int, columns: Int, style: Style) {
        let area = CellRect(x: x, y: y, width: columns, height: 1)
        // The edge of the window is not seen: half of a character there is blank.
        guard area.clipped(to: window) == area else { return fill(area, with: Cell(.space, style)) }
        fill(area, with: Cell(.continuation, style))
        grid[x - left, y - top].glyph = glyph
    }

    /// Writes the printable ASCII that a text begins with, as far as it fits.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - start: The column where the text begins, which may be outside on the left.
    ///   - end: The column before which the text has to end.
    ///   - y: The row, which is inside the view.
    ///   - style: The style of the text.
    /// - Returns: The number of characters that were taken from the text.
    mutating func write(
        asciiOf text: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int, y: Int, style: Style
    ) -> Int {
        var count = 0
        while count < text.count, start + count < end, (0x20..<0x7F).contains(text[count]) { count += 1 }
        // What is no ASCII may belong to the character before it.
        if count > 0, count < text.count, text[count] >= 0x80 { count -= 1 }
        let hidden = min(count, max(0, left - start))
        let end = min(count, max(0, window.columns.upperBound - start))
        if hidden < end, window.rows.contains(y) {
            open(y..<y + 1)
            grid.write(
                ascii: UnsafeBufferPointer(rebasing: text[hidden..<end]), x: start + hidden - left, y: y - top,
                style: style)
        }
        return count
    }

    /// Adds clear rows to the rows that are kept.
    private mutating func open(_ added: Range<Int>) {
        if isEmpty { top = added.lowerBound }
        let (above, below) = (max(0, top - added.lowerBound), max(0, added.upperBound - rows.upperBound))
        if above + below == 0 { return }
        grid.addRows(above: above, below: below)
        top -= above
    }

    private func moved(_ area: CellRect) -> CellRect {
        var area = area
        area.rows = area.rows.lowerBound - top..<area.rows.upperBound - top
        area.columns = area.columns.lowerBound - left..<area.columns.upperBound - left
        return area
    }

    // MARK: Comparing

    /// Returns the rows from the first to the last that differ from an earlier drawing; empty if no row differs.
    ///
    /// - Complexity: O(cells of the rows that are kept).
    func rowsChanged(from old: Band) -> Range<Int> {
        if width != old.width || height != old.height || window != old.window { return 0..<height }
        if isEmpty || old.isEmpty { return isEmpty ? old.rows : rows }
        let all = min(rows.lowerBound, old.rows.lowerBound)..<max(rows.upperBound, old.rows.upperBound)
        guard let first = all.first(where: { !hasRow($0, of: old) }),
            let last = all.last(where: { !hasRow($0, of: old) })
        else { return 0..<0 }
        return first..<last + 1
    }

    private func hasRow(_ y: Int, of old: Band) -> Bool {
        guard rows.contains(y), old.rows.contains(y) else { return false }
        return grid.hasRow(y - top, of: old.grid, at: y - old.top)
    }
}
