// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A closure that is called once after a delay: a timer without an object.
package struct DelayedBody: ~Copyable {
    // The closure is part of a value that is not copied: a call counts no reference to it.
    let call: () -> Void
    /// Where the closure was asked for.
    let location: CodeLocation

    var label: ItemLabel { .location(location) }
}

/// The closures of one queue that are called after a delay, each named by its cell and by a number that no other has.
///
/// O(1). Memory: 40 bytes for each closure that waits at the same time, up to twice that while the table grows.
struct DelayedTable: ~Copyable {
    private struct Cell: ~Copyable {
        var body: DelayedBody?
        /// The number of the queue's entry; in a free cell the index of the next free cell.
        var slot: UInt32
        /// Different for each closure.
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

    /// Keeps a closure, whose slot the caller must set with ``setSlot(_:of:)``; returns the index of its cell.
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

    /// Where a closure was asked for.
    func label(of index: UInt32) -> ItemLabel? {
        switch cells.base[Int(index)].body {
        case .none: nil
        case .some(let body): body.label
        }
    }

    /// Takes a closure out.
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

    /// Takes all closures out, so that the caller can release them without a lock.
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

    /// Releases the memory that a burst has left.
    ///
    /// - Precondition: empty.
    mutating func trim() {
        cells.base.deinitialize(count: used)
        cells.resize(to: TimerMemory<Cell>.leastKept)
        used = 0
        free = Self.none
    }
}
