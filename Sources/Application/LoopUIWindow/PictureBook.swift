// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIXCB
internal import LoopUI

/// The pictures of a frame as surfaces of Cairo's, which are kept while a frame shows them.
final class PictureBook {
    /// The pictures of the frame that is drawn, from back to front.
    var placed: [PlacedPicture] = [] { didSet { keepSurfaces() } }
    private var surfaces: [UInt64: OpaquePointer] = [:]

    deinit { for surface in surfaces.values { cairo_surface_destroy(surface) } }

    private func keepSurfaces() {
        let used = Set(placed.map(\.picture.number))
        for (number, surface) in surfaces where !used.contains(number) {
            cairo_surface_destroy(surface)
            surfaces[number] = nil
        }
    }

    /// Draws the visible parts of the pictures in a span of cells.
    ///
    /// - Parameters:
    ///   - span: The cells.
    ///   - cells: The frame's cells, which say where pictures are seen.
    ///   - cell: The size of a cell, in pixels.
    ///   - drawing: A drawing context of Cairo's.
    func draw(_ span: CellSpan, of cells: CellGrid, cell: Size, on drawing: OpaquePointer) {
        for placed in placed where placed.area.rows.contains(span.row) {
            let columns = span.columns.clamped(to: placed.area.columns)
            let row = CellRect(x: columns.lowerBound, y: span.row, width: columns.count, height: 1)
            let parts = row.parts { placed.isSeen(x: $0, y: $1, in: cells) }
            if parts.isEmpty { continue }
            cairo_save(drawing)
            for part in parts {
                cairo_rectangle(
                    drawing, Double(part.columns.lowerBound) * cell.width, Double(span.row) * cell.height,
                    Double(part.columns.count) * cell.width, cell.height)
            }
            cairo_clip(drawing)
            paint(placed, cell: cell, on: drawing)
            cairo_restore(drawing)
        }
    }

    private func paint(_ placed: PlacedPicture, cell: Size, on drawing: OpaquePointer) {
        let (area, picture) = (placed.area, placed.picture)
        cairo_translate(
            drawing, Double(area.columns.lowerBound) * cell.width, Double(area.rows.lowerBound) * cell.height)
        cairo_scale(
            drawing, Double(area.columns.count) * cell.width / Double(picture.width),
            Double(area.rows.count) * cell.height / Double(picture.height))
        let surface = surfaces[picture.number] ?? Self.surface(of: picture)
        surfaces[picture.number] = surface
        cairo_set_source_surface(drawing, surface, 0, 0)
        // The last pixels at the edges are not mixed with what is outside.
        cairo_pattern_set_extend(cairo_get_source(drawing), CAIRO_EXTEND_PAD)
        cairo_paint(drawing)
    }

    /// The picture as Cairo keeps pixels: words, whose colours are multiplied with the opacity.
    private static func surface(of picture: Picture) -> OpaquePointer? {
        let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, CInt(picture.width), CInt(picture.height))
        cairo_surface_flush(surface)
        // Without memory, Cairo gives a surface without pixels.
        guard let data = cairo_image_surface_get_data(surface) else { return surface }
        let stride = Int(cairo_image_surface_get_stride(surface))
        // SAFETY: the surface has as many rows of that many bytes.
        picture.bytes.withUnsafeBufferPointer { bytes in
            for y in 0..<picture.height {
                let row = UnsafeMutableRawPointer(data + y * stride)
                for x in 0..<picture.width {
                    let place = (y * picture.width + x) * 4
                    let opacity = UInt32(bytes[place + 3])
                    func part(_ index: Int) -> UInt32 { (UInt32(bytes[place + index]) * opacity + 127) / 255 }
                    row.storeBytes(
                        of: opacity << 24 | part(0) << 16 | part(1) << 8 | part(2), toByteOffset: x * 4,
                        as: UInt32.self)
                }
            }
        }
        cairo_surface_mark_dirty(surface)
        return surface
    }
}
#endif
