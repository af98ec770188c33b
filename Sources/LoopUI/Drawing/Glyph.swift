// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What stands in a cell: a character, as a number.
///
/// A character of one Unicode scalar is that scalar. Others get a number of their own, which they keep.
public struct Glyph: Hashable, Sendable {
    package let bits: UInt32

    /// Nothing: what lies below shows through.
    public static var none: Glyph { Glyph(bits: 0) }
    /// The right half of a wide character.
    public static var continuation: Glyph { Glyph(bits: 0x7FFF_FFFF) }
    /// An empty cell.
    public static var space: Glyph { Glyph(bits: 0x20) }

    private static let composed: UInt32 = 0x8000_0000
    private static let pictures: UInt32 = 0x4000_0000
    /// More composed characters than any text has; a hostile text gets the replacement character.
    private static let mostComposed = 1 << 16
    private static let table = Mutex<(numbers: [Character: UInt32], characters: [Character])>(([:], []))

    init(bits: UInt32) { self.bits = bits }

    /// The glyph of a character.
    ///
    /// Control characters become the replacement character, so that no text can command a terminal.
    public init(_ character: Character) {
        let scalars = character.unicodeScalars
        let first = scalars[scalars.startIndex]
        if scalars.index(after: scalars.startIndex) == scalars.endIndex {
            let isControl = first.value < 0x20 || (0x7F..<0xA0).contains(first.value)
            bits = isControl ? 0xFFFD : first.value
            return
        }
        bits = Self.table.withLock { table in
            if let known = table.numbers[character] { return known }
            let isControl = scalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }
            if isControl || table.characters.count >= Self.mostComposed { return 0xFFFD }
            let number = Self.composed | UInt32(table.characters.count)
            table.characters.append(character)
            table.numbers[character] = number
            return number
        }
    }

    /// The glyph of a cell in which the display shows a piece of a picture.
    ///
    /// Another picture, another piece and another size have another glyph: where a cell stays as it is, the pixels do.
    ///
    /// - Parameters:
    ///   - picture: The picture.
    ///   - x: The piece, in cells from the left edge of the picture.
    ///   - y: The piece, in cells from the upper edge.
    ///   - columns: How many pieces there are in a row.
    ///   - rows: How many rows there are.
    init(_ picture: Picture, x: Int, y: Int, columns: Int, rows: Int) {
        var mixed = Self.mix(0, picture.number)
        for part in [x, y, columns, rows] { mixed = Self.mix(mixed, UInt64(bitPattern: Int64(part))) }
        // Between the scalars and the composed characters, and not the sign of a right half.
        bits = Self.pictures | UInt32(truncatingIfNeeded: mixed >> 35)
    }

    /// The finaliser of SplitMix64.
    private static func mix(_ state: UInt64, _ part: UInt64) -> UInt64 {
        var mixed = (state ^ part) &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// Whether the display shows a picture there.
    public var isPicture: Bool { bits >> 29 == Self.pictures >> 29 }

    /// The character; nil for nothing, for a picture and for the right half of a wide one.
    public var character: Character? {
        if self == .none || self == .continuation { return nil }
        if bits & Self.composed == 0 { return Unicode.Scalar(bits).map(Character.init) }
        return Self.table.withLock { $0.characters[Int(bits & ~Self.composed)] }
    }
}

/// One place of a display: a glyph and its style.
///
/// Sixteen bytes without a gap, so that rows are compared by their bytes.
public struct Cell: Hashable, Sendable {
    /// What stands there.
    public var glyph: Glyph
    /// How it looks.
    public var style: Style

    /// Nothing at all: what lies below is seen.
    public static var clear: Cell { Cell(.none, Style()) }
    /// An empty place with the display's own colours.
    public static var blank: Cell { Cell(.space, Style(on: .default)) }

    /// The cell of a glyph and a style.
    public init(_ glyph: Glyph, _ style: Style) {
        self.glyph = glyph
        self.style = style
    }
}
