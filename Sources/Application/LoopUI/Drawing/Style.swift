// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A colour: the terminal's own, one of its palette, or red, green and blue.
public struct Color: Hashable, Sendable {
    // The upper byte is the kind: 0 the default, 1 the palette, 2 direct, 255 clear.
    let bits: UInt32

    private init(bits: UInt32) { self.bits = bits }

    /// The colour that the user has chosen for the terminal.
    public static var `default`: Color { Color(bits: 0) }
    /// No colour: what lies below shows through.
    ///
    /// A clear foreground is shown in the default colour.
    public static var clear: Color { Color(bits: 0xFF00_0000) }

    /// Returns a colour of the palette; the user has chosen the first 16.
    public static func palette(_ index: UInt8) -> Color { Color(bits: 0x0100_0000 | UInt32(index)) }

    /// A colour of red, green and blue, each from 0 to 255.
    ///
    /// A display with fewer colours shows the nearest colour that it has.
    public static func rgb(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Color {
        Color(bits: 0x0200_0000 | UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue))
    }

    /// The palette's black.
    public static var black: Color { palette(0) }
    /// The palette's red.
    public static var red: Color { palette(1) }
    /// The palette's green.
    public static var green: Color { palette(2) }
    /// The palette's yellow.
    public static var yellow: Color { palette(3) }
    /// The palette's blue.
    public static var blue: Color { palette(4) }
    /// The palette's magenta.
    public static var magenta: Color { palette(5) }
    /// The palette's cyan.
    public static var cyan: Color { palette(6) }
    /// The palette's white.
    public static var white: Color { palette(7) }
    /// The palette's grey.
    public static var gray: Color { palette(8) }

    /// The kinds of colours that a display has to distinguish.
    public enum Kind: Hashable, Sendable {
        /// The display's own colour.
        case `default`
        /// A colour of the palette, by its number.
        case palette(UInt8)
        /// A colour of red, green and blue, each from 0 to 255.
        case rgb(red: UInt8, green: UInt8, blue: UInt8)
        /// No colour.
        case clear
    }

    /// The kind of the colour, with its number in the palette or its parts.
    public var kind: Kind {
        switch bits >> 24 {
        case 0: .default
        case 1: .palette(UInt8(truncatingIfNeeded: bits))
        case 2:
            .rgb(
                red: UInt8(truncatingIfNeeded: bits >> 16), green: UInt8(truncatingIfNeeded: bits >> 8),
                blue: UInt8(truncatingIfNeeded: bits))
        default: .clear
        }
    }
}

/// How text looks: its colours and attributes, and the link that it leads to.
public struct Style: Hashable, Sendable {
    /// The attributes of the text, such as bold and underlined.
    public struct Attributes: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt32

        /// Makes the attributes with these bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Heavier letters.
        public static var bold: Attributes { Attributes(rawValue: 1) }
        /// Paler letters.
        public static var dim: Attributes { Attributes(rawValue: 2) }
        /// Slanted letters.
        public static var italic: Attributes { Attributes(rawValue: 4) }
        /// A line below the letters.
        public static var underline: Attributes { Attributes(rawValue: 8) }
        /// Foreground and background exchanged.
        public static var inverse: Attributes { Attributes(rawValue: 16) }
        /// A line through the letters.
        public static var strikethrough: Attributes { Attributes(rawValue: 32) }

        /// The bits that attributes have; a style keeps no others.
        static let mask: UInt32 = 63
    }

    /// The colour of the letters.
    public var foreground: Color
    /// The colour behind the letters.
    public var background: Color
    /// The attributes in the lowest 6 bits, and the number of the link in the others: a cell has no padding.
    private var bits: UInt32

    /// The attributes of the text, such as bold and underlined.
    public var attributes: Attributes {
        get { Attributes(rawValue: bits & Attributes.mask) }
        set { bits = bits & ~Attributes.mask | newValue.rawValue & Attributes.mask }
    }

    /// The link that the text leads to.
    ///
    /// A style has the number of its link and does not keep the link itself. The link lasts while a cell or a ``Label`` shows it, while the
    /// program keeps the ``Link``, and until 4,096 links with other addresses have been made. Afterwards it is `nil`, and the text
    /// leads nowhere.
    ///
    /// A display that cannot open links shows the text alone: see ``DisplayAbilities/hasLinks``.
    public var link: Link? {
        get { Link(number: linkNumber) }
        set { bits = bits & Attributes.mask | (newValue?.owner?.number ?? 0) << 6 }
    }

    /// The number of the link; 0 without one.
    package var linkNumber: UInt32 { bits >> 6 }

    /// The style of letters in the default colour on a clear background.
    public static var plain: Style { Style() }

    /// Makes a style of these colours and attributes, and of a link that the text leads to.
    public init(
        _ foreground: Color = .default, on background: Color = .clear, _ attributes: Attributes = [], link: Link? = nil
    ) {
        self.foreground = foreground
        self.background = background
        bits = attributes.rawValue & Attributes.mask
        if let link { self.link = link }
    }
}
