// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
import CLoopUIXCB
import LoopUI
import RunLoopsTestSupport
import Testing

@testable import LoopUIWindow

/// From cells to pixels, without a server.
///
/// On the main actor, as a window is: Pango loads its fonts once for each thread that asks.
@MainActor @Suite(.ownThread) struct DrawingTests {
    // MARK: Changes

    private func grid(_ rows: String...) -> CellGrid {
        var grid = CellGrid(width: 20, height: rows.count)
        for (row, text) in rows.enumerated() {
            var canvas = Canvas(size: Size(20, 1))
            canvas.write(text, at: .zero)
            grid.lay(canvas.grid, x: 0, y: row, clip: grid.bounds)
        }
        return grid
    }

    @Test func `Only changed cells are drawn again`() {
        let old = grid("hello", "world", "")
        #expect(CellSpan.changes(from: old, to: old).isEmpty)
        #expect(
            CellSpan.changes(from: old, to: grid("hallo", "world", "x"))
                == [CellSpan(row: 0, columns: 1..<2), CellSpan(row: 2, columns: 0..<1)])
    }

    @Test func `Changes in a row with fewer than four cells between them are drawn as one`() {
        let old = grid("0123456789")
        #expect(CellSpan.changes(from: old, to: grid("x123x56789")) == [CellSpan(row: 0, columns: 0..<5)])
        #expect(
            CellSpan.changes(from: old, to: grid("x1234x6789"))
                == [CellSpan(row: 0, columns: 0..<1), CellSpan(row: 0, columns: 5..<6)])
    }

    @Test func `Changes include whole wide characters, all cursor cells, and all cells after a size change`() {
        let spans = CellSpan.changes(from: grid("日本語"), to: grid("日x語"))
        #expect(spans == [CellSpan(row: 0, columns: 2..<6)])
        let wide = grid("日本語")
        #expect(
            CellSpan.changes(from: wide, to: wide, cursors: [CellPlace(column: 3, row: 0)])
                == [CellSpan(row: 0, columns: 2..<4)])
        let all = CellSpan.changes(from: CellGrid(width: 0, height: 0), to: wide)
        #expect(all == [CellSpan(row: 0, columns: 0..<20)])
        #expect(CellSpan.changes(from: wide, to: CellGrid(width: 0, height: 0)).isEmpty)
    }

    // MARK: Pixels

    /// A picture in memory.
    private final class Image {
        private let surface: OpaquePointer
        let drawing: OpaquePointer
        let width: Int
        let height: Int

        init(_ width: Int, _ height: Int) throws {
            (self.width, self.height) = (width, height)
            surface = try #require(cairo_image_surface_create(CAIRO_FORMAT_RGB24, CInt(width), CInt(height)))
            drawing = try #require(cairo_create(surface))
        }

        deinit {
            cairo_destroy(drawing)
            cairo_surface_destroy(surface)
        }

        /// Red, green and blue of each pixel, as 0xRRGGBB.
        var pixels: [UInt32] {
            cairo_surface_flush(surface)
            let stride = Int(cairo_image_surface_get_stride(surface))
            let data = UnsafeRawPointer(cairo_image_surface_get_data(surface))
            return (0..<height).flatMap { y in
                (0..<width).map { x in
                    (data?.load(fromByteOffset: y * stride + x * 4, as: UInt32.self) ?? 0) & 0xFF_FFFF
                }
            }
        }
    }

    private func painter() throws -> CellPainter {
        CellPainter(fonts: try FontBook("monospace 10", resolution: 96), theme: .dark)
    }

    private func image(of grid: CellGrid, _ painter: CellPainter, cursor: Cursor? = nil) throws -> Image {
        let cell = painter.fonts.cell
        let image = try Image(grid.width * Int(cell.width), grid.height * Int(cell.height))
        for span in CellSpan.changes(from: CellGrid(width: 0, height: 0), to: grid) {
            painter.draw(span, of: grid, cursor: cursor, on: image.drawing)
        }
        return image
    }

    @Test func `A picture with a scale has the same cells, and letters with the pixels of the scale`() throws {
        let painter = try painter()
        let (width, height) = (Int(painter.fonts.cell.width), Int(painter.fonts.cell.height))
        var canvas = Canvas(size: Size(3, 1))
        canvas.write("A", at: .zero)
        canvas.fill(Rect(2, 0, 1, 1), style: Style(on: .rgb(1, 2, 3)))
        func pixels(scale: Int) throws -> [UInt32] {
            let picture = try #require(MemoryPicture(width: 3 * width, height: height, scale: scale))
            #expect(picture.stride >= 3 * width * scale * 4 && picture.rows == height * scale)
            painter.clear(picture.drawing)
            painter.draw(CellSpan(row: 0, columns: 0..<3), of: canvas.grid, cursor: nil, on: picture.drawing)
            picture.finishDrawing()
            var bytes = [UInt8](repeating: 0, count: picture.stride * picture.rows)
            bytes.withUnsafeMutableBytes { bytes in
                if let memory = bytes.baseAddress { picture.copy(picture.area, to: memory) }
            }
            return bytes.withUnsafeBytes { bytes in
                (0..<picture.rows).flatMap { y in
                    (0..<3 * width * scale).map { x in
                        bytes.load(fromByteOffset: y * picture.stride + x * 4, as: UInt32.self) & 0xFF_FFFF
                    }
                }
            }
        }
        let (plain, double) = (try pixels(scale: 1), try pixels(scale: 2))
        #expect(double.count == 4 * plain.count)
        var fine = 0
        for y in 0..<height {
            for x in 0..<3 * width {
                let corner = 2 * y * 6 * width + 2 * x
                let four = Set([0, 1, 6 * width, 6 * width + 1].map { double[corner + $0] })
                // Letters are not those of the scale 1 with four pixels for each; grounds are.
                if x < width { fine += four.count > 1 ? 1 : 0 } else { #expect(four == [plain[y * 3 * width + x]]) }
            }
        }
        #expect(fine > 0 && plain[2 * width] == 0x010203)
    }

    @Test func `A window has the greatest scale of its screens, as long as its picture is not too large`() throws {
        let (one, two) = (try #require(OpaquePointer(bitPattern: 1)), try #require(OpaquePointer(bitPattern: 2)))
        var scales = OutputScales()
        #expect(scales.greatest == 1)
        scales.set(2, of: one)
        scales.set(3, of: two)
        #expect(scales.greatest == 3)
        scales.enter(one)
        #expect(scales.greatest == 2)
        scales.enter(two)
        #expect(scales.greatest == 3)
        scales.leave(two)
        #expect(scales.greatest == 2)
        #expect(SurfaceSize(width: 640, height: 480).scale(2) == 2)
        #expect(SurfaceSize(width: 640, height: 480).scale(-1) == 1)
        #expect(SurfaceSize(width: 640, height: 480).scale(.max) == 8)
        #expect(SurfaceSize(width: 8192, height: 4096).scale(2) == 1)
        #expect(SurfaceSize(width: 16384, height: 1).scale(2) == 1)
    }

    @Test func `Colours are resolved by the style, the palette and the theme`() throws {
        let painter = try painter()
        var grid = CellGrid(width: 6, height: 1)
        let backgrounds: [Color] = [.default, .red, .palette(16 + 36 * 5), .palette(255), .rgb(1, 2, 3)]
        for (column, background) in backgrounds.enumerated() {
            grid[column, 0] = Cell(.space, Style(on: background))
        }
        grid[5, 0] = Cell(.space, Style(.rgb(9, 8, 7), on: .red, .inverse))
        let image = try image(of: grid, painter)
        let middles = (0..<6).map { image.pixels[Int((Double($0) + 0.5) * painter.fonts.cell.width)] }
        #expect(middles == [0x16181D, 0xE5686F, 0xFF0000, 0xEEEEEE, 0x010203, 0x090807])
    }

    @Test func `A picture is drawn in pixels behind the cells that cover it, and its holes show the background`()
        throws
    {
        let painter = try painter()
        let cell = painter.fonts.cell
        let (width, height) = (Int(cell.width), Int(cell.height))
        // One pixel for each of the window's.
        let (across, down) = (4 * width, 2 * height)
        var bytes: [UInt8] = []
        for index in 0..<across * down {
            let isHole = index == 1
            bytes += isHole ? [255, 255, 255, 0] : [UInt8(index % 251), UInt8(index % 13), UInt8(index / across), 255]
        }
        let picture = Picture(width: across, height: down, bytes: bytes)
        var canvas = Canvas(size: Size(6, 3))
        canvas.fill(canvas.bounds, style: Style(on: .default))
        canvas.draw(picture, in: Rect(1, 1, 4, 2), style: .pixels)
        canvas.fill(Rect(2, 2, 1, 1), style: Style(on: .rgb(1, 2, 3)))
        painter.pictures.placed = [PlacedPicture(picture, in: CellRect(x: 1, y: 1, width: 4, height: 2))]
        let pixels = try image(of: canvas.grid, painter).pixels
        for y in 0..<3 * height {
            for x in 0..<6 * width {
                let (column, row, index) = (x / width, y / height, (y - height) * across + x - width)
                var expected: UInt32 = 0x16181D
                if column == 2, row == 2 {
                    expected = 0x010203
                } else if (1..<5).contains(column), row >= 1, index != 1 {
                    expected = UInt32(index % 251) << 16 | UInt32(index % 13) << 8 | UInt32(index / across)
                }
                try #require(pixels[y * 6 * width + x] == expected, "pixel \(x), \(y)")
            }
        }
    }

    @Test func `A block cursor inverts its cell, and any other cursor draws a frame around its cell`() throws {
        let painter = try painter()
        let grid = CellGrid(width: 3, height: 1)
        let cell = painter.fonts.cell
        let inside = Int(cell.height / 2) * 3 * Int(cell.width) + Int(cell.width * 1.5)
        let place = CellPlace(column: 1, row: 0)
        let block = try image(of: grid, painter, cursor: Cursor(place: place, isBlock: true)).pixels
        let frame = try image(of: grid, painter, cursor: Cursor(place: place, isBlock: false)).pixels
        #expect(block[inside] == 0xD5D8DF && block[Int(cell.width)] == 0xD5D8DF)
        #expect(frame[inside] == 0x16181D && frame[Int(cell.width)] == 0xD5D8DF)
        #expect(block[0] == 0x16181D && frame[0] == 0x16181D)
    }

    @Test func `Border lines meet at the edges of adjacent cells`() throws {
        let painter = try painter()
        var canvas = Canvas(size: Size(3, 3))
        for border in [Canvas.Border.single, .rounded, .double] {
            canvas.border(canvas.bounds, border)
            var grid = CellGrid(width: 3, height: 3)
            grid.lay(canvas.grid, x: 0, y: 0, clip: grid.bounds)
            let image = try image(of: grid, painter)
            let ground: UInt32 = 0x16181D
            // From corner to corner, each column of pixels has some of the upper line, and each row some of the left one.
            let pixels = image.pixels
            let (width, height) = (image.width, image.height)
            let cell = painter.fonts.cell
            for x in Int(cell.width * 0.6)..<Int(cell.width * 2.4) {
                #expect((0..<Int(cell.height)).contains { pixels[$0 * width + x] != ground }, "\(border), column \(x)")
            }
            for y in Int(cell.height * 0.6)..<Int(cell.height * 2.4) {
                #expect((0..<Int(cell.width)).contains { pixels[y * width + $0] != ground }, "\(border), row \(y)")
            }
            // Nothing runs on beyond a corner.
            #expect((0..<height).allSatisfy { pixels[$0 * width] == ground })
        }
    }

    @Test func `Drawing only the changes gives the same pixels as drawing the whole grid`() throws {
        var random = SeededRandom(7)
        let painter = try painter()
        let texts = ["W", "j", "f", "|", "█", "╬", "┼", "日本", "g̈", "👍", " ", "   ", "Ägypten"]
        let attributes: [Style.Attributes] = [
            [], .italic, [.italic, .bold], .underline, .inverse, .dim, .strikethrough,
        ]
        var shown = CellGrid(width: 24, height: 4)
        let grown = try image(of: shown, painter)
        var cursor: Cursor?
        for _ in 0..<200 {
            var canvas = Canvas(size: Size(24, 4))
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let style = Style(
                    .palette(.random(in: 0..<16, using: &random)),
                    on: Bool.random(using: &random) ? .default : .palette(.random(in: 0..<16, using: &random)),
                    attributes.randomElement(using: &random) ?? [])
                let place = Point(
                    Double(Int.random(in: 0..<24, using: &random)), Double(Int.random(in: 0..<4, using: &random)))
                canvas.write(texts.randomElement(using: &random) ?? "", at: place, style: style)
            }
            var next = shown
            next.lay(canvas.grid, x: 0, y: 0, clip: next.bounds)
            let old = cursor
            cursor =
                Int.random(in: 0..<4, using: &random) == 0
                ? nil
                : Cursor(
                    place: CellPlace(
                        column: .random(in: 0..<24, using: &random), row: .random(in: 0..<4, using: &random)),
                    isBlock: .random(using: &random))
            let places = [old, cursor].compactMap { $0?.place }
            for span in CellSpan.changes(from: shown, to: next, cursors: places) {
                painter.draw(span, of: next, cursor: cursor, on: grown.drawing)
            }
            shown = next
            let whole = try image(of: next, painter, cursor: cursor)
            let isEqual = grown.pixels == whole.pixels
            #expect(isEqual, "\(next.text)")
            if !isEqual { return }
        }
    }

    @Test func `A missing font is replaced, and the width of a cell is a whole number of pixels`() throws {
        let fonts = try FontBook("No Such Font At All 11", resolution: 120)
        #expect(fonts.cell.width >= 1 && fonts.cell.width == fonts.cell.width.rounded())
        #expect(fonts.cell.height > fonts.ascent)
        let larger = try FontBook("monospace 20", resolution: 96)
        #expect(larger.cell.height > (try FontBook("monospace 10", resolution: 96)).cell.height)
    }
}
#endif
