// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoopUI

/// The bytes of a glyph.
enum GlyphBytes {
    /// Appends the bytes of a glyph, which is to take a number of columns on the terminal.
    ///
    /// - Returns: Whether the glyph has this width on every terminal.
    static func append(_ glyph: Glyph, columns: Int, isUnicode: Bool, to bytes: inout [UInt8]) -> Bool {
        let bits = glyph.bits
        if (0x20..<0x7F).contains(bits) {
            bytes.append(UInt8(bits))
            if columns == 2 { bytes.append(0x20) }
            return true
        }
        guard let character = glyph.character else {
            // Half of a wide character, without the other half.
            bytes += Array(repeating: 0x20, count: columns)
            return true
        }
        guard isUnicode else {
            bytes += Array(repeating: plain(character), count: columns)
            return true
        }
        let width = character.unicodeScalars.reduce(0) { max($0, $1.cellWidth) }
        // A mark alone stands on a blank. What commands or is not seen has not become a glyph.
        if width == 0 { bytes.append(0x20) }
        bytes += Array(String(character).utf8)
        // Terminals agree about letters, lines and what is wide by itself; less about what is composed.
        return bits < 0x2000 && width == 1 || (0x2500..<0x25A0).contains(bits)
            || bits < 0xA4D0 && width == columns && columns == 2
    }

    /// Returns the ASCII character that is most similar to a character.
    static func plain(_ character: Character) -> UInt8 {
        switch character {
        case "─", "━", "═", "╌", "┄", "┈", "╴", "╶", "–", "—", "‐", "−", "▔", "▁": UInt8(ascii: "-")
        case "│", "┃", "║", "╎", "┆", "┊", "╵", "╷", "▏", "▕": UInt8(ascii: "|")
        case "\u{250C}"..."\u{254B}", "\u{2552}"..."\u{2570}": UInt8(ascii: "+")
        case "╱": UInt8(ascii: "/")
        case "╲": UInt8(ascii: "\\")
        case "╳", "✗", "✘", "×", "☒": UInt8(ascii: "x")
        case "█", "▓", "▇", "▆", "▅", "▌", "▐", "■", "▀", "▄", "▊", "▋", "▉": UInt8(ascii: "#")
        case "▒", "░", "▂", "▃", "▍", "▎": UInt8(ascii: ":")
        case "←", "◀", "◂", "‹", "«": UInt8(ascii: "<")
        case "→", "▶", "▸", "›", "»": UInt8(ascii: ">")
        case "↑", "▲", "▴": UInt8(ascii: "^")
        case "↓", "▼", "▾": UInt8(ascii: "v")
        case "•", "●", "◆", "★", "✓", "✔", "◉", "☑": UInt8(ascii: "*")
        case "○", "◯", "◌", "◦": UInt8(ascii: "o")
        case "…", "·": UInt8(ascii: ".")
        case "‘", "’", "‚", "′": UInt8(ascii: "'")
        case "“", "”", "„", "″": UInt8(ascii: "\"")
        case "\u{A0}", "\u{2000}"..."\u{200A}", "\u{3000}", "□", "☐": UInt8(ascii: " ")
        case "\u{2801}"..."\u{28FF}": UInt8(ascii: ":")
        default: UInt8(ascii: "?")
        }
    }
}
