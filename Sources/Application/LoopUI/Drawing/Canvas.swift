// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The cells that a view draws in, which are kept until the view draws again.
public struct Canvas: Sendable {
    /// The rows that are drawn; all other rows are clear.
    private(set) var band: Band
    /// The pictures that the display shows itself, from back to front.
    private(set) var pictures: [PlacedPicture] = []

    /// Makes an empty canvas, whose size is rounded to whole cells.
    public init(size: Size) {
        let cells = CellRect(Rect(size: size))
        band = Band(width: cells.columns.count, height: cells.rows.count)
    }

    /// Makes the canvas of a view of which only some cells can be seen; the other cells are not kept.
    init(size: Size, window: CellRect?) {
        let cells = CellRect(Rect(size: size))
        band = Band(width: cells.columns.count, height: cells.rows.count, window: window)
    }

    /// The cells drawn so far.
    ///
    /// - Complexity: O(cells).
    public var grid: CellGrid {
        var grid = CellGrid(width: band.width, height: band.height, filledWith: .clear)
        grid.lay(band.grid, x: band.left, y: band.top, clip: grid.bounds)
        return grid
    }

    /// The size of the canvas, in points.
    public var size: Size { Size(Double(band.width), Double(band.height)) }

    /// The rectangle of the whole canvas, in points.
    public var bounds: Rect { Rect(size: size) }

    /// Fills a rectangle with a character.
    public mutating func fill(_ rect: Rect, with character: Character = " ", style: Style) {
        band.fill(CellRect(rect), with: Cell(Glyph(character), style))
    }

    /// Adds a picture that the display shows itself, and sets its cells to glyphs of its pieces.
    mutating func place(_ placed: PlacedPicture) {
        pictures.append(placed)
        let seen = placed.area.clipped(to: band.window)
        for y in seen.rows {
            for x in seen.columns { band.put(placed.glyph(x: x, y: y), x: x, y: y, columns: 1, style: .plain) }
        }
    }

    /// Writes text in one row; characters that do not fit are left out.
    ///
    /// A tab reaches to the next multiple of 8 cells from the beginning of the text. Control characters are shown as the
    /// replacement character. Invisible characters, such as signs of direction, are left out.
    ///
    /// - Parameters:
    ///   - text: The text; a line break ends it.
    ///   - point: The position of the text's first cell, which may be outside on the left.
    ///   - style: The style of the text.
    ///   - width: The maximum width of the text, in points; up to the right edge if `nil`.
    /// - Returns: The width that the text takes, in points.
    /// - Complexity: O(length of the text).
    @discardableResult
    public mutating func write(
        _ text: some StringProtocol, at point: Point, style: Style = .plain, width: Double? = nil
    ) -> Double {
        write(String(text), at: point, style: style, width: width)
    }

    /// Writes a string in one row; characters that do not fit are left out.
    ///
    /// Most views write strings, which are faster to write than other texts.
    ///
    /// - Parameters:
    ///   - text: The text; a line break ends it.
    ///   - point: The position of the text's first cell, which may be outside on the left.
    ///   - style: The style of the text.
    ///   - width: The maximum width of the text, in points; up to the right edge if `nil`.
    /// - Returns: The width that the text takes, in points.
    /// - Complexity: O(length of what is seen).
    @discardableResult
    public mutating func write(
        _ text: String, at point: Point, style: Style = .plain, width: Double? = nil
    ) -> Double {
        let (start, y) = (point.x.cell, point.y.cell)
        guard y >= 0, y < band.height else { return 0 }
        var end = band.width
        if let width { end = min(end, start + width.cell) }
        var text = text
        // Usually all is ASCII, of which each byte is a character of one cell.
        let (plain, count) = text.withUTF8 { bytes in
            (band.write(asciiOf: bytes, from: start, to: end, y: y, style: style), bytes.count)
        }
        var x = start + plain
        if plain == count || x >= end { return Double(max(0, x - start)) }
        for character in text[text.utf8.index(text.startIndex, offsetBy: plain)...] {
            if character.isNewline { break }
            if character == "\t" {
                let stop = min(end, x + Character.tabWidth - (x - start) % Character.tabWidth)
                band.fill(CellRect(x: x, y: y, width: stop - x, height: 1), with: Cell(.space, style))
                x = stop
                if x == end { break }
                continue
            }
            // Nothing is seen of it, or it would not fit.
            let taken = character.cellWidth
            if taken == 0 { continue }
            if x + taken > end { break }
            put(character, x: x, y: y, columns: taken, style: style)
            x += taken
        }
        return Double(max(0, x - start))
    }

    /// Sets a character that fits on the right; columns left of the canvas are left out.
    private mutating func put(_ character: Character, x: Int, y: Int, columns: Int, style: Style) {
        if columns <= 2 {
            if x >= 0 { band.put(Glyph(character), x: x, y: y, columns: columns, style: style) }
            return
        }
        var x = x
        for part in character.shown?.parts ?? [] {
            let taken = part.cellWidth
            if x >= 0 { band.put(Glyph(part), x: x, y: y, columns: taken, style: style) }
            x += taken
        }
    }

    /// The lines that a border is made of.
    public enum Border: Sendable {
        /// Thin lines with square corners.
        case single
        /// Thin lines with round corners.
        case rounded
        /// Double lines.
        case double
        /// Plus, minus and bar, for displays without line characters.
        case plain

        /// The characters of the border: upper left, upper right, lower left, lower right, horizontal, vertical.
        var signs: [Character] {
            switch self {
            case .single: ["┌", "┐", "└", "┘", "─", "│"]
            case .rounded: ["╭", "╮", "╰", "╯", "─", "│"]
            case .double: ["╔", "╗", "╚", "╝", "═", "║"]
            case .plain: ["+", "+", "+", "+", "-", "|"]
            }
        }
    }

    /// Draws a border just inside a rectangle of at least two by two cells.
    public mutating func border(_ rect: Rect, _ border: Border = .single, style: Style = .plain) {
        let area = CellRect(rect)
        guard area.columns.count > 1, area.rows.count > 1 else { return }
        let signs = border.signs
        let (left, right) = (area.columns.lowerBound, area.columns.upperBound - 1)
        let (top, bottom) = (area.rows.lowerBound, area.rows.upperBound - 1)
        func line(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ sign: Character) {
            band.fill(CellRect(x: x, y: y, width: width, height: height), with: Cell(Glyph(sign), style))
        }
        line(left, top, area.columns.count, 1, signs[4])
        line(left, bottom, area.columns.count, 1, signs[4])
        line(left, top, 1, area.rows.count, signs[5])
        line(right, top, 1, area.rows.count, signs[5])
        line(left, top, 1, 1, signs[0])
        line(right, top, 1, 1, signs[1])
        line(left, bottom, 1, 1, signs[2])
        line(right, bottom, 1, 1, signs[3])
    }
}
