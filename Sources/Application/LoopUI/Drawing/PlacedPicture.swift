// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A picture whose pixels a display shows, and the cells that the picture covers.
///
/// The cells of a frame say where the picture is seen: each of them has a glyph for its piece of the picture. Cells of
/// views in front of the picture have other glyphs. So a display sends again only the pieces whose cells have changed.
public struct PlacedPicture: Hashable, Sendable {
    /// The picture.
    public var picture: Picture
    /// The cells that the whole picture is stretched over; they may reach beyond the display.
    public var area: CellRect

    /// Makes a picture that is stretched over the cells of an area.
    public init(_ picture: Picture, in area: CellRect) {
        self.picture = picture
        self.area = area
    }

    /// Whether the picture is seen at a cell of a frame.
    ///
    /// - Precondition: the cell is inside the frame.
    public func isSeen(x: Int, y: Int, in cells: CellGrid) -> Bool {
        let glyph = cells[x, y].glyph
        return glyph.isPicture && glyph == self.glyph(x: x, y: y)
    }

    func glyph(x: Int, y: Int) -> Glyph {
        // An area may have any bounds, also those whose distance is no number.
        let area = area.clipped(to: CellRect(Rect(-1e9, -1e9, 2e9, 2e9)))
        return Glyph(
            picture, x: x - area.columns.lowerBound, y: y - area.rows.lowerBound, columns: area.columns.count,
            rows: area.rows.count)
    }

    /// Returns the parts of the area that are seen in a frame, as rectangles from top to bottom.
    ///
    /// - Parameters:
    ///   - cells: The cells of the frame.
    ///   - old: The cells of an earlier frame of this size; cells that have not changed since are left out.
    /// - Complexity: O(cells of the area).
    public func parts(in cells: CellGrid, changedSince old: CellGrid? = nil) -> [CellRect] {
        area.clipped(to: cells.bounds).parts { x, y in
            isSeen(x: x, y: y, in: cells) && (old.map { $0[x, y] != cells[x, y] } ?? true)
        }
    }
}

extension CellRect {
    /// Returns rectangles that together cover the cells for which a condition holds.
    ///
    /// Adjacent cells of a row are in one rectangle, and so are adjacent rows with the same columns.
    ///
    /// - Complexity: O(cells).
    package func parts(where isIn: (_ x: Int, _ y: Int) -> Bool) -> [CellRect] {
        var parts: [CellRect] = []
        // The parts that reach down to the row above, by their columns.
        var open: [Range<Int>: Int] = [:]
        for y in rows {
            var above = open
            open = [:]
            var x = columns.lowerBound
            while x < columns.upperBound {
                let start = x
                while x < columns.upperBound, isIn(x, y) { x += 1 }
                if start == x {
                    x += 1
                    continue
                }
                let index = above.removeValue(forKey: start..<x) ?? parts.count
                if index == parts.count { parts.append(CellRect(x: start, y: y, width: x - start, height: 0)) }
                parts[index].rows = parts[index].rows.lowerBound..<y + 1
                open[start..<x] = index
            }
        }
        return parts
    }

    /// Returns the rectangle, moved by `x` columns to the right and `y` rows down.
    package func moved(x: Int, y: Int) -> CellRect {
        var moved = self
        moved.columns = Self.moved(columns, by: x)
        moved.rows = Self.moved(rows, by: y)
        return moved
    }

    private static func moved(_ range: Range<Int>, by way: Int) -> Range<Int> {
        func end(_ bound: Int) -> Int {
            let (sum, isBeyond) = bound.addingReportingOverflow(way)
            return isBeyond ? (way < 0 ? .min : .max) : sum
        }
        return end(range.lowerBound)..<end(range.upperBound)
    }
}
