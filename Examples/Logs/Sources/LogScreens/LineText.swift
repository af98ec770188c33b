// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoopUI

/// What a line of a log looks like: nothing in it commands the terminal, and nothing takes room unseen.
///
/// Colours of terminals (SGR) are left out. Other control characters are written as `^[`, tabs as spaces up to the next
/// eighth column; bytes that are no UTF-8, and characters that turn the direction of text, as `U+FFFD`.
enum LineText {
    /// The most bytes that so many cells are made of; a line with more of them in a cell is cut.
    static func byteLimit(cells: Int) -> Int { 4096 + cells * 16 }

    /// The cells of a line from a column on.
    ///
    /// - Complexity: O(bytes up to the last cell).
    static func text(_ bytes: [UInt8], from column: Int, width: Int) -> String {
        var (result, x) = ("", 0)
        for character in String(decoding: withoutColors(bytes), as: UTF8.self) {
            if x >= column + width { break }
            let piece = harmless(character, at: x)
            let taken = piece.cellWidth
            if x >= column {
                result += piece
            } else if x + taken > column {
                // Cut by the left edge: a half of a wide character is blank.
                result += piece.count == taken ? String(piece.suffix(x + taken - column)) : " "
            }
            x += taken
        }
        return result
    }

    private static func harmless(_ character: Character, at x: Int) -> String {
        guard let scalar = character.unicodeScalars.first else { return "" }
        switch scalar.value {
        case 9: return String(repeating: " ", count: 8 - x % 8)
        case 0..<32, 127: return "^" + String(UnicodeScalar(UInt8(scalar.value) ^ 64))
        case 0x80..<0xA0, 0x202A...0x202E, 0x2066...0x2069: return "\u{FFFD}"
        default: return String(character)
        }
    }

    /// The bytes without `ESC [ … m`.
    private static func withoutColors(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(27) else { return bytes }
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == 27, index + 1 < bytes.count, bytes[index + 1] == 91 {
                let end = bytes[(index + 2)...].firstIndex { !(48...59).contains($0) }
                if let end, bytes[end] == 109 {
                    index = end + 1
                    continue
                }
            }
            result.append(bytes[index])
            index += 1
        }
        return result
    }
}

extension Int {
    /// With a comma between thousands.
    var grouped: String {
        var digits = String(magnitude)
        var index = digits.count - 3
        while index > 0 {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: index))
            index -= 3
        }
        return (self < 0 ? "-" : "") + digits
    }

    /// As a number of bytes, with one digit behind the point.
    var asBytes: String {
        if self < 1000 { return "\(self) B" }
        var (value, unit) = (Double(self) / 1000, 0)
        while value >= 999.95, unit < 3 { (value, unit) = (value / 1000, unit + 1) }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(["kB", "MB", "GB", "TB"][unit])"
    }
}
