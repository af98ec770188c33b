// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The text of a field, with a caret and a selection: values only, no view.
///
/// A character is a Swift `Character`, however many scalars it has. A change finds again where the characters near it
/// begin: a combining mark joins the letter before it, and two halves of a flag become one flag.
struct TextBuffer: Sendable {
    /// The characters, without line breaks and control characters.
    private(set) var characters: [Character] = []
    /// The index of the character before which text is inserted.
    private(set) var caret = 0
    /// The other end of the selection; equal to ``caret`` if nothing is selected.
    private(set) var anchor = 0
    /// The maximum number of characters.
    var maximumLength = 65_536 { didSet { if characters.count > maximumLength { setText(text) } } }
    /// The maximum number of scalars in a character: no character that people write has more, but a hostile text puts a
    /// million into one.
    static let maxScalarsInCharacter = 32
    /// The version of the characters, which changes with them.
    private(set) var version = 0

    init(_ text: String = "") { setText(text) }

    var text: String { String(characters) }

    var selection: Range<Int> { min(caret, anchor)..<max(caret, anchor) }

    var selectedText: String { String(characters[selection]) }

    /// Replaces the whole text, and moves the caret to the end.
    mutating func setText(_ text: String) {
        (characters, caret, anchor) = ([], 0, 0)
        version += 1
        insert(text)
    }

    // MARK: Changing

    /// Replaces the selection with text, and moves the caret to the end of that text.
    ///
    /// Characters beyond ``maximumLength`` are left out.
    ///
    /// - Complexity: O(length of the inserted text, and characters behind the caret).
    mutating func insert(_ text: String) { replace(selection, with: text) }

    /// Removes characters, and moves the caret to where they were.
    mutating func remove(_ range: Range<Int>) { replace(range, with: "") }

    private mutating func replace(_ range: Range<Int>, with text: String) {
        // No more is looked at than fits, however much is pasted.
        let places = max(0, maximumLength - characters.count + range.count)
        let (room, isEndless) = places.multipliedReportingOverflow(by: Self.maxScalarsInCharacter)
        let new = Self.clean(text.unicodeScalars.prefix(isEndless ? .max : room))
        if range.isEmpty, new.isEmpty { return }
        version += 1
        var change = change(range, new)
        var kept = new
        // What is too much is found by trying: characters that join others do not count.
        while !kept.isEmpty {
            let excess = characters.count - change.range.count + change.characters.count - maximumLength
            if excess <= 0 { break }
            let fitting = Array(String(kept)).dropLast(excess)
            kept = String(fitting).unicodeScalars
            change = self.change(range, kept)
        }
        characters.replaceSubrange(change.range, with: change.characters)
        (caret, anchor) = (change.caret, change.caret)
    }

    /// Returns the effect of a change: the range that is replaced, its new characters and the caret.
    ///
    /// Where a character begins depends on the scalars before it, back to the beginning of the character before. So the
    /// search starts one character before the change, and ends where a new and an old character begin at the same scalar.
    private func change(
        _ range: Range<Int>, _ new: String.UnicodeScalarView
    ) -> (range: Range<Int>, characters: [Character], caret: Int) {
        let low = max(0, range.lowerBound - 1)
        var ahead = 1
        while true {
            let high = min(characters.count, range.upperBound + ahead)
            var text = String(characters[low..<range.lowerBound])
            text.unicodeScalars.append(contentsOf: new)
            let end = text.unicodeScalars.count
            text += String(characters[range.upperBound..<high])

            let found = Array(text)
            var (count, place, caret) = (0, 0, 0)
            // An old character behind the change, and the scalars before it.
            var (old, oldPlace) = (range.upperBound, end)
            while count < found.count {
                while old < high, oldPlace < place {
                    oldPlace += characters[old].unicodeScalars.count
                    old += 1
                }
                if old < high, oldPlace == place { break }
                if place < end { caret = count + 1 }
                place += found[count].unicodeScalars.count
                count += 1
            }
            if count < found.count || high == characters.count {
                let last = count < found.count ? old : high
                return (low..<last, found[..<count].map(Self.shortened), low + caret)
            }
            ahead *= 4
        }
    }

    /// Returns the character, or the replacement character for one with too many scalars.
    private static func shortened(_ character: Character) -> Character {
        let scalars = character.unicodeScalars
        let end = scalars.index(scalars.startIndex, offsetBy: maxScalarsInCharacter, limitedBy: scalars.endIndex)
        return end == nil || end == scalars.endIndex ? character : "\u{FFFD}"
    }

    /// Replaces line breaks and tabs with spaces, and removes other control characters.
    private static func clean(_ scalars: String.UnicodeScalarView.SubSequence) -> String.UnicodeScalarView {
        var (result, last) = (String.UnicodeScalarView(), Unicode.Scalar(0 as UInt8))
        for scalar in scalars {
            switch scalar.value {
            case 0x0A where last.value == 0x0D: break
            case 0x09...0x0D, 0x85, 0x2028, 0x2029: result.append(" ")
            case ..<0x20, 0x7F..<0xA0: break
            default: result.append(scalar)
            }
            last = scalar
        }
        return result
    }

    // MARK: Moving

    /// Moves the caret; the other end of the selection stays if `selecting` is true, and otherwise moves with the caret.
    mutating func move(to place: Int, selecting: Bool = false) {
        caret = min(max(0, place), characters.count)
        if !selecting { anchor = caret }
    }

    /// Selects everything.
    mutating func selectAll() { (anchor, caret) = (0, characters.count) }

    /// Selects the word at a place, or the characters between two words.
    mutating func selectWord(at place: Int) {
        if characters.isEmpty { return }
        let index = min(max(0, place), characters.count - 1)
        let kind = Self.isWord(characters[index])
        var (start, end) = (index, index)
        while start > 0, Self.isWord(characters[start - 1]) == kind { start -= 1 }
        while end < characters.count, Self.isWord(characters[end]) == kind { end += 1 }
        (anchor, caret) = (start, end)
    }

    /// The beginning of the word before the caret.
    var wordStart: Int {
        var place = caret
        while place > 0, !Self.isWord(characters[place - 1]) { place -= 1 }
        while place > 0, Self.isWord(characters[place - 1]) { place -= 1 }
        return place
    }

    /// The end of the word behind the caret.
    var wordEnd: Int {
        var place = caret
        while place < characters.count, !Self.isWord(characters[place]) { place += 1 }
        while place < characters.count, Self.isWord(characters[place]) { place += 1 }
        return place
    }

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }
}
