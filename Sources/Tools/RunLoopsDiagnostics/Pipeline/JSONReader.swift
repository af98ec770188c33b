// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension JSON {
    /// The reason why a text was not read.
    package enum ReadingError: Error, Equatable {
        /// The text is not JSON, is nested more than 128 levels deep, or has a number that no `Double` holds, from this
        /// offset in bytes on.
        case malformed(at: Int)
        /// The text has more values than the caller allows.
        case tooManyValues
    }

    /// Parses JSON exactly as RFC 8259 defines it; half of a surrogate pair becomes U+FFFD.
    ///
    /// - Parameter most: The maximum number of values; each value takes up to 40 bytes of memory, however short its
    ///   text is.
    package init(parsing text: String, most: Int = 1 << 22) throws(ReadingError) {
        var reader = JSONReader(left: most, bytes: Array(text.utf8))
        self = try reader.document()
    }
}

private struct JSONReader {
    /// The maximum depth of nested values, so that the stack is not used up.
    private static let deepest = 128

    /// The number of values that may still follow.
    var left: Int
    let bytes: [UInt8]
    var position = 0
    var depth = 0

    mutating func document() throws(JSON.ReadingError) -> JSON {
        let value = try value()
        skipSpace()
        if position < bytes.count { throw malformed }
        return value
    }

    private var malformed: JSON.ReadingError { .malformed(at: position) }

    /// The next byte; 0 at the end, since no valid text has a 0 byte.
    private var next: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private mutating func skipSpace() {
        while next == 0x20 || next == 0x0A || next == 0x0D || next == 0x09 { position += 1 }
    }

    /// Skips the next character if it is this one; returns whether it was.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(JSON.ReadingError) -> JSON {
        skipSpace()
        if left == 0 { throw .tooManyValues }
        left -= 1
        switch next {
        case UInt8(ascii: "{"):
            return .object(try list("}") { reader throws(JSON.ReadingError) in try reader.member() })
        case UInt8(ascii: "["):
            return .array(try list("]") { reader throws(JSON.ReadingError) in try reader.value() })
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func word(_ word: String, _ value: JSON) throws(JSON.ReadingError) -> JSON {
        guard bytes[position...].starts(with: word.utf8) else { throw malformed }
        position += word.utf8.count
        return value
    }

    /// Reads the elements between two brackets.
    private mutating func list<Element>(
        _ end: Unicode.Scalar, of element: (inout JSONReader) throws(JSON.ReadingError) -> Element
    ) throws(JSON.ReadingError) -> [Element] {
        if depth == Self.deepest { throw malformed }
        depth += 1
        defer { depth -= 1 }
        position += 1
        skipSpace()
        var elements: [Element] = []
        if take(end) { return elements }
        repeat {
            elements.append(try element(&self))
            skipSpace()
        } while take(",")
        guard take(end) else { throw malformed }
        return elements
    }

    private mutating func member() throws(JSON.ReadingError) -> JSON.Member {
        skipSpace()
        let name = try string()
        skipSpace()
        guard take(":") else { throw malformed }
        return JSON.Member(name: name, value: try value())
    }

    // MARK: Strings

    private mutating func string() throws(JSON.ReadingError) -> String {
        guard take("\"") else { throw malformed }
        var start = position
        var text: [UInt8] = []
        while next != UInt8(ascii: "\"") {
            if next < 0x20 { throw malformed }
            position += 1
            guard bytes[position - 1] == UInt8(ascii: "\\") else { continue }
            text += bytes[start..<position - 1]
            text += String(try escape()).utf8
            start = position
        }
        position += 1
        let rest = bytes[start..<position - 1]
        return text.isEmpty ? String(decoding: rest, as: UTF8.self) : String(decoding: text + rest, as: UTF8.self)
    }

    private mutating func escape() throws(JSON.ReadingError) -> Character {
        let character = next
        position += 1
        switch character {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Character(UnicodeScalar(character))
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let code = try fourDigits()
            let start = position
            // The second half of a pair, if this was the first half.
            if code >> 10 == 0x36, take("\\"), take("u"), case let low = try fourDigits(), low >> 10 == 0x37 {
                return UnicodeScalar(0x10000 + (code & 0x3FF) << 10 + low & 0x3FF).map(Character.init) ?? "\u{FFFD}"
            }
            position = start
            return UnicodeScalar(code).map(Character.init) ?? "\u{FFFD}"
        default: throw malformed
        }
    }

    private mutating func fourDigits() throws(JSON.ReadingError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Character(UnicodeScalar(next)).hexDigitValue else { throw malformed }
            code = code << 4 | UInt32(digit)
            position += 1
        }
        return code
    }

    // MARK: Numbers

    private mutating func number() throws(JSON.ReadingError) -> JSON {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        let isWhole = next != UInt8(ascii: ".") && next | 0x20 != UInt8(ascii: "e")
        if take(".") { try digits() }
        if take("e") || take("E") {
            _ = take("+") || take("-")
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let number = Int64(text) { return .integer(number) }
        guard let number = Double(text), number.isFinite else {
            position = start
            throw malformed
        }
        return .decimal(number)
    }

    /// Skips digits, of which there must be at least one.
    private mutating func digits() throws(JSON.ReadingError) {
        guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= next else { throw malformed }
        while UInt8(ascii: "0")...UInt8(ascii: "9") ~= next { position += 1 }
    }
}
