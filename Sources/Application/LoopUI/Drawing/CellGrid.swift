// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsLibC

/// Rows of cells.
public struct CellGrid: Hashable, Sendable {
    /// The number of cells in a row.
    public let width: Int
    /// The number of rows.
    public private(set) var height: Int
    /// The cells, row by row.
    public private(set) var cells: [Cell]
    /// Keeps the composed characters and the links that cells show, by their numbers, and some that cells have shown.
    ///
    /// The number of a link is smaller than the bits of any composed glyph.
    private var kept: [UInt32: any AnyObject & Sendable] = [:]
    /// The number of kept objects at which the grid releases those that no cell shows.
    private var keptLimit = 0

    /// Makes a grid of equal cells; a negative size becomes 0.
    public init(width: Int, height: Int, filledWith cell: Cell = .blank) {
        self.width = max(0, width)
        self.height = max(0, height)
        let (count, isTooLarge) = self.width.multipliedReportingOverflow(by: self.height)
        require(
            !isTooLarge && count < 1 << 40,
            "A grid of \(width) by \(height) cells was asked for: give a size that memory holds.")
        cells = Array(repeating: cell, count: count)
        keep(cell)
    }

    /// Whether two grids have the same size and the same cells.
    public static func == (left: CellGrid, right: CellGrid) -> Bool {
        left.width == right.width && left.height == right.height && left.cells == right.cells
    }

    /// Hashes the size and the cells.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(width)
        hasher.combine(height)
        hasher.combine(cells)
    }

    // MARK: Composed characters and links

    /// Keeps the character and the link of a cell that was set.
    private mutating func keep(_ cell: Cell, from other: CellGrid? = nil) {
        if cell.glyph.isComposed { keep(cell.glyph.bits, other) { cell.glyph.owner } }
        if cell.style.linkNumber != 0 { keep(cell.style.linkNumber, other) { cell.style.link?.owner } }
    }

    private mutating func keep(
        _ number: UInt32, _ other: CellGrid?, _ owner: () -> (any AnyObject & Sendable)?
    ) {
        guard kept[number] == nil, let owner = other?.kept[number] ?? owner() else { return }
        if kept.count >= keptLimit {
            var shown = Set(cells.lazy.map(\.glyph).filter(\.isComposed).map(\.bits))
            for cell in cells where cell.style.linkNumber != 0 { shown.insert(cell.style.linkNumber) }
            kept = kept.filter { shown.contains($0.key) }
            // The cells are looked at again after so many more that each of them is looked at a few times for each.
            keptLimit = 2 * kept.count + 256 + cells.count / 4
        }
        kept[number] = owner
    }

    /// Keeps the characters and links that some cells of a row have received from another grid.
    private mutating func keep(_ columns: Range<Int>, row: Int, from other: CellGrid) {
        if other.kept.isEmpty { return }
        for column in columns { keep(cells[row * width + column], from: other) }
    }

    /// Keeps the characters and links that a row has received from the same row of another grid of this width.
    mutating func keepRow(_ row: Int, from other: CellGrid) { keep(0..<width, row: row, from: other) }

    // MARK: Reading

    /// The cell in column `x` and row `y`.
    ///
    /// - Precondition: the cell is inside the grid.
    public subscript(x: Int, y: Int) -> Cell {
        get {
            require(x >= 0 && x < width && y >= 0 && y < height, "There is no cell \(x), \(y).")
            return cells[y * width + x]
        }
        set {
            require(x >= 0 && x < width && y >= 0 && y < height, "There is no cell \(x), \(y).")
            cells[y * width + x] = newValue
            keep(newValue)
        }
    }

    /// Returns the text of a row, without the empty cells at its end.
    public func text(row: Int) -> String {
        var text = ""
        for x in 0..<width where self[x, row].glyph != .continuation {
            text.append(self[x, row].glyph.character ?? " ")
        }
        while text.last == " " { text.removeLast() }
        return text
    }

    /// The text of all rows, each with a line break behind it.
    public var text: String { (0..<height).map { text(row: $0) + "\n" }.joined() }

    // MARK: Changing

    /// Sets all cells of a rectangle; cells outside of the grid are left out.
    public mutating func fill(_ rect: CellRect, with cell: Cell) {
        let (area, width) = (rect.clipped(to: bounds), width)
        if area.isEmpty { return }
        cells.withUnsafeMutableBufferPointer { cells in
            for y in area.rows {
                let row = UnsafeMutableBufferPointer(rebasing: cells[y * width..<(y + 1) * width])
                Self.cutWide(area.columns, row)
                row[area.columns].update(repeating: cell)
            }
        }
        keep(cell)
    }

    /// Writes printable ASCII in a row, from the column `x` on; the whole text fits into the row.
    mutating func write(ascii text: UnsafeBufferPointer<UInt8>, x: Int, y: Int, style: Style) {
        let (columns, width) = (x..<x + text.count, width)
        cells.withUnsafeMutableBufferPointer { cells in
            let row = UnsafeMutableBufferPointer(rebasing: cells[y * width..<(y + 1) * width])
            Self.cutWide(columns, row)
            for (column, byte) in zip(columns, text) { row[column] = Cell(Glyph(bits: UInt32(byte)), style) }
        }
        keep(Cell(.space, style))
    }

    /// Adds clear rows.
    mutating func addRows(above: Int, below: Int) {
        if above > 0 { cells.insert(contentsOf: repeatElement(.clear, count: above * width), at: 0) }
        if below > 0 { cells.append(contentsOf: repeatElement(.clear, count: below * width)) }
        height += above + below
    }

    /// Lays another grid over this one: a clear cell leaves the cell below as it is, and a clear background leaves the
    /// background below.
    ///
    /// - Parameters:
    ///   - other: The grid that is laid over.
    ///   - x: The column of the other grid's left edge.
    ///   - y: The row of the other grid's upper edge.
    ///   - clip: The cells that may be changed.
    /// - Complexity: O(cells of the common area).
    public mutating func lay(_ other: CellGrid, x: Int, y: Int, clip: CellRect) {
        let area = CellRect(x: x, y: y, width: other.width, height: other.height).clipped(to: clip).clipped(to: bounds)
        if area.isEmpty { return }
        let width = width
        other.cells.withUnsafeBufferPointer { above in
            cells.withUnsafeMutableBufferPointer { cells in
                for row in area.rows {
                    let first = (row - y) * other.width
                    Self.lay(
                        UnsafeBufferPointer(rebasing: above[first..<first + other.width]), x: x, area.columns,
                        over: UnsafeMutableBufferPointer(rebasing: cells[row * width..<(row + 1) * width]))
                }
            }
        }
        if other.kept.isEmpty { return }
        for row in area.rows { keep(area.columns, row: row, from: other) }
    }

    private static func lay(
        _ above: UnsafeBufferPointer<Cell>, x: Int, _ columns: Range<Int>, over row: UnsafeMutableBufferPointer<Cell>
    ) {
        cutWide(columns, row)
        var written = -1
        for column in columns {
            var cell = above[column - x]
            if cell.glyph == .none && cell.style.background == .clear { continue }
            let below = row[column]
            if cell.style.background == .clear { cell.style.background = below.style.background }
            if cell.glyph == .none { cell.glyph = .space }
            // A wide character that is cut by the area leaves a blank half.
            let isCut =
                cell.glyph == .continuation && column == columns.lowerBound
                || column == columns.upperBound - 1 && column - x + 1 < above.count
                    && above[column - x + 1].glyph == .continuation
            if isCut { cell.glyph = .space }
            // What is clear leaves halves of wide characters below, which are blank without the other half.
            if below.glyph == .continuation, cell.glyph != .continuation, column > 0, written != column - 1 {
                row[column - 1].glyph = .space
            }
            let next = column + 1
            if next < row.count, row[next].glyph == .continuation { row[next].glyph = .space }
            row[column] = cell
            written = column
        }
    }

    /// Blanks the other half of wide characters that the edges of some columns cut.
    private static func cutWide(_ columns: Range<Int>, _ row: UnsafeMutableBufferPointer<Cell>) {
        let (first, after) = (columns.lowerBound, columns.upperBound)
        if first > 0, row[first].glyph == .continuation { row[first - 1].glyph = .space }
        if after < row.count, row[after].glyph == .continuation { row[after].glyph = .space }
    }

    /// Whether row `y` is equal to row `otherY` of another grid of the same width; to row `y` of it if `otherY` is `nil`.
    ///
    /// Compares the bytes of the rows, which is exact because a cell has no padding bytes: most rows of most frames are equal.
    package func hasRow(_ y: Int, of other: CellGrid, at otherY: Int? = nil) -> Bool {
        cells.withUnsafeBytes { here in
            other.cells.withUnsafeBytes { there in
                let count = width * MemoryLayout<Cell>.stride
                guard let here = here.baseAddress, let there = there.baseAddress else { return true }
                return memcmp(here + y * count, there + (otherY ?? y) * count, count) == 0
            }
        }
    }

    /// Copies a row from another grid of this size.
    package mutating func takeRow(_ y: Int, from other: CellGrid) {
        let row = y * width..<(y + 1) * width
        other.cells.withUnsafeBufferPointer { there in
            cells.withUnsafeMutableBufferPointer { cells in
                _ = UnsafeMutableBufferPointer(rebasing: cells[row]).update(fromContentsOf: there[row])
            }
        }
        keep(0..<width, row: y, from: other)
    }

    /// The whole grid.
    public var bounds: CellRect { CellRect(x: 0, y: 0, width: width, height: height) }
}

/// A rectangle of cells.
public struct CellRect: Hashable, Sendable {
    /// The columns inside.
    public var columns: Range<Int>
    /// The rows inside.
    public var rows: Range<Int>

    /// Makes the rectangle with its upper left cell at `x` and `y`; a negative size becomes 0, and an edge beyond
    /// `Int.max` becomes `Int.max`.
    public init(x: Int, y: Int, width: Int, height: Int) {
        columns = x..<Self.end(x, width)
        rows = y..<Self.end(y, height)
    }

    private static func end(_ start: Int, _ length: Int) -> Int {
        let (end, isBeyond) = start.addingReportingOverflow(max(0, length))
        return isBeyond ? .max : end
    }

    /// Makes the rectangle of the cells that a rectangle in points covers; each edge is rounded to the nearest edge of
    /// a cell.
    ///
    /// An edge in the middle of a cell is rounded up, even if it is negative. So the number of cells stays the same
    /// when a rectangle is moved by whole cells, even across the upper left corner.
    public init(_ rect: Rect) {
        columns = rect.minX.cell..<max(rect.minX.cell, rect.maxX.cell)
        rows = rect.minY.cell..<max(rect.minY.cell, rect.maxY.cell)
    }

    /// No cells.
    static var empty: CellRect { CellRect(x: 0, y: 0, width: 0, height: 0) }

    /// Whether the rectangle has no cells.
    public var isEmpty: Bool { columns.isEmpty || rows.isEmpty }

    /// Returns the smallest rectangle that covers both rectangles; an empty rectangle covers nothing.
    public func union(_ other: CellRect) -> CellRect {
        if isEmpty { return other }
        if other.isEmpty { return self }
        var result = self
        result.columns =
            min(columns.lowerBound, other.columns.lowerBound)..<max(columns.upperBound, other.columns.upperBound)
        result.rows = min(rows.lowerBound, other.rows.lowerBound)..<max(rows.upperBound, other.rows.upperBound)
        return result
    }

    /// Returns the part of this rectangle that lies in the other rectangle.
    public func clipped(to other: CellRect) -> CellRect {
        var result = self
        result.columns = columns.clamped(to: other.columns)
        result.rows = rows.clamped(to: other.rows)
        return result
    }
}

extension Double {
    /// The nearest whole number, and the greater of two that are equally near; at most a thousand million on both sides
    /// of 0.
    ///
    /// The standard library's `rounded()` calls the C library, in the middle of drawing.
    var cell: Int {
        let value = max(-1e9, min(1e9, self))
        let whole = Int(value)
        let rest = value - Double(whole)
        return rest >= 0.5 ? whole + 1 : rest < -0.5 ? whole - 1 : whole
    }
}
