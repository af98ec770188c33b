// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension Color {
    /// Returns a colour between this one and another; nil if the colours differ and one of them is not of red, green and
    /// blue.
    ///
    /// Only the terminal knows what its own colours look like.
    func mixed(with other: Color, part: Double) -> Color? {
        guard case .rgb(let red, let green, let blue) = kind,
            case .rgb(let otherRed, let otherGreen, let otherBlue) = other.kind
        else { return self == other ? self : nil }
        func between(_ start: UInt8, _ end: UInt8) -> UInt8 {
            UInt8(max(0, min(255, (Double(start) + (Double(end) - Double(start)) * part).rounded())))
        }
        return .rgb(between(red, otherRed), between(green, otherGreen), between(blue, otherBlue))
    }
}

extension Cell {
    /// Returns this cell, blended with the cell of a picture that is drawn over it.
    ///
    /// A cell has one character: below an `alpha` of a half it is this cell's, which gets paler, and from a half on it is
    /// the picture's, which gets stronger. Letters in the terminal's own colours are dim instead of pale.
    ///
    /// - Parameters:
    ///   - picture: The content that is seen at an `alpha` of 1.
    ///   - alpha: The part of the picture that is seen, from 0 to 1.
    func blended(with picture: Cell, alpha: Double) -> Cell {
        if self == picture { return self }
        var cell = alpha < 0.5 ? self : picture
        let (below, above) = (style, picture.style)
        cell.style.background =
            below.background.mixed(with: above.background, part: alpha) ?? cell.style.background
        if glyph == picture.glyph, below.attributes == above.attributes {
            cell.style.foreground =
                below.foreground.mixed(with: above.foreground, part: alpha) ?? cell.style.foreground
            return cell
        }
        let strength = abs(2 * alpha - 1)
        if let letters = cell.style.background.mixed(with: cell.style.foreground, part: strength),
            cell.style.background != cell.style.foreground
        {
            cell.style.foreground = letters
        } else if strength < 0.5 {
            cell.style.attributes.insert(.dim)
        }
        return cell
    }
}

extension CellGrid {
    /// Blends another grid of this size over this one.
    ///
    /// - Parameters:
    ///   - picture: The content that is seen at an `alpha` of 1.
    ///   - alpha: The part of the picture that is seen, from 0 to 1.
    ///   - clip: The rectangle whose rows are blended.
    /// - Complexity: O(cells of the rows).
    mutating func blend(_ picture: CellGrid, alpha: Double, clip: CellRect) {
        // Whole rows have the characters of one of the two: no wide one is cut.
        for y in clip.clipped(to: bounds).rows where !hasRow(y, of: picture) {
            for x in 0..<width { self[x, y] = self[x, y].blended(with: picture[x, y], alpha: alpha) }
            keepRow(y, from: picture)
        }
    }
}
