// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Finds the ends of lines, portion by portion.
struct LineScan {
    /// Where the next portion begins.
    private(set) var position = 0

    /// The offsets behind the line breaks of a portion that begins at ``position``.
    mutating func scan(_ buffer: UnsafeMutableRawBufferPointer) -> [Int] {
        defer { position += buffer.count }
        var ends: [Int] = []
        ends.reserveCapacity(buffer.count / 64)
        var index = 0
        while let found = lineBreak(in: UnsafeRawBufferPointer(buffer), from: index) {
            index = found + 1
            ends.append(position + index)
        }
        return ends
    }
}

/// Finds the lines that contain a pattern, portion by portion: the first match in each.
struct MatchScan {
    let pattern: Pattern
    /// Where the next portion begins: the end of the last portion is read again, because a match may begin there.
    private(set) var position = 0
    /// How many bytes of the file were searched.
    private(set) var scanned = 0
    /// Whether the rest of the line is passed over, because it has a match already.
    private var isInMatchedLine = false

    init(_ pattern: Pattern) { self.pattern = pattern }

    /// The offsets of the matches in a portion that begins at ``position``.
    ///
    /// - Parameter buffer: The bytes, which may be changed.
    mutating func scan(_ buffer: UnsafeMutableRawBufferPointer) -> [Int] {
        pattern.prepare(buffer)
        let bytes = UnsafeRawBufferPointer(buffer)
        var matches: [Int] = []
        var index = 0
        while index < bytes.count {
            if isInMatchedLine {
                guard let end = lineBreak(in: bytes, from: index) else {
                    index = bytes.count
                    break
                }
                isInMatchedLine = false
                index = end + 1
            } else if let match = pattern.firstMatch(in: bytes, from: index) {
                matches.append(position + match)
                isInMatchedLine = true
                index = match + pattern.length
            } else {
                index = max(index, bytes.count - pattern.length + 1)
                break
            }
        }
        scanned = position + bytes.count
        position += index
        return matches
    }
}

private func lineBreak(in buffer: UnsafeRawBufferPointer, from start: Int) -> Int? {
    // SAFETY: start lies in the buffer or at its end, so that memchr reads no further.
    guard let base = buffer.baseAddress, start < buffer.count,
        let found = memchr(base + start, 10, buffer.count - start)
    else { return nil }
    return UnsafeRawPointer(found) - base
}
