// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIXCB
internal import LoopUI

/// Draws cells on a surface of Cairo.
struct CellPainter {
    let fonts: FontBook
    let theme: WindowTheme
    let pictures = PictureBook()

    /// Draws a span of cells, and of all other cells at most one on each side.
    ///
    /// Slanted letters reach into the cells beside them, which are drawn too, so that no part of old letters stays and no
    /// other letter is cut.
    ///
    /// - Parameters:
    ///   - span: The cells to draw.
    ///   - cells: The grid that contains the span.
    ///   - cursor: The cursor, which may be outside of the span.
    ///   - surface: A drawing context of Cairo.
    /// - Returns: The rectangle of pixels that was drawn.
    @discardableResult
    func draw(_ span: CellSpan, of cells: CellGrid, cursor: Cursor?, on surface: OpaquePointer) -> PixelRect {
        let cleared = span.widened(by: 1, in: cells)
        let lettered = cleared.widened(by: 1, in: cells)
        let area = rect(cleared)
        cairo_save(surface)
        defer { cairo_restore(surface) }
        cairo_rectangle(surface, Double(area.x), Double(area.y), Double(area.width), Double(area.height))
        cairo_clip(surface)
        drawGrounds(cleared, cells, cursor, surface)
        pictures.draw(cleared, of: cells, cell: fonts.cell, on: surface)
        drawLetters(lettered, cells, cursor, surface)
        if let cursor, !cursor.isBlock, cursor.place.row == span.row, cleared.columns.contains(cursor.place.column) {
            drawFrame(of: cursor, cells, surface)
        }
        return area
    }

    /// Fills a picture with the background colour, also beside the last whole cell.
    func clear(_ surface: OpaquePointer) {
        set(theme.background, surface)
        cairo_paint(surface)
    }

    /// The pixels of a span.
    func rect(_ span: CellSpan) -> PixelRect {
        let (width, height) = (Int(fonts.cell.width), Int(fonts.cell.height))
        return PixelRect(
            x: span.columns.lowerBound * width, y: span.row * height, width: span.columns.count * width, height: height)
    }

    // MARK: Colours

    private func colors(_ cell: Cell, _ column: Int, _ row: Int, _ cursor: Cursor?, _ cells: CellGrid)
        -> (letters: WindowTheme.RGB, ground: WindowTheme.RGB)
    {
        let colors = theme.colors(of: cell.style)
        guard let cursor, cursor.isBlock, cursor.place.row == row else { return colors }
        let isUnder = cursor.place.column == column
        let isRightHalf = cell.glyph == .continuation && cursor.place.column == column - 1
        return isUnder || isRightHalf ? (colors.ground, colors.letters) : colors
    }

    private func set(_ color: WindowTheme.RGB, _ surface: OpaquePointer) {
        cairo_set_source_rgb(
            surface, Double(color.red) / 255, Double(color.green) / 255, Double(color.blue) / 255)
    }

    // MARK: The layers

    private func drawGrounds(_ span: CellSpan, _ cells: CellGrid, _ cursor: Cursor?, _ surface: OpaquePointer) {
        var start = span.columns.lowerBound
        while start < span.columns.upperBound {
            func ground(_ column: Int) -> WindowTheme.RGB {
                colors(cells[column, span.row], column, span.row, cursor, cells).ground
            }
            let color = ground(start)
            let end = (start..<span.columns.upperBound).first { ground($0) != color } ?? span.columns.upperBound
            let area = rect(CellSpan(row: span.row, columns: start..<end))
            set(color, surface)
            cairo_rectangle(surface, Double(area.x), Double(area.y), Double(area.width), Double(area.height))
            cairo_fill(surface)
            start = end
        }
    }

    /// Letters of one font and colour that follow each other, which Cairo draws in one call.
    private struct Batch {
        var font: OpaquePointer?
        var color: WindowTheme.RGB?
        var glyphs: [cairo_glyph_t] = []
    }

    private func drawLetters(_ span: CellSpan, _ cells: CellGrid, _ cursor: Cursor?, _ surface: OpaquePointer) {
        let (top, bottom) = (Double(span.row) * fonts.cell.height, Double(span.row + 1) * fonts.cell.height)
        let baseline = top + fonts.ascent
        var batch = Batch()
        for column in span.columns {
            let cell = cells[column, span.row]
            if cell.glyph == .continuation || cell.glyph.isPicture { continue }
            let isWide = column + 1 < cells.width && cells[column + 1, span.row].glyph == .continuation
            let attributes = cell.style.attributes
            let hasLine = !attributes.isDisjoint(with: [.underline, .strikethrough])
            if cell.glyph == .space || cell.glyph == .none, !hasLine { continue }
            let color = colors(cell, column, span.row, cursor, cells).letters
            let left = Double(column) * fonts.cell.width
            let width = fonts.cell.width * (isWide ? 2 : 1)
            if let sign = LineSign(cell.glyph) {
                set(color, surface)
                sign.draw(Rect(left, top, width, bottom - top), on: surface)
            } else {
                let letter = fonts.letter(cell.glyph, attributes, width: isWide ? 2 : 1)
                for (font, glyph) in letter.glyphs {
                    if batch.font != font || batch.color != color { show(&batch, font, color, surface) }
                    batch.glyphs.append(
                        cairo_glyph_t(index: glyph.index, x: left + glyph.x, y: baseline + glyph.y))
                }
                if letter.isMissing {
                    set(color, surface)
                    drawFrame(Rect(left + 1, top + 2, width - 2, bottom - top - 4), surface)
                }
            }
            if hasLine {
                set(color, surface)
                func line(_ line: (place: Double, thickness: Double)) {
                    let y = min((baseline + line.place).rounded(), bottom - line.thickness)
                    cairo_rectangle(surface, left, y, width, line.thickness)
                    cairo_fill(surface)
                }
                if attributes.contains(.underline) { line(fonts.underline) }
                if attributes.contains(.strikethrough) { line(fonts.strikethrough) }
            }
        }
        show(&batch, nil, nil, surface)
    }

    /// Draws the letters of a batch, and empties it.
    private func show(
        _ batch: inout Batch, _ font: OpaquePointer?, _ color: WindowTheme.RGB?, _ surface: OpaquePointer
    ) {
        if let color = batch.color, let font = batch.font, !batch.glyphs.isEmpty {
            set(color, surface)
            cairo_set_scaled_font(surface, font)
            cairo_show_glyphs(surface, batch.glyphs, CInt(batch.glyphs.count))
        }
        batch = Batch(font: font, color: color)
    }

    private func drawFrame(of cursor: Cursor, _ cells: CellGrid, _ surface: OpaquePointer) {
        let (column, row) = (cursor.place.column, cursor.place.row)
        let area = rect(CellSpan(row: row, columns: column..<column + 1).wholeCharacters(in: cells))
        set(theme.colors(of: cells[column, row].style).letters, surface)
        drawFrame(
            Rect(Double(area.x), Double(area.y), Double(area.width), Double(area.height)), surface)
    }

    /// A line of one pixel, just inside a rectangle.
    private func drawFrame(_ rect: Rect, _ surface: OpaquePointer) {
        cairo_set_line_width(surface, 1)
        cairo_rectangle(surface, rect.minX + 0.5, rect.minY + 0.5, rect.width - 1, rect.height - 1)
        cairo_stroke(surface)
    }
}
#endif
