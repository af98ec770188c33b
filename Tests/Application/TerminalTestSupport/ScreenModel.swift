// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI

/// What a terminal shows after bytes: a small emulator of the sequences that are used, and of no others.
///
/// An unknown sequence, or a place outside, is noted in `complaints`.
package struct ScreenModel {
    package struct Place: Equatable {
        package var text = " "
        package var foreground = "39"
        package var background = "49"
        package var attributes: Set<Int> = []
        /// The address of the link, with its identifier.
        package var link: Link?

        package init() {}
    }

    package struct Link: Equatable {
        package let identifier: String
        package let address: String

        package init(identifier: String, address: String) { (self.identifier, self.address) = (identifier, address) }
    }

    package let width: Int
    package let height: Int
    package private(set) var places: [Place]
    package private(set) var x = 0
    package private(set) var y = 0
    package private(set) var modes: Set<Int> = [25, 7]
    /// Every mode that was ever set.
    package private(set) var everSet: Set<Int> = []
    package private(set) var keyboardFlags: [String] = []
    package private(set) var titles: [String] = []
    package private(set) var notifications: [String] = []
    package private(set) var bells = 0
    /// The link of what is written next.
    package var openLink: Link? { pen.link }
    package private(set) var complaints: [String] = []
    /// The rows that have left the screen at the top.
    package private(set) var scrolled: [String] = []
    /// The rows that have left the screen, and those on it.
    package var history: String { (scrolled + [text]).joined(separator: "\n") }
    private var pen = Place()
    private var rest: [UInt8] = []

    package init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        places = Array(repeating: Place(), count: width * height)
    }

    package subscript(x: Int, y: Int) -> Place { places[y * width + x] }

    package func text(row: Int) -> String {
        var text = (0..<width).map { places[row * width + $0].text }.joined()
        while text.last == " " { text.removeLast() }
        return text
    }

    package var text: String { (0..<height).map { text(row: $0) + "\n" }.joined() }

    package mutating func feed(_ bytes: some Collection<UInt8>) {
        rest += bytes
        var index = 0
        while index < rest.count, let next = step(index) { index = next }
        rest.removeFirst(index)
    }

    /// The index behind what begins at this one; `nil` if not all of it has come.
    private mutating func step(_ index: Int) -> Int? {
        switch rest[index] {
        case 0x1B: return sequence(index)
        case 0x0D: x = 0
        case 0x0A: feedLine()
        case 0x07: bells += 1
        case 0x08: x = max(0, min(x, width - 1) - 1)
        case 0x00..<0x20: complaints.append("control \(rest[index])")
        default: return character(index)
        }
        return index + 1
    }

    private mutating func feedLine() {
        if y < height - 1 {
            y += 1
            return
        }
        scrolled.append(text(row: 0))
        places.removeFirst(width)
        places += Array(repeating: Place(), count: width)
    }

    private mutating func character(_ index: Int) -> Int? {
        let length = rest[index] < 0x80 ? 1 : rest[index] < 0xE0 ? 2 : rest[index] < 0xF0 ? 3 : 4
        guard index + length <= rest.count else { return nil }
        let text = String(decoding: rest[index..<index + length], as: UTF8.self)
        let scalar = text.unicodeScalars.first!
        // Unassigned, and no mark: what composes with the letter before.
        let isFlag = isSecondOfFlag(scalar)
        let isMark = scalar.properties.isGraphemeExtend || scalar.value == 0x200D || isFlag
        if isMark, x > 0 {
            let lead = places[y * width + x - 1].text.isEmpty && x > 1 ? x - 2 : x - 1
            places[y * width + lead].text += text
            if scalar.value == 0xFE0F || isFlag, places[y * width + lead].text.count == 1,
                lead + 1 < width, lead == x - 1
            {
                places[y * width + x] = places[y * width + lead]
                places[y * width + x].text = ""
                x += 1
            }
            return index + length
        }
        if let before = joiner() {
            places[y * width + before].text += text
            return index + length
        }
        let columns = text.cellWidth
        if x + columns > width {
            complaints.append("written outside: \(text)")
            x = width - columns
        }
        var place = pen
        place.text = text
        places[y * width + x] = place
        if columns == 2 {
            place.text = ""
            places[y * width + x + 1] = place
        }
        x += columns
        return index + length
    }

    private func isSecondOfFlag(_ scalar: Unicode.Scalar) -> Bool {
        guard (0x1F1E6...0x1F1FF).contains(scalar.value), x > 0 else { return false }
        let before = places[y * width + x - 1].text.unicodeScalars
        return before.count == 1 && (0x1F1E6...0x1F1FF).contains(before.first!.value)
    }

    /// The column of the sign before, if a joiner ends it.
    private func joiner() -> Int? {
        for column in [x - 1, x - 2] where column >= 0 {
            if places[y * width + column].text.unicodeScalars.last?.value == 0x200D { return column }
        }
        return nil
    }

    private mutating func sequence(_ index: Int) -> Int? {
        guard index + 1 < rest.count else { return nil }
        switch rest[index + 1] {
        case UInt8(ascii: "["):
            guard let end = rest[(index + 2)...].firstIndex(where: { 0x40...0x7E ~= $0 || $0 == 0x1B }) else {
                return nil
            }
            // An escape cuts a sequence.
            if rest[end] == 0x1B { return end }
            control(String(decoding: rest[index + 2..<end], as: UTF8.self), Character(Unicode.Scalar(rest[end])))
            return end + 1
        case UInt8(ascii: "]"), UInt8(ascii: "P"):
            guard let end = rest[(index + 2)...].firstIndex(where: { $0 == 0x1B || $0 == 0x07 }) else { return nil }
            string(String(decoding: rest[index + 2..<end], as: UTF8.self))
            // An escape that no backslash follows ends the string, and begins the next sequence.
            if rest[end] == 0x07 { return end + 1 }
            return end + 1 < rest.count ? (rest[end + 1] == UInt8(ascii: "\\") ? end + 2 : end) : nil
        case 0x1B: return index + 1
        case UInt8(ascii: "\\"): return index + 2
        default:
            complaints.append("escape \(rest[index + 1])")
            return index + 2
        }
    }

    private mutating func string(_ text: String) {
        if text.hasPrefix("2;") { titles.append(String(text.dropFirst(2))) }
        if text.hasPrefix("9;") { notifications.append(String(text.dropFirst(2))) }
        guard text.hasPrefix("8;") else { return }
        let parts = text.split(separator: ";", maxSplits: 2, omittingEmptySubsequences: false)
        if parts.count < 3 || parts[2].isEmpty {
            pen.link = nil
        } else {
            pen.link = Link(identifier: String(parts[1]), address: String(parts[2]))
        }
    }

    private mutating func control(_ text: String, _ final: Character) {
        if text.hasSuffix("$") { return }
        let numbers = text.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        let first = max(1, numbers.first ?? 1)
        switch (text.first, final) {
        case ("?", "h"), ("?", "l"):
            guard let mode = Int(text.dropFirst()) else { return complaints.append(text) }
            if final == "h" {
                modes.insert(mode)
                everSet.insert(mode)
            } else {
                modes.remove(mode)
            }
        case ("=", "u"):
            // Replaces the flags that count; ";1" says so.
            if keyboardFlags.popLast() != nil { keyboardFlags.append(String(text.dropFirst().prefix { $0 != ";" })) }
        case (">", "u"): keyboardFlags.append(String(text.dropFirst()))
        case ("<", "u"): if keyboardFlags.popLast() == nil { complaints.append("flags popped") }
        case ("?", "u"), (_, "c"), (_, "t"): break
        case (_, "H"): (x, y) = (numbers.count > 1 ? max(1, numbers[1]) - 1 : 0, first - 1)
        case (_, "d"): y = first - 1
        case (_, "A"): y = max(0, y - first)
        case (_, "B"): y = min(height - 1, y + first)
        case (_, "C"): x += first
        case (_, "G"): x = first - 1
        case (_, "J"):
            if text != "2" && text != "" { complaints.append("J") }
            erase((text == "2" ? 0 : y * width + x)..<places.count)
        case (_, "K"): erase(y * width + x..<(y + 1) * width)
        case (_, "m"): style(numbers)
        default: complaints.append("\(text)\(final)")
        }
        if x >= width + 1 || y >= height { complaints.append("moved outside: \(x) \(y)") }
        (x, y) = (min(x, width), min(y, height - 1))
    }

    private mutating func erase(_ range: Range<Int>) {
        var blank = Place()
        blank.background = pen.background
        for index in range { places[index] = blank }
    }

    private mutating func style(_ numbers: [Int]) {
        var numbers = numbers[...]
        while let number = numbers.popFirst() {
            switch number {
            case 0:
                let link = pen.link
                pen = Place()
                pen.link = link
            case 1, 2, 3, 4, 7, 9: pen.attributes.insert(number)
            case 22: pen.attributes.subtract([1, 2])
            case 23, 24, 27, 29: pen.attributes.remove(number - 20)
            case 30...37, 39, 90...97: pen.foreground = "\(number)"
            case 40...47, 49, 100...107: pen.background = "\(number)"
            case 38, 48:
                let count = numbers.first == 5 ? 2 : 4
                let color = "\(number)" + numbers.prefix(count).map { ";\($0)" }.joined()
                numbers = numbers.dropFirst(count)
                if number == 38 { pen.foreground = color } else { pen.background = color }
            default: complaints.append("style \(number)")
            }
        }
    }
}
