// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The content of a cell: a character or a piece of a picture, as a number.
///
/// The number of a character of one Unicode scalar is that scalar. Other characters get a number of their own, which
/// stays valid while a grid has the glyph in a cell. A glyph that is in no grid stays valid until glyphs of 65,536
/// other characters of several scalars have been made; afterwards, it stands for the replacement character.
public struct Glyph: Hashable, Sendable {
    package let bits: UInt32

    /// No glyph: the cell below shows through.
    public static var none: Glyph { Glyph(bits: 0) }
    /// The right half of a wide character.
    public static var continuation: Glyph { Glyph(bits: 0x7FFF_FFFF) }
    /// A blank, the glyph of an empty cell.
    public static var space: Glyph { Glyph(bits: 0x20) }

    private static let composed: UInt32 = 0x8000_0000
    private static let pictures: UInt32 = 0x4000_0000
    /// The characters of several scalars that glyphs stand for.
    static let characters = NumberTable<Character>(numbers: 0...composed - 1, recentCount: 1 << 16)

    init(bits: UInt32) { self.bits = bits }

    /// Makes the glyph of a character, as displays show it.
    ///
    /// Control characters become the replacement character, so that no text can command a terminal; a tab or an invisible
    /// character becomes a blank. Only the first 32 scalars of a character are shown.
    public init(_ character: Character) {
        guard let shown = character.shown else {
            bits = 0x20
            return
        }
        let scalars = shown.unicodeScalars
        let first = scalars[scalars.startIndex]
        let isSingle = scalars.index(after: scalars.startIndex) == scalars.endIndex
        // The numbers suffice for one new character a millisecond during 24 days.
        bits = isSingle ? first.value : Self.characters.make(shown).map { Self.composed | $0.number } ?? 0xFFFD
    }

    /// Whether the glyph is the number of a character of several scalars.
    package var isComposed: Bool { bits & Self.composed != 0 }

    /// The object that keeps the character of a composed glyph; `nil` for other glyphs, and if the character was not
    /// kept.
    var owner: Numbered<Character>? { isComposed ? Self.characters.find(bits & ~Self.composed) : nil }

    /// Makes the glyph of a cell in which the display shows a piece of a picture.
    ///
    /// Glyphs differ if the picture, the piece or the size differs: while a cell keeps its glyph, its pixels stay the
    /// same.
    ///
    /// - Parameters:
    ///   - picture: The picture.
    ///   - x: The column of the piece, in cells from the left edge of the picture.
    ///   - y: The row of the piece, in cells from the upper edge of the picture.
    ///   - columns: The number of pieces in a row.
    ///   - rows: The number of rows of pieces.
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

    /// Whether the display shows a piece of a picture in the cell.
    public var isPicture: Bool { bits >> 29 == Self.pictures >> 29 }

    /// The character; nil for ``none``, for a piece of a picture and for the right half of a wide character.
    public var character: Character? {
        if self == .none || self == .continuation { return nil }
        if isComposed { return owner?.value ?? "\u{FFFD}" }
        return Unicode.Scalar(bits).map(Character.init)
    }
}

/// One cell of a display: a glyph and its style.
///
/// A cell takes sixteen bytes without padding, so that rows are compared by their bytes.
public struct Cell: Hashable, Sendable {
    /// The content of the cell.
    public var glyph: Glyph
    /// The style of the glyph.
    public var style: Style

    /// A cell without a glyph and with a clear background: the cell below is seen.
    public static var clear: Cell { Cell(.none, Style()) }
    /// An empty cell with the display's own colours.
    public static var blank: Cell { Cell(.space, Style(on: .default)) }

    /// Makes a cell with a glyph and a style.
    public init(_ glyph: Glyph, _ style: Style) {
        self.glyph = glyph
        self.style = style
    }
}
