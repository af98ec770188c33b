// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A text to look for in bytes.
///
/// Without a capital letter it ignores the case of the letters A to Z; others are compared as they are.
public struct Pattern: Hashable, Sendable {
    /// What the user has written.
    public let text: String
    /// Whether the case of letters makes no difference.
    public let ignoresCase: Bool
    private let bytes: [UInt8]
    /// The place of the byte that is looked for first: a byte that is rare in logs, if the pattern has any.
    private let anchor: Int

    /// The pattern of a text; nil if the text is empty.
    public init?(_ text: String) {
        if text.isEmpty { return nil }
        self.text = text
        ignoresCase = !text.contains { $0.isUppercase }
        bytes = Array(text.utf8)
        anchor = bytes.firstIndex { !" etaoinsrhldcu0123456789-:./".utf8.contains($0) } ?? 0
    }

    /// How many bytes a match has.
    public var length: Int { bytes.count }

    /// Makes bytes ready to be searched.
    func prepare(_ buffer: UnsafeMutableRawBufferPointer) {
        guard ignoresCase else { return }
        // Without a branch, so that the compiler makes vectors of it.
        for index in buffer.indices {
            let byte = buffer[index]
            buffer[index] = byte | (byte &- 65 < 26 ? 32 : 0)
        }
    }

    /// The first match from an index on, in bytes that were made ready.
    func firstMatch(in buffer: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = buffer.baseAddress else { return nil }
        var place = start
        while place + length <= buffer.count {
            // SAFETY: a match that begins at place or behind it, and at `last` at most, ends in the buffer.
            let last = buffer.count - length
            guard let found = memchr(base + place + anchor, CInt(bytes[anchor]), last - place + 1) else { return nil }
            place = UnsafeRawPointer(found) - base - anchor
            if memcmp(base + place, bytes, length) == 0 { return place }
            place += 1
        }
        return nil
    }

    /// The matches in a text, which do not overlap.
    public func matches(in text: String) -> [Range<String.Index>] {
        var buffer = Array(text.utf8)
        var found: [Range<Int>] = []
        buffer.withUnsafeMutableBytes { buffer in
            prepare(buffer)
            var start = 0
            while let match = firstMatch(in: UnsafeRawBufferPointer(buffer), from: start) {
                start = match + length
                found.append(match..<start)
            }
        }
        let utf8 = text.utf8
        return found.map {
            utf8.index(utf8.startIndex, offsetBy: $0.lowerBound)..<utf8.index(utf8.startIndex, offsetBy: $0.upperBound)
        }
    }
}
