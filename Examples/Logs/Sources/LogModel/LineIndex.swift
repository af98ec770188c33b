// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Where the lines of a file lie, as far as the file was read.
///
/// A line ends behind its line break. What follows the last line break is a line too, which may still grow.
public struct LineIndex: Sendable {
    /// The offset behind each line break.
    public private(set) var ends = OffsetList()
    /// How many bytes of the file were read.
    public private(set) var scanned = 0

    /// The index of an empty file.
    public init() {}

    /// Adds the ends of lines that were found up to an offset.
    public mutating func append(_ ends: [Int], scanned: Int) {
        for end in ends { self.ends.append(end) }
        self.scanned = scanned
    }

    /// Whether the last line has no line break yet.
    public var hasOpenLine: Bool { scanned > (ends.last ?? 0) }

    /// How many lines there are.
    public var count: Int { ends.count + (hasOpenLine ? 1 : 0) }

    /// The bytes of a line, with its line break.
    ///
    /// - Complexity: O(log n).
    public func range(of line: Int) -> Range<Int> {
        let start = line == 0 ? 0 : ends[line - 1]
        return start..<(line < ends.count ? ends[line] : scanned)
    }

    /// The line that a byte belongs to.
    ///
    /// - Complexity: O(log n).
    public func line(at offset: Int) -> Int { ends.count(below: offset + 1) }
}
