// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A value of JSON, read from text.
enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// Where the text is not JSON, in bytes from its beginning.
    struct Malformed: Error, Equatable {
        let offset: Int
    }

    init(_ text: String) throws(Malformed) {
        var reader = JSONReader(Array(text.utf8))
        self = try reader.document()
    }

    subscript(name: String) -> JSON? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    var array: [JSON]? { if case .array(let values) = self { values } else { nil } }
    var string: String? { if case .string(let value) = self { value } else { nil } }
    var number: Double? { if case .number(let value) = self { value } else { nil } }
}

/// Reads RFC 8259's text, no more and no less.
private struct JSONReader {
    /// Deeper text would use up the stack.
    private static let deepest = 128

    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSON.Malformed) -> JSON {
        let value = try value()
        skipSpace()
        if position < bytes.count { throw malformed }
        return value
    }

    private var malformed: JSON.Malformed { JSON.Malformed(offset: position) }
    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ byte: Character) -> Bool {
        skipSpace()
        guard next == byte.asciiValue else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(JSON.Malformed) -> JSON {
        skipSpace()
        depth += 1
        defer { depth -= 1 }
        if depth > Self.deepest { throw malformed }
        switch next.map({ Character(UnicodeScalar($0)) }) {
        case "{": return try object()
        case "[": return try array()
        case "\"": return .string(try string())
        case "t": return try word("true", .bool(true))
        case "f": return try word("false", .bool(false))
        case "n": return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func word(_ word: String, _ value: JSON) throws(JSON.Malformed) -> JSON {
        guard bytes[position...].starts(with: word.utf8) else { throw malformed }
        position += word.utf8.count
        return value
    }

    private mutating func object() throws(JSON.Malformed) -> JSON {
        position += 1
        var members: [String: JSON] = [:]
        if take("}") { return .object(members) }
        repeat {
            skipSpace()
            let name = try string()
            guard take(":") else { throw malformed }
            members[name] = try value()
        } while take(",")
        guard take("}") else { throw malformed }
        return .object(members)
    }

    private mutating func array() throws(JSON.Malformed) -> JSON {
        position += 1
        var values: [JSON] = []
        if take("]") { return .array(values) }
        repeat { values.append(try value()) } while take(",")
        guard take("]") else { throw malformed }
        return .array(values)
    }

    private mutating func string() throws(JSON.Malformed) -> String {
        guard next == 0x22 else { throw malformed }
        position += 1
        var units: [UInt8] = []
        while let byte = next, byte != 0x22 {
            if byte < 0x20 { throw malformed }
            position += 1
            if byte == 0x5C { try escape(into: &units) } else { units.append(byte) }
        }
        guard next == 0x22 else { throw malformed }
        position += 1
        return String(decoding: units, as: UTF8.self)
    }

    private mutating func escape(into units: inout [UInt8]) throws(JSON.Malformed) {
        guard let byte = next else { throw malformed }
        position += 1
        switch Character(UnicodeScalar(byte)) {
        case "\"", "\\", "/": units.append(byte)
        case "b": units.append(8)
        case "f": units.append(12)
        case "n": units.append(10)
        case "r": units.append(13)
        case "t": units.append(9)
        case "u":
            var code = try fourDigits()
            if code >> 10 == 0x36, position + 1 < bytes.count, bytes[position] == 0x5C, bytes[position + 1] == 0x75 {
                position += 2
                code = 0x10000 + (code & 0x3FF) << 10 + (try fourDigits()) & 0x3FF
            }
            // Half a pair stands for nothing that text could have.
            units += Array(String(UnicodeScalar(code) ?? "\u{FFFD}").utf8)
        default: throw malformed
        }
    }

    private mutating func fourDigits() throws(JSON.Malformed) -> UInt32 {
        guard position + 4 <= bytes.count,
            let code = UInt32(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
        else { throw malformed }
        position += 4
        return code
    }

    private mutating func number() throws(JSON.Malformed) -> Double {
        let start = position
        while let byte = next,
            byte == 0x2D || byte == 0x2B || byte == 0x2E || (0x30...0x39).contains(byte)
                || byte | 0x20 == 0x65
        {
            position += 1
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        let beginsWell =
            digits.first?.isNumber == true && !(digits.hasPrefix("0") && digits.dropFirst().first?.isNumber == true)
        guard beginsWell, let number = Double(text) else {
            position = start
            throw malformed
        }
        return number
    }
}
