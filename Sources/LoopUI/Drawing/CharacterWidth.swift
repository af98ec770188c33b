// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension Unicode.Scalar {
    /// How many cells a terminal gives the scalar alone: 0, 1 or 2.
    ///
    /// - Complexity: O(log of the table's length); O(1) below U+0300.
    package var cellWidth: Int {
        if value < 0x300 { return 1 }
        if CharacterWidthTable.wide.belongs(value) { return 2 }
        return CharacterWidthTable.zero.belongs(value) ? 0 : 1
    }
}

extension [UInt32] {
    /// Whether a value lies between a boundary at an even place and the next one.
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
    /// How many cells the character takes: 1, or 2 if it is wide.
    ///
    /// Wide are the scalars that Unicode calls so, what the variation selector 16 makes an emoji, and flags. A mark
    /// without a letter takes a cell too.
    public var cellWidth: Int {
        let scalars = unicodeScalars
        let first = scalars[scalars.startIndex]
        let second = scalars.index(after: scalars.startIndex)
        if second == scalars.endIndex { return max(1, first.cellWidth) }
        if first.properties.isEmoji, scalars.contains("\u{FE0F}") { return 2 }
        let isFlag = (0x1F1E6...0x1F1FF).contains(first.value) && (0x1F1E6...0x1F1FF).contains(scalars[second].value)
        // A letter with a wide scalar behind it, as in Hangul and some Indic scripts.
        return isFlag ? 2 : max(1, scalars.reduce(0) { max($0, $1.cellWidth) })
    }
}

extension StringProtocol {
    /// How many cells the text takes in one row.
    ///
    /// - Complexity: O(length).
    public var cellWidth: Int { reduce(0) { $0 + $1.cellWidth } }
}
