// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The bar at the edge of a scroll view, which shows how much of the content is in view, and where.
struct ScrollIndicator {
    /// The part of the edge that the bar covers, in half cells.
    let halves: Range<Int>

    /// Makes the bar along an edge; nil if all of the content is seen.
    ///
    /// - Parameters:
    ///   - cells: The length of the edge.
    ///   - extent: The length of the content, with its insets.
    ///   - offset: How far the content was scrolled from its beginning, in cells.
    init?(cells: Int, extent: Double, offset: Double) {
        guard cells > 0, extent > Double(cells) else { return nil }
        let all = Double(cells * 2)
        let length = min(cells * 2, max(2, Int((all * Double(cells) / extent).rounded())))
        let part = min(1, max(0, offset / (extent - Double(cells))))
        let first = Int(((all - Double(length)) * part).rounded())
        halves = first..<first + length
    }

    /// Returns the part of a cell that the bar covers, one half or both; nil if the bar does not cover the cell.
    func cover(of cell: Int) -> Cover? {
        switch (halves.contains(cell * 2), halves.contains(cell * 2 + 1)) {
        case (true, true): .whole
        case (true, false): .first
        case (false, true): .second
        case (false, false): nil
        }
    }

    enum Cover {
        case whole
        case first
        case second

        func sign(isVertical: Bool, hasUnicode: Bool) -> Character {
            if !hasUnicode { return "#" }
            return switch self {
            case .whole: isVertical ? "▐" : "▄"
            case .first: isVertical ? "▝" : "▖"
            case .second: "▗"
            }
        }
    }
}

extension ScrollView {
    /// Draws the bars over the visible part of the view.
    ///
    /// - Parameters:
    ///   - area: The cells of the display that the view covers.
    ///   - clip: The cells of the display that may be changed.
    func drawIndicators(into grid: inout CellGrid, area: CellRect, clip: CellRect) {
        let seen = area.clipped(to: clip)
        if seen.isEmpty { return }
        let (first, last) = limits(in: frame.size)
        let contentOffset = shownContentOrigin
        let vertical = ScrollIndicator(
            cells: area.rows.count, extent: last.y - first.y + frame.size.height, offset: contentOffset.y - first.y)
        let horizontal = ScrollIndicator(
            cells: area.columns.count, extent: last.x - first.x + frame.size.width, offset: contentOffset.x - first.x)
        let hasUnicode = window?.application?.display.abilities.hasUnicode ?? true
        func draw(_ indicator: ScrollIndicator?, cell: Int, x: Int, y: Int, isVertical: Bool) {
            guard let cover = indicator?.cover(of: cell), seen.columns.contains(x), seen.rows.contains(y) else {
                return
            }
            let sign = Glyph(cover.sign(isVertical: isVertical, hasUnicode: hasUnicode))
            let style = Style(indicatorColor, on: grid[x, y].style.background)
            grid.fill(CellRect(x: x, y: y, width: 1, height: 1), with: Cell(sign, style))
        }
        if showsVerticalScrollIndicator {
            for y in seen.rows {
                draw(vertical, cell: y - area.rows.lowerBound, x: area.columns.upperBound - 1, y: y, isVertical: true)
            }
        }
        if showsHorizontalScrollIndicator {
            for x in seen.columns {
                draw(
                    horizontal, cell: x - area.columns.lowerBound, x: x, y: area.rows.upperBound - 1,
                    isVertical: false)
            }
        }
    }
}
