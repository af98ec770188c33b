// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension Canvas {
    /// How a picture becomes characters.
    public enum PictureStyle: Hashable, Sendable {
        /// Two pixels in each cell, in colours.
        case halfBlocks
        /// One character in each cell, chosen by brightness: for displays without colours or block characters.
        case characters
        /// All pixels of the picture, which the display shows itself: for displays that can show pictures.
        case pixels
    }

    /// Draws a picture that is stretched over a rectangle; parts outside of the canvas are left out.
    ///
    /// Each pixel that is drawn is the average of the area that it covers in the picture. Pixels of less than half
    /// opacity are left out, so that the cells below are seen.
    ///
    /// - Parameters:
    ///   - picture: The picture.
    ///   - rect: The rectangle that the picture fills; the edges are rounded to whole cells.
    ///   - style: How pixels become characters.
    /// - Complexity: O(pixels of the picture that are seen + cells).
    public mutating func draw(_ picture: Picture, in rect: Rect, style: PictureStyle = .halfBlocks) {
        let area = CellRect(rect)
        let seen = area.clipped(to: band.window)
        if seen.isEmpty || picture.width == 0 || picture.height == 0 { return }
        if style == .pixels {
            place(PlacedPicture(picture, in: area))
            return
        }
        let columns =
            seen.columns.lowerBound - area.columns.lowerBound..<seen.columns.upperBound - area.columns.lowerBound
        let rowsPerCell = style == .halfBlocks ? 2 : 1
        let scaler = PictureScaler(
            picture, columns: area.columns.count, rows: area.rows.count * rowsPerCell)
        for y in seen.rows {
            let first = (y - area.rows.lowerBound) * rowsPerCell
            let top = scaler.row(first, columns)
            let bottom = rowsPerCell == 2 ? scaler.row(first + 1, columns) : top
            for (x, (above, below)) in zip(seen.columns, zip(top, bottom)) {
                let drawn = style == .halfBlocks ? Self.blocks(above, below) : Self.sign(above)
                guard let (character, style) = drawn else { continue }
                fill(Rect(Double(x), Double(y), 1, 1), with: character, style: style)
            }
        }
    }

    private static func blocks(_ above: Pixel, _ below: Pixel) -> (Character, Style)? {
        switch (above.isSeen, below.isSeen) {
        case (true, true): ("▀", Style(above.color, on: below.color))
        case (true, false): ("▀", Style(above.color))
        case (false, true): ("▄", Style(below.color))
        case (false, false): nil
        }
    }

    /// The characters from dark to bright, for bright letters on a dark ground.
    private static let signs: [Character] = [" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"]

    private static func sign(_ pixel: Pixel) -> (Character, Style)? {
        guard pixel.isSeen else { return nil }
        return (signs[Int((pixel.brightness * Double(signs.count - 1)).rounded())], .plain)
    }
}
