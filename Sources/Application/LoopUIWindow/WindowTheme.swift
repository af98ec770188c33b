// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import LoopUI

/// The colours of a window, which correspond to the colours that a user chooses for a terminal.
public struct WindowTheme: Hashable, Sendable {
    /// A colour of red, green and blue, each from 0 to 255.
    public struct RGB: Hashable, Sendable {
        /// The part of red.
        public var red: UInt8
        /// The part of green.
        public var green: UInt8
        /// The part of blue.
        public var blue: UInt8

        /// Makes a colour from six hexadecimal digits, such as `0x1D1F21`.
        public init(_ digits: UInt32) {
            red = UInt8(truncatingIfNeeded: digits >> 16)
            green = UInt8(truncatingIfNeeded: digits >> 8)
            blue = UInt8(truncatingIfNeeded: digits)
        }

        /// Returns a colour between this one and another, nearer to `other` the greater `part` is.
        func mixed(with other: RGB, part: Double) -> RGB {
            func mix(_ own: UInt8, _ other: UInt8) -> UInt32 {
                UInt32((Double(own) * (1 - part) + Double(other) * part).rounded())
            }
            return RGB(mix(red, other.red) << 16 | mix(green, other.green) << 8 | mix(blue, other.blue))
        }
    }

    /// The colour of letters.
    public var foreground: RGB
    /// The colour behind letters.
    public var background: RGB
    /// The first 16 colours of the palette.
    ///
    /// - Precondition: there are 16.
    public var palette: [RGB] {
        didSet { precondition(palette.count == 16, "A theme has 16 colours, not \(palette.count).") }
    }

    /// The theme of light letters on a dark background.
    public static let dark = WindowTheme(
        foreground: 0xD5D8DF, background: 0x16181D,
        palette: [
            0x23262E, 0xE5686F, 0x8CC570, 0xE2B664, 0x61A6EA, 0xC382DD, 0x55B8C2, 0xB9BEC9,
            0x6B7280, 0xF28B90, 0xA8D992, 0xF0CE8C, 0x8AC0F5, 0xD6A3EA, 0x80D0D8, 0xF4F5F7,
        ])
    /// The theme of dark letters on a light background.
    public static let light = WindowTheme(
        foreground: 0x24272E, background: 0xFBFBFA,
        palette: [
            0x24272E, 0xC4303B, 0x3F7F2A, 0x96690A, 0x1F66B8, 0x8B3FA8, 0x147A86, 0xC9CCD3,
            0x7A808C, 0xDA4A54, 0x559A3E, 0xB58217, 0x3A82D6, 0xA65BC4, 0x2C97A4, 0xE6E8EC,
        ])

    private init(foreground: UInt32, background: UInt32, palette: [UInt32]) {
        self.foreground = RGB(foreground)
        self.background = RGB(background)
        self.palette = palette.map(RGB.init)
    }

    // MARK: Looking up

    /// Returns a colour of the palette by its number: the first 16 are the theme's, and the others are the cube and the
    /// greys that all terminals have.
    func color(_ index: UInt8) -> RGB {
        if index < 16 { return palette[Int(index)] }
        if index >= 232 { return RGB((UInt32(index - 232) * 10 + 8) * 0x01_0101) }
        let number = UInt32(index - 16)
        func level(_ step: UInt32) -> UInt32 { step == 0 ? 0 : 55 + step * 40 }
        return RGB(level(number / 36) << 16 | level(number / 6 % 6) << 8 | level(number % 6))
    }

    private func color(_ color: Color, else own: RGB) -> RGB {
        switch color.kind {
        case .default, .clear: own
        case .palette(let index): self.color(index)
        case .rgb(let red, let green, let blue): RGB(UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue))
        }
    }

    /// Returns the colours of letters and background for a style.
    func colors(of style: Style) -> (letters: RGB, ground: RGB) {
        var letters = color(style.foreground, else: foreground)
        var ground = color(style.background, else: background)
        if style.attributes.contains(.inverse) { swap(&letters, &ground) }
        if style.attributes.contains(.dim) { letters = letters.mixed(with: ground, part: 0.45) }
        return (letters, ground)
    }
}
#endif
