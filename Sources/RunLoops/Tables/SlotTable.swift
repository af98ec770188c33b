// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel

/// Gives small numbers to timers, and finds by a number what is to be called.
///
/// Does not keep objects alive. O(1). Memory: 8 bytes for each timer that was in at the same time, up to twice that.
struct SlotTable<Object: AnyObject>: ~Copyable {
    /// What a slot stands for.
    enum Content {
        case object(Unmanaged<Object>)
        /// A closure without an object, by its index in the table of closures.
        case delayed(UInt32)
    }

    /// The two lowest bits of a word say what it is; in addresses of objects both bits are clear.
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

    /// Releases the memory that a burst has left.
    ///
    /// - Precondition: empty.
    mutating func trim() {
        words.resize(to: TimerMemory<UInt>.leastKept)
        used = 0
        free = Self.none
    }
}
