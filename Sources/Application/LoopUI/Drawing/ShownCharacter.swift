// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The one filter that every character passes on its way to a display, whichever it is: `Glyph` and `String.shown` apply it,
// `cellWidth` counts what it leaves. No character can command a terminal, turn the direction of other text, hide or take
// more room than it says.

extension Unicode.Scalar {
    /// Whether the scalar is a control of ASCII or of Latin-1.
    var isControl: Bool { value < 0x20 || (0x7F..<0xA0).contains(value) }

    /// Whether the scalar is invisible where it stands alone: signs of direction, joiners, selectors, tags, and the zero
    /// width space.
    fileprivate var isInvisible: Bool {
        if value < 0x300 { return value == 0xAD }
        // The anchors of annotations are for programs alone, and are not in Unicode's list of what is ignored.
        if (0xFFF9...0xFFFB).contains(value) { return true }
        // Usual text is not looked up in Unicode's tables.
        guard
            value >= 0x2000 && value < 0x2070 || value >= 0xFE00 && value < 0x10000 || cellWidth == 0
                || value >= 0xE0000
        else { return false }
        // The fillers of Hangul are letters, which have a width.
        return properties.isDefaultIgnorableCodePoint && properties.generalCategory != .otherLetter
    }

    /// Whether an invisible scalar is kept in a character that begins with the scalar `first`.
    fileprivate func counts(behind first: Unicode.Scalar) -> Bool {
        switch value {
        // Joiners, and the selectors of emoji and of variants.
        case 0x200C, 0x200D, 0xFE00...0xFE0F, 0xE0100...0xE01EF, 0x180B...0x180D, 0x180F: true
        // The tags of a flag; anywhere else they would be a text that nobody sees.
        case 0xE0020...0xE007F: first.value == 0x1F3F4
        default: false
        }
    }

    /// Whether the scalar is one of Unicode's noncharacters.
    fileprivate var isNoncharacter: Bool { value & 0xFFFE == 0xFFFE || (0xFDD0...0xFDEF).contains(value) }
}

extension Character {
    /// The maximum number of scalars that are shown of a character.
    ///
    /// Unicode's Stream-Safe Text Format (UAX #15) has at most 30 marks after a letter. The longest emoji in use has ten
    /// scalars. A text from elsewhere can have any number of scalars in a character, and each repaint would write all of
    /// them.
    package static let maxShownScalars = 32

    /// The character as displays show it; `nil` for an invisible character, which takes no cell.
    ///
    /// A control character is shown as the replacement character, a tab as a blank. Scalars that only change the
    /// direction of text, or that are invisible, are left out, and so are scalars beyond the first ``maxShownScalars``.
    package var shown: Character? {
        let scalars = unicodeScalars
        let first = scalars[scalars.startIndex]
        if scalars.index(after: scalars.startIndex) == scalars.endIndex {
            if first.value < 0x7F, first.value >= 0x20 { return self }
            if first.value == 0x09 { return " " }
            if first.isControl || first.isNoncharacter { return "\u{FFFD}" }
            return first.isInvisible ? nil : self
        }
        return filtered(first)
    }

    private func filtered(_ first: Unicode.Scalar) -> Character? {
        let scalars = unicodeScalars
        var kept = String.UnicodeScalarView()
        var count = 0
        var isSeen = false
        // Usually nothing is left out.
        let isPlain = scalars.prefix(Self.maxShownScalars + 1).allSatisfy { scalar in
            count += 1
            return scalar.value >= 0xA0 && !scalar.isInvisible && !scalar.isNoncharacter
                || scalar.value < 0x7F && scalar.value >= 0x20
        }
        if isPlain, count <= Self.maxShownScalars { return self }
        count = 0
        for scalar in scalars {
            if scalar.isControl || scalar.isNoncharacter { return "\u{FFFD}" }
            let isInvisible = scalar.isInvisible
            if isInvisible, !scalar.counts(behind: first) { continue }
            if count == Self.maxShownScalars { break }
            if !isInvisible { isSeen = true }
            kept.append(scalar)
            count += 1
        }
        // A joiner at the end would join the next cell's character.
        while kept.last?.value == 0x200D { kept.removeLast() }
        // Without what was left out, it is one character still, or the first of several.
        return isSeen ? String(kept).first : nil
    }
}

extension String {
    /// Returns the text in one row, for text that a display does not draw in cells, such as the title of a window or a
    /// line that is read aloud.
    ///
    /// Tabs and line breaks become blanks, other control characters are left out.
    ///
    /// - Parameter limit: The maximum number of characters.
    /// - Complexity: O(length).
    package func shown(limit: Int = .max) -> String {
        var text = ""
        var count = 0
        for character in self where count < limit {
            let shown: Character? =
                character == "\t" || character.isNewline ? " " : character == "\u{FFFD}" ? character : character.shown
            guard let shown, shown != "\u{FFFD}" || character == "\u{FFFD}" else { continue }
            text.append(shown)
            count += 1
        }
        return text
    }
}
