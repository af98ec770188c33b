// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIXCB
internal import LoopUI

/// The letters of a monospace font, each shaped once: Pango finds the font that has the letter, and Cairo draws it.
final class FontBook {
    /// A letter, ready to be drawn at a cell.
    struct Letter {
        /// The glyphs that Cairo draws, relative to the left end of the cell's baseline.
        var glyphs: [(font: OpaquePointer, glyph: cairo_glyph_t)]
        /// Whether no font has the letter.
        var isMissing = false
    }

    /// The size of a cell, in pixels; whole numbers.
    let cell: Size
    /// The distance from the upper edge of a cell down to the baseline, in pixels.
    let ascent: Double
    /// The distance from the baseline down to lines below and through letters, and the thickness of these lines, in
    /// pixels.
    let underline: (place: Double, thickness: Double)
    let strikethrough: (place: Double, thickness: Double)

    private struct Key: Hashable {
        let glyph: Glyph
        /// Bold and italic alone.
        let attributes: Style.Attributes
        let width: Int
    }

    private let context: OpaquePointer
    private let description: OpaquePointer
    private var letters: [Key: Letter] = [:]

    /// Makes the letters of a font, such as `monospace 12`.
    ///
    /// - Parameters:
    ///   - name: The family, the style and the size in typographic points, in the form that Pango reads.
    ///   - resolution: The number of pixels in an inch.
    init(_ name: String, resolution: Double) throws(WindowDisplayError) {
        guard let map = pango_cairo_font_map_get_default(), let context = pango_font_map_create_context(map),
            let description = pango_font_description_from_string(name)
        else { throw .noFont(name) }
        self.context = context
        self.description = description
        if pango_font_description_get_size(description) == 0 {
            pango_font_description_set_size(description, 12 * PANGO_SCALE)
        }
        pango_cairo_context_set_resolution(context, resolution)
        guard let metrics = pango_context_get_metrics(context, description, nil) else {
            pango_font_description_free(description)
            rlx_unref(UnsafeMutableRawPointer(context))
            throw .noFont(name)
        }
        defer { pango_font_metrics_unref(metrics) }
        func pixels(_ units: CInt) -> Double { Double(units) / Double(PANGO_SCALE) }
        ascent = pixels(pango_font_metrics_get_ascent(metrics)).rounded(.up)
        let height = ascent + pixels(pango_font_metrics_get_descent(metrics)).rounded(.up)
        let width = pixels(pango_font_metrics_get_approximate_digit_width(metrics)).rounded()
        cell = Size(width, height)
        // Without any font on the system, all metrics are 0.
        let hasFont = width >= 1 && height >= 1
        underline = (
            -pixels(pango_font_metrics_get_underline_position(metrics)),
            max(1, pixels(pango_font_metrics_get_underline_thickness(metrics)).rounded())
        )
        strikethrough = (
            -pixels(pango_font_metrics_get_strikethrough_position(metrics)),
            max(1, pixels(pango_font_metrics_get_strikethrough_thickness(metrics)).rounded())
        )
        if !hasFont { throw .noFont(name) }
    }

    deinit {
        for letter in letters.values { release(letter) }
        pango_font_description_free(description)
        rlx_unref(UnsafeMutableRawPointer(context))
    }

    private func release(_ letter: Letter) {
        for (font, _) in letter.glyphs { cairo_scaled_font_destroy(font) }
    }

    /// The maximum number of letters that are kept, more than a screen shows; beyond it all letters are shaped again,
    /// so that a hostile text takes no memory.
    private static let maxLetters = 1 << 14

    /// Returns the letter of a glyph, which is shaped at the first call.
    ///
    /// - Parameters:
    ///   - glyph: The content of the cell.
    ///   - attributes: The attributes, of which only bold and italic are used.
    ///   - width: The number of cells that the letter takes.
    func letter(_ glyph: Glyph, _ attributes: Style.Attributes, width: Int) -> Letter {
        let key = Key(glyph: glyph, attributes: attributes.intersection([.bold, .italic]), width: width)
        if let known = letters[key] { return known }
        if letters.count >= Self.maxLetters {
            for letter in letters.values { release(letter) }
            letters = [:]
        }
        let letter = shape(key)
        letters[key] = letter
        return letter
    }

    private func shape(_ key: Key) -> Letter {
        guard let character = key.glyph.character else { return Letter(glyphs: []) }
        let (layout, own) = (pango_layout_new(context), pango_font_description_copy(description))
        guard let layout, let own else { return Letter(glyphs: []) }
        defer {
            pango_font_description_free(own)
            rlx_unref(UnsafeMutableRawPointer(layout))
        }
        if key.attributes.contains(.bold) { pango_font_description_set_weight(own, PANGO_WEIGHT_BOLD) }
        if key.attributes.contains(.italic) { pango_font_description_set_style(own, PANGO_STYLE_ITALIC) }
        pango_layout_set_font_description(layout, own)
        var text = String(character)
        text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { pango_layout_set_text(layout, $0.baseAddress, CInt($0.count)) }
        }
        let room = cell.width * Double(key.width)
        var width = self.width(of: layout)
        if width > room + 1 {
            // Another font than the main one, with wider letters.
            let size = Double(pango_font_description_get_size(own)) * room / width
            pango_font_description_set_size(own, CInt(size))
            pango_layout_set_font_description(layout, own)
            width = self.width(of: layout)
        }
        guard let glyphs = glyphs(of: layout, from: ((room - width) / 2).rounded()) else {
            return Letter(glyphs: [], isMissing: true)
        }
        return Letter(glyphs: glyphs)
    }

    private func width(of layout: OpaquePointer) -> Double {
        var area = PangoRectangle()
        pango_layout_get_extents(layout, nil, &area)
        return Double(area.width) / Double(PANGO_SCALE)
    }

    /// The glyphs of a layout's one line; nil if a font lacks one.
    private func glyphs(of layout: OpaquePointer, from start: Double) -> [(OpaquePointer, cairo_glyph_t)]? {
        var glyphs: [(OpaquePointer, cairo_glyph_t)] = []
        var x = start
        var node = pango_layout_get_line_readonly(layout, 0)?.pointee.runs
        while let run = node {
            node = run.pointee.next
            // SAFETY: the nodes of a line's runs are glyph items, which live as long as the layout.
            guard let item = run.pointee.data?.assumingMemoryBound(to: PangoGlyphItem.self).pointee,
                let string = item.glyphs?.pointee, let font = rlx_scaled_font(item.item.pointee.analysis.font)
            else { continue }
            for info in UnsafeBufferPointer(start: string.glyphs, count: Int(string.num_glyphs)) {
                let scale = Double(PANGO_SCALE)
                defer { x += Double(info.geometry.width) / scale }
                if info.glyph == 0x0FFF_FFFF { continue }  // PANGO_GLYPH_EMPTY
                if info.glyph & 0x1000_0000 != 0 {  // PANGO_GLYPH_UNKNOWN_FLAG
                    for (font, _) in glyphs { cairo_scaled_font_destroy(font) }
                    return nil
                }
                let glyph = cairo_glyph_t(
                    index: UInt(info.glyph), x: x + Double(info.geometry.x_offset) / scale,
                    y: Double(info.geometry.y_offset) / scale)
                glyphs.append((cairo_scaled_font_reference(font), glyph))
            }
        }
        return glyphs
    }
}
#endif
