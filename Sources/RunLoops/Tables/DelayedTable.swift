// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A closure that is called once after a delay: a timer without an object.
package struct DelayedBody: ~Copyable {
    // The closure is part of a value that is not copied: a call counts no reference to it.
    let call: () -> Void
    /// Where the closure was asked for.
    let place: CodePlace

    var label: ItemLabel { .place(place) }
}

/// The closures of one queue that are called after a delay, each named by its place and by a number that no other has.
///
/// O(1). Memory: 40 bytes for each closure that waits at the same time, up to twice that while the table grows.
struct DelayedTable: ~Copyable {
    private struct Place: ~Copyable {
        var body: DelayedBody?
        /// The number of the queue's entry; in a free place the number of the next free place.
        var slot: UInt32
        /// Different for each closure.
        var number: UInt32
    }

    private static var none: UInt32 { .max }

    private var places = TimerMemory<Place>()
    /// Places that were ever used, and are initialised; the places above are free.
    private var used = 0
    private var free = Self.none
    private(set) var count = 0

    init() {}

    deinit { places.base.deinitialize(count: used) }

    /// Keeps a closure, whose slot the caller must set with ``setSlot(_:of:)``; returns its place.
    @inline(__always)
    mutating func add(_ body: consuming DelayedBody, number: UInt32) -> UInt32 {
        count += 1
        if free != Self.none {
            let place = free
            let pointer = places.base + Int(place)
            free = pointer.pointee.slot
            pointer.pointee.number = number
            pointer.pointee.body = consume body
            return place
        }
        if used == places.capacity { places.resize(to: max(8, used * 2)) }
        (places.base + used).initialize(to: Place(body: consume body, slot: 0, number: number))
        used += 1
        return UInt32(truncatingIfNeeded: used - 1)
    }

    @inline(__always)
    func setSlot(_ slot: UInt32, of place: UInt32) { places.base[Int(place)].slot = slot }

    /// The queue's slot of a closure; `nil` if it was called or cancelled before.
    @inline(__always)
    func slot(of place: UInt32, number: UInt32) -> UInt32? {
        guard place < used, places.base[Int(place)].number == number else { return nil }
        switch places.base[Int(place)].body {
        case .none: return nil
        case .some: return places.base[Int(place)].slot
        }
    }

    /// Where a closure was asked for.
    func label(of place: UInt32) -> ItemLabel? {
        switch places.base[Int(place)].body {
        case .none: nil
        case .some(let body): body.label
        }
    }

    /// Takes a closure out.
    ///
    /// - Precondition: the place has a closure.
    @inline(__always)
    mutating func take(_ place: UInt32) -> DelayedBody {
        let pointer = places.base + Int(place)
        pointer.pointee.slot = free
        free = place
        count -= 1
        return pointer.pointee.body.take()!
    }

    /// Takes all closures out, so that the caller can release them without a lock.
    mutating func takeAll() -> [() -> Void] {
        var all: [() -> Void] = []
        for place in 0..<used {
            guard let body = places.base[place].body.take() else { continue }
            all.append(body.call)
        }
        count = 0
        return all
    }

    var isRoomy: Bool { count == 0 && places.isRoomy(for: 0) }

    /// Releases the memory that a burst has left.
    ///
    /// - Precondition: empty.
    mutating func trim() {
        places.base.deinitialize(count: used)
        places.resize(to: TimerMemory<Place>.leastPaged)
        used = 0
        free = Self.none
    }
}
