// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A heap of dates in which each entry has four children.
///
/// An entry contains everything that is compared, so that a step reads one cache line and no timer. A number, the cell,
/// identifies each timer or closure. The heap records the place of each cell's entry in a table that it is given. Memory:
/// 16 bytes an entry, up to twice that while the storage grows.
/// - Complexity: the first is read in O(1); adding and removing are O(log n), adding at a random date O(1) on average.
struct TimerHeap: ~Copyable {
    /// One date and the cell that it belongs to.
    struct Entry: BitwiseCopyable {
        let date: Int64
        /// The sequence in the upper half, the cell in the lower half.
        private var rank: UInt64

        @inline(__always)
        init(date: Int64, sequence: UInt32, cell: UInt32) {
            self.date = date
            rank = UInt64(sequence) &<< 32 | UInt64(cell)
        }

        /// The number that orders entries of equal dates; a later entry has a greater number.
        var sequence: UInt32 {
            @inline(__always) get { UInt32(truncatingIfNeeded: rank &>> 32) }
            set { rank = UInt64(newValue) &<< 32 | UInt64(cell) }
        }

        var cell: UInt32 {
            @inline(__always) get { UInt32(truncatingIfNeeded: rank) }
        }

        @inline(__always)
        func isBefore(_ other: Entry) -> Bool { order < other.order }

        /// Date and sequence as one number, so that a comparison takes four instructions, and no branch that the
        /// processor could not predict.
        private var order: Int128 {
            @inline(__always) get { Int128(date) &<< 64 | Int128(rank) }
        }
    }

    /// The places of the entries, by cell; with room for every cell that has an entry.
    typealias Places = TimerMemory<TimerPlace>

    /// The entries, placed so that the four children of an entry are one cache line.
    private var entries = TimerMemory<Entry>(lead: 3)
    private(set) var count = 0

    init() {}

    /// Whether the entry of the cell is in this heap, at the place.
    @inline(__always)
    func has(_ cell: UInt32, at place: TimerPlace) -> Bool {
        place.heapIndex < count && entries[place.heapIndex].cell == cell
    }

    @inline(__always)
    var isEmpty: Bool { count == 0 }

    /// The earliest date; `Int64.max` if there is none.
    @inline(__always)
    var firstDate: Int64 { count == 0 ? .max : entries[0].date }

    @inline(__always)
    var first: Entry? { count == 0 ? nil : entries[0] }

    /// Adds an entry.
    ///
    /// - Precondition: no entry has the cell.
    @inline(__always)
    mutating func insert(_ entry: Entry, _ places: borrowing Places) {
        if count == entries.capacity { entries.resize(to: max(8, count * 2)) }
        count += 1
        siftUp(entry, from: count - 1, places)
    }

    /// Replaces the present entry of the cell.
    ///
    /// - Precondition: an entry has the cell.
    @inline(__always)
    mutating func update(_ entry: Entry, _ places: borrowing Places) {
        let index = places[Int(entry.cell)].heapIndex
        if index > 0, entry.isBefore(entries[(index &- 1) >> 2]) {
            siftUp(entry, from: index, places)
        } else {
            siftDown(entry, from: index, places)
        }
    }

    /// Removes the entry of the cell.
    ///
    /// - Precondition: an entry has the cell.
    @inline(__always)
    mutating func remove(_ cell: UInt32, _ places: borrowing Places) {
        let index = places[Int(cell)].heapIndex
        assert(has(cell, at: places[Int(cell)]), "A timer was taken out of a heap it is not in.")
        count -= 1
        if index < count { siftDown(entries[count], from: index, places) }
    }

    /// Removes the first entry.
    ///
    /// - Precondition: the heap is not empty.
    @inline(__always)
    mutating func removeFirst(_ places: borrowing Places) {
        count -= 1
        if count > 0 { siftDown(entries[count], from: 0, places) }
    }

    /// Calls `body` with all entries, in no order.
    func visit(_ body: (Entry) -> Void) {
        for index in 0..<count { body(entries[index]) }
    }

    /// Gives each entry another sequence, in the same order.
    mutating func renumber(_ number: (UInt32) -> UInt32) {
        for index in 0..<count { entries.base[index].sequence = number(entries[index].sequence) }
    }

    /// Whether much more memory is allocated than used after a burst.
    var isRoomy: Bool { entries.isRoomy(for: count) }

    /// Releases unused memory after a burst.
    mutating func trim() {
        if isRoomy { entries.resize(to: max(TimerMemory<Entry>.minKept, count * 2)) }
    }

    // The addresses of both tables are looked up once: nothing below moves them.

    @inline(__always)
    private func siftUp(_ entry: Entry, from start: Int, _ places: borrowing Places) {
        let (entries, places) = (entries.base, places.base)
        var index = start
        while index > 0 {
            let parent = (index &- 1) >> 2
            if !entry.isBefore(entries[parent]) { break }
            Self.put(entries[parent], at: index, entries, places)
            index = parent
        }
        Self.put(entry, at: index, entries, places)
    }

    /// Fills the gap at `start` with `entry`: moves the gap down to the bottom, and then the entry up from there.
    ///
    /// Most entries come from the bottom and belong there, so that comparing with the entry on the way down would
    /// usually be wasted.
    @inline(__always)
    private func siftDown(_ entry: Entry, from start: Int, _ table: borrowing Places) {
        let (entries, places) = (entries.base, table.base)
        let end = entries + count
        var hole = entries + start
        while true {
            let children = Self.children(of: hole, entries)
            var least = children
            if children + 4 <= end {
                // A tournament of four, whose first two comparisons do not depend on each other.
                let left = children[1].isBefore(children[0]) ? children + 1 : children
                let right = children[3].isBefore(children[2]) ? children + 3 : children + 2
                least = right.pointee.isBefore(left.pointee) ? right : left
            } else {
                if children >= end { break }
                var child = children + 1
                while child < end {
                    if child.pointee.isBefore(least.pointee) { least = child }
                    child += 1
                }
            }
            Self.put(least.pointee, at: Self.index(of: hole, entries), entries, places)
            hole = least
        }
        siftUp(entry, from: Self.index(of: hole, entries), table)
    }

    /// The first of the four children of an entry: the child at index 4·i + 1 for the entry at index i.
    @inline(__always)
    private static func children(
        of entry: UnsafeMutablePointer<Entry>, _ entries: UnsafeMutablePointer<Entry>
    ) -> UnsafeMutablePointer<Entry> {
        let bytes = UnsafeRawPointer(entry) - UnsafeRawPointer(entries)
        return (UnsafeMutableRawPointer(entries + 1) + bytes &* 4).assumingMemoryBound(to: Entry.self)
    }

    /// The index of an entry, computed without a sign, because a division of a signed number takes additional
    /// instructions for rounding.
    @inline(__always)
    private static func index(of entry: UnsafeMutablePointer<Entry>, _ entries: UnsafeMutablePointer<Entry>) -> Int {
        let bytes = UnsafeRawPointer(entry) - UnsafeRawPointer(entries)
        return Int(bitPattern: UInt(bitPattern: bytes) / UInt(MemoryLayout<Entry>.stride))
    }

    @inline(__always)
    private static func put(
        _ entry: Entry, at index: Int, _ entries: UnsafeMutablePointer<Entry>,
        _ places: UnsafeMutablePointer<TimerPlace>
    ) {
        entries[index] = entry
        places[Int(entry.cell)] = TimerPlace(inHeap: index)
    }
}
