// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Breaks text into lines that fit.
enum TextLines {
    /// Returns the lines of a text, broken at line breaks, between words and, where a word is too long, between
    /// characters.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - width: The most cells of a line; at least 1 is assumed.
    ///   - limit: The most lines; as many as there are if 0.
    ///   - ellipsis: The end of a text that has more lines.
    /// - Complexity: O(length of the text that is shown, and of the paragraph that goes on).
    static func wrap(_ text: String, width: Int, limit: Int = 0, ellipsis: String) -> [String] {
        let width = max(1, width)
        var lines: [String] = []
        var rest: Substring? = text[...]
        while let present = rest {
            if limit > 0, lines.count == limit - 1 {
                // The last line is filled: it shows as much as it can.
                let line = present.prefix { !$0.isNewline }
                let goesOn = line.endIndex < present.endIndex
                lines.append(cut(goesOn ? line + ellipsis : line, width: width, ellipsis: ellipsis))
                break
            }
            let (line, after) = nextLine(present, width)
            lines.append(line)
            rest = after
        }
        return lines
    }

    /// Returns the first line, and the text that follows it.
    private static func nextLine(_ text: Substring, _ width: Int) -> (String, Substring?) {
        var taken = 0
        // The end of the line, and the beginning of the next one, at the last place where a break looks well.
        var lastBreak: (end: Substring.Index, next: Substring.Index)?
        var index = text.startIndex
        while index < text.endIndex {
            let character = text[index]
            let next = text.index(after: index)
            if character.isNewline { return (String(text[..<index]), text[next...]) }
            if character == " " {
                lastBreak = (index, next)
            } else if character.isWide, index > text.startIndex {
                // Before wide characters, as Chinese and Japanese break.
                lastBreak = (index, index)
            }
            if character != " ", taken + character.cellWidth > width {
                // A character wider than the line stands alone in it, or else nothing would ever follow.
                let (end, next) = lastBreak ?? (index == text.startIndex ? (next, next) : (index, index))
                return (trimmed(text[..<end]), next == text.endIndex ? nil : text[next...])
            }
            taken += character.cellWidth
            index = next
        }
        return (String(text), nil)
    }

    private static func trimmed(_ line: Substring) -> String {
        var line = line
        while line.last == " " { line.removeLast() }
        return String(line)
    }

    /// Returns the text, cut with an ellipsis if it is too long for one row.
    ///
    /// - Complexity: O(width) characters are looked at, and the whole text is copied if it fits.
    static func cut(_ text: some StringProtocol, width: Int, ellipsis: String) -> String {
        var taken = 0
        var kept = text.startIndex
        let room = width - ellipsis.cellWidth
        for index in text.indices {
            taken += text[index].cellWidth
            if taken <= room { kept = text.index(after: index) }
            if taken > width {
                return String((text[..<kept] + ellipsis).prefix(max(0, width)))
            }
        }
        return String(text)
    }
}
