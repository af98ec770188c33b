// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension Unicode.Scalar {
    /// The number of cells that a terminal uses for the scalar alone: 0, 1 or 2.
    ///
    /// - Complexity: O(log of the table's length); O(1) below U+0300.
    package var cellWidth: Int {
        if value < 0x300 { return 1 }
        if CharacterWidthTable.wide.belongs(value) { return 2 }
        return CharacterWidthTable.zero.belongs(value) ? 0 : 1
    }
}

extension [UInt32] {
    /// Whether a value lies between a boundary at an even index and the next boundary.
    fileprivate func belongs(_ value: UInt32) -> Bool {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] <= value { low = middle + 1 } else { high = middle }
        }
        return low % 2 == 1
    }
}

extension Character {
    /// The columns between two tab stops, as on every terminal.
    package static let tabWidth = 8

    /// The number of cells that the character takes: usually 1, or 2 if it is wide.
    ///
    /// Scalars that Unicode calls wide, characters that the variation selector 16 makes an emoji, and flags are wide. A
    /// mark without a letter takes a cell too. A vowel that stands beside its letter, as the Thai and Lao Sara Am do,
    /// takes a cell of its own: terminals advance by it. A tab takes 8 cells at the beginning of a text. Invisible
    /// characters, such as the zero width space and signs of direction, take no cell.
    public var cellWidth: Int {
        let scalars = unicodeScalars
        let first = scalars[scalars.startIndex]
        if scalars.index(after: scalars.startIndex) == scalars.endIndex {
            if first.value < 0x300, first.value >= 0x20, first.value != 0xAD { return 1 }
            if first.value == 0x09 { return Self.tabWidth }
            return shown == nil ? 0 : max(1, first.cellWidth)
        }
        return shown?.composedWidth ?? 0
    }

    /// The number of cells of a character that is shown as it is.
    private var composedWidth: Int {
        // Letters that are joined to one character, and the vowels beside them, as in Thai, Lao and the scripts of India.
        isWide ? 2 : max(1, unicodeScalars.reduce(0) { $0 + $1.cellWidth })
    }

    /// Whether the character is wide as in Chinese, Japanese and Korean, an emoji or a flag.
    package var isWide: Bool {
        let scalars = unicodeScalars
        let first = scalars[scalars.startIndex]
        let second = scalars.index(after: scalars.startIndex)
        if second == scalars.endIndex { return first.cellWidth == 2 }
        let isFlag = (0x1F1E6...0x1F1FF).contains(first.value) && (0x1F1E6...0x1F1FF).contains(scalars[second].value)
        return isFlag || first.properties.isEmoji && scalars.contains("\u{FE0F}")
            || scalars.contains { $0.cellWidth == 2 }
    }

    /// The parts of a character that takes more than two cells: each takes one or two, as terminals draw them.
    ///
    /// - Precondition: the character is shown as it is.
    var parts: [Character] {
        var parts: [String.UnicodeScalarView] = []
        var width = 0
        for scalar in unicodeScalars {
            let added = scalar.cellWidth
            if parts.isEmpty || width + added > 2 {
                parts.append(String.UnicodeScalarView())
                width = 0
            }
            parts[parts.count - 1].append(scalar)
            width += added
        }
        return parts.compactMap { String($0).first }
    }
}

extension StringProtocol {
    /// The number of cells that the text takes in one row.
    ///
    /// A tab reaches to the next multiple of 8 cells from the beginning of the text.
    ///
    /// - Complexity: O(length).
    public var cellWidth: Int {
        reduce(0) { $0 + ($1 == "\t" ? Character.tabWidth - $0 % Character.tabWidth : $1.cellWidth) }
    }
}
