// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A heap of dates in which each entry has four children.
///
/// An entry contains everything that is compared, so that a step reads one cache line and no timer. A number, the slot,
/// identifies each timer or closure; the owner of the heap assigns the slots. A separate table has the position of each
/// slot's entry. Memory: 16 bytes an entry, up to twice that while the storage grows, and 4 bytes a slot.
/// - Complexity: the first is read in O(1); adding and removing are O(log n), adding at a random date O(1) on average.
struct TimerHeap: ~Copyable {
    /// One date and the slot that it belongs to.
    struct Entry: BitwiseCopyable {
        let date: Int64
        /// The sequence in the upper half, the slot in the lower half.
        private var rank: UInt64

        @inline(__always)
        init(date: Int64, sequence: UInt32, slot: UInt32) {
            self.date = date
            rank = UInt64(sequence) &<< 32 | UInt64(slot)
        }

        /// The number that orders entries of equal dates; a later entry has a greater number.
        var sequence: UInt32 {
            @inline(__always) get { UInt32(truncatingIfNeeded: rank &>> 32) }
            set { rank = UInt64(newValue) &<< 32 | UInt64(slot) }
        }

        var slot: UInt32 {
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

    private static let nowhere = UInt32.max
    /// The bit that marks the position of an entry which was moved to a ``DueList``; the other bits are its place
    /// there.
    private static let elsewhere: UInt32 = 1 << 31

    /// The entries, placed so that the four children of an entry are one cache line.
    private var entries = TimerMemory<Entry>(lead: 3)
    private(set) var count = 0
    /// The position of each slot's entry: its index in the heap, a place with `elsewhere`, or `nowhere`.
    private var positions = TimerMemory<UInt32>()

    init() {}

    @inline(__always)
    var isEmpty: Bool { count == 0 }

    /// The earliest date; `Int64.max` if there is none.
    @inline(__always)
    var firstDate: Int64 { count == 0 ? .max : entries[0].date }

    @inline(__always)
    var first: Entry? { count == 0 ? nil : entries[0] }

    @inline(__always)
    func contains(_ slot: UInt32) -> Bool {
        slot < positions.capacity && positions[Int(slot)] < Self.elsewhere
    }

    /// The place to which ``removeFirst(to:)`` has last moved the entry of a slot; `nil` if the entry is in the heap or
    /// has been removed.
    ///
    /// The place may be out of date: the slot may have been used in another heap since.
    func lastPlace(of slot: UInt32) -> Int? {
        guard slot < positions.capacity else { return nil }
        let position = positions[Int(slot)]
        return position < Self.elsewhere || position == Self.nowhere ? nil : Int(position & ~Self.elsewhere)
    }

    /// Adds an entry.
    ///
    /// - Precondition: no entry has the slot.
    @inline(__always)
    mutating func insert(_ entry: Entry) {
        if entry.slot >= positions.capacity { growPositions(to: Int(entry.slot) + 1) }
        if count == entries.capacity { entries.resize(to: max(8, count * 2)) }
        count += 1
        siftUp(entry, from: count - 1)
    }

    /// Replaces the present entry of the slot.
    ///
    /// - Precondition: an entry has the slot.
    @inline(__always)
    mutating func update(_ entry: Entry) {
        let index = Int(positions[Int(entry.slot)])
        if index > 0, entry.isBefore(entries[(index &- 1) >> 2]) {
            siftUp(entry, from: index)
        } else {
            siftDown(entry, from: index)
        }
    }

    /// Removes the entry of the slot.
    ///
    /// - Precondition: an entry has the slot.
    @inline(__always)
    mutating func remove(_ slot: UInt32) {
        assert(contains(slot), "A timer was taken out of a heap it is not in.")
        let index = Int(positions[Int(slot)])
        positions[Int(slot)] = Self.nowhere
        count -= 1
        if index < count { siftDown(entries[count], from: index) }
    }

    /// Removes the first entry, and records that it is at `place` of a ``DueList`` now.
    ///
    /// - Precondition: the heap is not empty.
    @inline(__always)
    mutating func removeFirst(to place: Int) {
        positions[Int(entries[0].slot)] = Self.elsewhere | UInt32(truncatingIfNeeded: place)
        count -= 1
        if count > 0 { siftDown(entries[count], from: 0) }
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
    var isRoomy: Bool { entries.isRoomy(for: count) || (isEmpty && positions.isRoomy(for: 0)) }

    /// Releases unused memory after a burst.
    mutating func trim() {
        if entries.isRoomy(for: count) {
            entries.resize(to: max(TimerMemory<Entry>.minKept, count * 2))
        }
        if isEmpty, positions.isRoomy(for: 0) { positions.resize(to: TimerMemory<UInt32>.minKept) }
    }

    @inline(never)
    private mutating func growPositions(to needed: Int) {
        let old = positions.capacity
        positions.resize(to: max(8, needed, old * 2))
        (positions.base + old).initialize(repeating: Self.nowhere, count: positions.capacity - old)
    }

    // The addresses of both tables are looked up once: nothing below moves them.

    @inline(__always)
    private func siftUp(_ entry: Entry, from start: Int) {
        let (entries, positions) = (entries.base, positions.base)
        var index = start
        while index > 0 {
            let parent = (index &- 1) >> 2
            if !entry.isBefore(entries[parent]) { break }
            Self.put(entries[parent], at: index, entries, positions)
            index = parent
        }
        Self.put(entry, at: index, entries, positions)
    }

    /// Fills the gap at `start` with `entry`: moves the gap down to the bottom, and then the entry up from there.
    ///
    /// Most entries come from the bottom and belong there, so that comparing with the entry on the way down would
    /// usually be wasted.
    @inline(__always)
    private func siftDown(_ entry: Entry, from start: Int) {
        let (entries, positions) = (entries.base, positions.base)
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
            Self.put(least.pointee, at: Self.index(of: hole, entries), entries, positions)
            hole = least
        }
        siftUp(entry, from: Self.index(of: hole, entries))
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
        _ entry: Entry, at index: Int, _ entries: UnsafeMutablePointer<Entry>, _ positions: UnsafeMutablePointer<UInt32>
    ) {
        entries[index] = entry
        positions[Int(entry.slot)] = UInt32(truncatingIfNeeded: index)
    }
}
