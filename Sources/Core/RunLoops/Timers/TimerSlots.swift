// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel

/// Assigns small numbers to timers, and finds the timer or closure of a number.
///
/// The table does not keep objects alive. All operations are O(1). Memory: 8 bytes times the greatest number of timers
/// at one time, up to twice that.
struct SlotTable<Object: AnyObject>: ~Copyable {
    /// The content of a slot.
    enum Content {
        case object(Unmanaged<Object>)
        /// A closure without an object, by its index in the table of closures.
        case delayed(UInt32)
    }

    /// The meaning of the two lowest bits of a word; both are clear in the address of an object.
    private enum Tag {
        static var free: UInt { 1 }
        static var delayed: UInt { 2 }
        static var all: UInt { 3 }
        static var bits: UInt { 2 }
    }

    private static var none: UInt32 { .max }

    private var words = TimerMemory<UInt>()
    /// Slots that were ever used; the slots above are free.
    private var used = 0
    private var free = Self.none
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    @inline(__always)
    subscript(slot: UInt32) -> Content {
        let word = words[Int(slot)]
        if word & Tag.all == Tag.delayed { return .delayed(UInt32(truncatingIfNeeded: word >> Tag.bits)) }
        // SAFETY: the owner asks for slots that it has, and keeps the objects alive.
        return .object(Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped))
    }

    @inline(__always)
    mutating func add(_ object: Unmanaged<Object>) -> UInt32 { add(UInt(bitPattern: object.toOpaque())) }

    @inline(__always)
    mutating func add(delayed index: UInt32) -> UInt32 { add(UInt(index) << Tag.bits | Tag.delayed) }

    @inline(__always)
    private mutating func add(_ word: UInt) -> UInt32 {
        let slot: UInt32
        if free != Self.none {
            slot = free
            free = UInt32(truncatingIfNeeded: words[Int(slot)] >> Tag.bits)
        } else {
            if used == words.capacity { words.resize(to: max(8, used * 2)) }
            slot = UInt32(truncatingIfNeeded: used)
            used += 1
        }
        words[Int(slot)] = word
        count += 1
        return slot
    }

    @inline(__always)
    mutating func remove(_ slot: UInt32) {
        words[Int(slot)] = UInt(free) << Tag.bits | Tag.free
        free = slot
        count -= 1
    }

    /// Prefetches the word of a slot.
    @inline(__always)
    func prefetch(_ slot: UInt32) { rl_prefetch(words.base + Int(slot)) }

    /// Prefetches the object of a slot.
    @inline(__always)
    func prefetchObject(_ slot: UInt32) {
        let word = words[Int(slot)]
        if word & Tag.all == 0 { rl_prefetch_object(word) }
    }

    var isRoomy: Bool { isEmpty && words.isRoomy(for: 0) }

    /// Releases unused memory after a burst.
    ///
    /// - Precondition: empty.
    mutating func trim() {
        words.resize(to: TimerMemory<UInt>.minKept)
        used = 0
        free = Self.none
    }
}

/// A closure that is called once after a delay: a timer without an object.
struct DelayedBody: ~Copyable {
    // The structure cannot be copied, so that a call of the closure does no reference counting.
    let call: () -> Void
    /// The location that posted the closure.
    let location: CodeLocation

    var label: ItemLabel { ItemLabel(location) }
}

/// The delayed closures of one queue; a closure is identified by its cell, and by a number that is new for each
/// closure.
///
/// All operations are O(1). Memory: 40 bytes for each closure that waits at the same time, up to twice that while the
/// table grows.
struct DelayedTable: ~Copyable {
    private struct Cell: ~Copyable {
        var body: DelayedBody?
        /// The number of the queue's entry; in a free cell the index of the next free cell.
        var slot: UInt32
        /// The number of the closure, different for each closure.
        var number: UInt32
    }

    private static var none: UInt32 { .max }

    private var cells = TimerMemory<Cell>()
    /// Cells that were ever used, and are initialised; the cells above are free.
    private var used = 0
    private var free = Self.none
    private(set) var count = 0

    init() {}

    deinit { cells.base.deinitialize(count: used) }

    /// Stores a closure in a free cell, and returns the index of the cell.
    ///
    /// The caller must then set the closure's slot with ``setSlot(_:of:)``.
    @inline(__always)
    mutating func add(_ body: consuming DelayedBody, number: UInt32) -> UInt32 {
        count += 1
        if free != Self.none {
            let index = free
            let pointer = cells.base + Int(index)
            free = pointer.pointee.slot
            pointer.pointee.number = number
            pointer.pointee.body = consume body
            return index
        }
        if used == cells.capacity { cells.resize(to: max(8, used * 2)) }
        (cells.base + used).initialize(to: Cell(body: consume body, slot: 0, number: number))
        used += 1
        return UInt32(truncatingIfNeeded: used - 1)
    }

    @inline(__always)
    func setSlot(_ slot: UInt32, of index: UInt32) { cells.base[Int(index)].slot = slot }

    /// The queue's slot of a closure; `nil` if it was called or cancelled before.
    @inline(__always)
    func slot(of index: UInt32, number: UInt32) -> UInt32? {
        guard index < used, cells.base[Int(index)].number == number else { return nil }
        switch cells.base[Int(index)].body {
        case .none: return nil
        case .some: return cells.base[Int(index)].slot
        }
    }

    /// The number of the closure in a cell.
    ///
    /// - Precondition: the cell has a closure.
    func number(of index: UInt32) -> UInt32 { cells.base[Int(index)].number }

    /// The location that posted a closure.
    func label(of index: UInt32) -> ItemLabel? {
        switch cells.base[Int(index)].body {
        case .none: nil
        case .some(let body): body.label
        }
    }

    /// Removes and returns a closure.
    ///
    /// - Precondition: the cell has a closure.
    @inline(__always)
    mutating func take(_ index: UInt32) -> DelayedBody {
        let pointer = cells.base + Int(index)
        pointer.pointee.slot = free
        free = index
        count -= 1
        return pointer.pointee.body.take()!
    }

    /// Removes and returns all closures, so that the caller can release them without a lock.
    mutating func takeAll() -> [() -> Void] {
        var all: [() -> Void] = []
        for index in 0..<used {
            guard let body = cells.base[index].body.take() else { continue }
            all.append(body.call)
        }
        count = 0
        return all
    }

    var isRoomy: Bool { count == 0 && cells.isRoomy(for: 0) }

    /// Releases unused memory after a burst.
    ///
    /// - Precondition: empty.
    mutating func trim() {
        cells.base.deinitialize(count: used)
        cells.resize(to: TimerMemory<Cell>.minKept)
        used = 0
        free = Self.none
    }
}
