// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// An address that text leads to, which the display opens when the user asks for it, such as by a click.
///
/// Text has a link by its ``Style/link``:
///
/// ```swift
/// Label("Release notes", style: Style(.blue, .underline, link: Link("https://example.org/notes")))
/// ```
///
/// Thread safety: any thread.
public struct Link: Hashable, Sendable, CustomStringConvertible {
    /// The maximum number of bytes of an address, which is the limit of terminals in use.
    public static let maxBytes = 2083

    /// The addresses that styles have; a number takes the bits of a style that its attributes leave.
    ///
    /// The numbers suffice for 1,000 new addresses a second during 18 hours. Later links are text alone.
    private static let table = NumberTable<String>(numbers: 1...1 << 26 - 1, recentCount: 4096)

    /// The object that keeps the number; `nil` if all numbers were given.
    let owner: Numbered<String>?
    /// The address: printable ASCII without blanks.
    public let address: String

    /// Makes a link; `nil` if the address does not begin with a scheme such as `https:` or `file:`, has control characters, or has more
    /// than ``maxBytes`` bytes.
    ///
    /// Blanks and characters beyond ASCII are percent-encoded as UTF-8.
    public init?(_ address: String) {
        // Before it is encoded, it is not longer.
        guard address.utf8.count <= Self.maxBytes, Self.hasScheme(address),
            !address.unicodeScalars.contains(where: \.isControl)
        else { return nil }
        let encoded = Self.encoded(address)
        if encoded.utf8.count > Self.maxBytes { return nil }
        (self.address, owner) = (encoded, Self.table.make(encoded))
    }

    /// Makes the link of a style's number; `nil` if nothing has kept it.
    init?(number: UInt32) {
        guard number != 0, let owner = Self.table.find(number) else { return nil }
        (address, self.owner) = (owner.value, owner)
    }

    /// Whether two links have the same address.
    public static func == (left: Link, right: Link) -> Bool { left.address == right.address }

    /// Hashes the address.
    public func hash(into hasher: inout Hasher) { hasher.combine(address) }

    /// The address.
    public var description: String { address }

    /// Whether a text begins with a scheme (RFC 3986, section 3.1).
    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), let first = text.utf8.first else { return false }
        return isLetter(first)
            && text.utf8[..<colon].allSatisfy {
                isLetter($0) || (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E].contains($0)
            }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    private static func encoded(_ address: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = address.utf8.flatMap { byte -> [UInt8] in
            if (0x21..<0x7F).contains(byte) { return [byte] }
            return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Style {
    /// Returns the address of the link with a number; `nil` if nothing has kept it.
    package static func address(ofLink number: UInt32) -> String? { Link(number: number)?.address }
}
