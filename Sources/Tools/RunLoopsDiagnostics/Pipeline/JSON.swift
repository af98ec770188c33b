// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A JSON value, made from literals, written as text, and read from text by ``init(parsing:most:)``.
package enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    /// A whole number that 64 bits hold exactly.
    case integer(Int64)
    /// Any other number; always finite if it was read from text.
    case decimal(Double)
    case string(String)
    case array([JSON])
    /// The members in the order in which they are written; if a name occurs twice, reading returns the first member.
    case object([Member])

    package struct Member: Equatable, Sendable {
        package var name: String
        package var value: JSON
    }

    /// Converts nanoseconds to microseconds, the unit of trace events.
    static func microseconds(_ nanoseconds: Int64) -> JSON { .decimal(Double(nanoseconds) / 1000) }

    // MARK: What is in it

    package subscript(name: String) -> JSON? {
        if case .object(let members) = self { members.first { $0.name == name }?.value } else { nil }
    }

    package var array: [JSON]? { if case .array(let values) = self { values } else { nil } }
    package var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The value as a `Double`; `nil` if it is not a number.
    package var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .decimal(let value): value
        default: nil
        }
    }

    /// The value as an integer; `nil` if it is not a whole number that fits in 64 bits.
    package var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .decimal(let value): Int64(exactly: value)
        default: nil
        }
    }

    // MARK: Writing

    /// The value as text on one line.
    package var text: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        // No number of JSON stands for infinity.
        case .decimal(let value): bytes += (value.isFinite ? value.description : "null").utf8
        case .string(let value): Self.write(value, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Writes a string without `<`, U+2028 and U+2029, so that the text may also be part of a script in a web page.
    private static func write(_ string: String, to bytes: inout [UInt8]) {
        var string = string
        bytes.append(UInt8(ascii: "\""))
        string.withUTF8 { text in
            var plain = 0
            for index in text.indices {
                let (byte, length): (UInt32, Int)
                switch text[index] {
                case ..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "<"):
                    (byte, length) = (UInt32(text[index]), 1)
                // The first of the three bytes of U+2028 or U+2029; the other two follow in any string of Swift's.
                case 0xE2 where text[index + 1] == 0x80 && text[index + 2] | 1 == 0xA9:
                    (byte, length) = (0x2000 | UInt32(text[index + 2] & 0x3F), 3)
                default: continue
                }
                bytes.append(contentsOf: text[plain..<index])
                plain = index + length
                switch UInt8(truncatingIfNeeded: byte) {
                case UInt8(ascii: "\n"): bytes += "\\n".utf8
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), text[index]]
                default: bytes += "\\u\(String(byte | 0x10000, radix: 16).dropFirst())".utf8
                }
            }
            bytes.append(contentsOf: text[plain...])
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

// MARK: Literals

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(arrayLiteral values: JSON...) { self = .array(values) }

    /// An object without the members whose value is `nil`.
    package init(dictionaryLiteral members: (String, JSON?)...) {
        self = .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
    }
}
