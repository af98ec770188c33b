// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Ascending offsets in a file, four bytes each.
///
/// They are kept in blocks, each with a first offset and distances to it: so a list of millions grows without being
/// copied, and an offset beyond 4 GiB begins a block of its own.
public struct OffsetList: Sendable {
    private struct Block: Sendable {
        /// How many offsets come before it.
        let start: Int
        let base: Int
        var distances: [UInt32] = []
    }

    private static let blockSize = 16384
    private var blocks: [Block] = []
    /// How many offsets there are.
    public private(set) var count = 0

    /// An empty list.
    public init() {}

    /// The bytes that the offsets take.
    public var byteCount: Int { blocks.reduce(0) { $0 + $1.distances.capacity * 4 } }

    /// The greatest offset.
    public var last: Int? { blocks.last.map { $0.base + Int($0.distances[$0.distances.count - 1]) } }

    /// Adds an offset that is greater than all others.
    ///
    /// - Complexity: O(1) amortised.
    public mutating func append(_ offset: Int) {
        precondition(last.map { $0 < offset } ?? true, "Offset \(offset) is not greater than \(last ?? 0).")
        let isFull = blocks.last.map { $0.distances.count == Self.blockSize || offset - $0.base > UInt32.max } ?? true
        if isFull {
            blocks.append(Block(start: count, base: offset))
            // An array that grows by itself has room for twice as many in the end; the first block may stay small.
            if count > 0 { blocks[blocks.count - 1].distances.reserveCapacity(Self.blockSize) }
        }
        blocks[blocks.count - 1].distances.append(UInt32(offset - blocks[blocks.count - 1].base))
        count += 1
    }

    /// The offset at a position.
    ///
    /// - Precondition: there is such a position.
    /// - Complexity: O(log n).
    public subscript(position: Int) -> Int {
        precondition(position >= 0 && position < count, "There is no offset \(position): the list has \(count).")
        let block = blocks[Self.first(blocks.count) { blocks[$0].start > position } - 1]
        return block.base + Int(block.distances[position - block.start])
    }

    /// How many offsets are less than a number.
    ///
    /// - Complexity: O(log n).
    public func count(below offset: Int) -> Int {
        let number = Self.first(blocks.count) { blocks[$0].base >= offset }
        if number == 0 { return 0 }
        let block = blocks[number - 1]
        return block.start + Self.first(block.distances.count) { block.base + Int(block.distances[$0]) >= offset }
    }

    /// The first position for which a condition holds that holds for all positions behind it too.
    private static func first(_ count: Int, where condition: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if condition(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
