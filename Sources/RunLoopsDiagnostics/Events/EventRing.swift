// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// One event in a ring: seven words.
struct RawEvent {
    var time: Int64 = 0
    /// Kind, detail, depth and thread, each in bits of its own.
    var head: UInt64 = 0
    var label: UInt64 = 0
    var line: UInt64 = 0
    var first: Int64 = 0
    var second: Int64 = 0
    var third: Int64 = 0
}

/// The last events of one loop: written by its thread alone, read by any, without locks.
///
/// Memory of fixed size. An entry is eight words, a line of the processor's cache, of which the first is a number that
/// says which event is there: odd while it is written. A reader that finds it changed has read a torn entry, and drops
/// it.
final class EventRing: @unchecked Sendable {
    private static let wordsAnEntry = 8

    let capacity: Int
    // SAFETY: `capacity * wordsAnEntry` words, zero at first, given back in deinit; an atomic is laid out as what it
    // holds.
    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let written = Atomic<UInt64>(0)

    /// - Precondition: `capacity` is a power of two.
    init(capacity: Int) {
        self.capacity = capacity
        // calloc: the system gives the pages when they are touched, so that a short recording takes little.
        guard let memory = calloc(capacity * Self.wordsAnEntry, MemoryLayout<UInt64>.stride) else {
            fatalError("Out of memory for \(capacity) events of a run loop: record with a smaller capacity.")
        }
        words = memory.bindMemory(to: Atomic<UInt64>.self, capacity: capacity * Self.wordsAnEntry)
    }

    deinit { free(words) }

    /// How many were written, those included that have been overwritten since.
    var count: UInt64 { written.load(ordering: .acquiring) }

    /// Writes one event over the oldest.
    ///
    /// The loop's thread.
    func write(_ event: RawEvent) {
        let number = written.load(ordering: .relaxed)
        let entry = words + Int(truncatingIfNeeded: number & UInt64(capacity - 1)) * Self.wordsAnEntry
        entry[0].store(number &* 2 &+ 1, ordering: .relaxed)
        // The odd number before the words: partner of the fence in read.
        atomicMemoryFence(ordering: .releasing)
        entry[1].store(UInt64(bitPattern: event.time), ordering: .relaxed)
        entry[2].store(event.head, ordering: .relaxed)
        entry[3].store(event.label, ordering: .relaxed)
        entry[4].store(event.line, ordering: .relaxed)
        entry[5].store(UInt64(bitPattern: event.first), ordering: .relaxed)
        entry[6].store(UInt64(bitPattern: event.second), ordering: .relaxed)
        entry[7].store(UInt64(bitPattern: event.third), ordering: .relaxed)
        // The words before the even number, and that before the count.
        entry[0].store(number &* 2 &+ 2, ordering: .releasing)
        written.store(number &+ 1, ordering: .releasing)
    }

    /// The events that are there, oldest first, and how many were overwritten.
    ///
    /// Any thread, while the loop writes on.
    func read() -> (events: [RawEvent], lost: UInt64) {
        let end = count
        let begin = end > UInt64(capacity) ? end - UInt64(capacity) : 0
        var events: [RawEvent] = []
        events.reserveCapacity(Int(end - begin))
        // Those overwritten while this reads are at the beginning: what follows them is whole, so no gap comes of it.
        for number in begin..<end {
            if let event = read(number) { events.append(event) } else { events.removeAll(keepingCapacity: true) }
        }
        return (events, end - UInt64(events.count))
    }

    private func read(_ number: UInt64) -> RawEvent? {
        let entry = words + Int(truncatingIfNeeded: number & UInt64(capacity - 1)) * Self.wordsAnEntry
        let whole = number &* 2 &+ 2
        // acquiring: pairs with the release of the even number, so that the words of this event are seen.
        guard entry[0].load(ordering: .acquiring) == whole else { return nil }
        let event = RawEvent(
            time: Int64(bitPattern: entry[1].load(ordering: .relaxed)), head: entry[2].load(ordering: .relaxed),
            label: entry[3].load(ordering: .relaxed), line: entry[4].load(ordering: .relaxed),
            first: Int64(bitPattern: entry[5].load(ordering: .relaxed)),
            second: Int64(bitPattern: entry[6].load(ordering: .relaxed)),
            third: Int64(bitPattern: entry[7].load(ordering: .relaxed)))
        // A word of a later event seen above means that its odd number is seen below.
        atomicMemoryFence(ordering: .acquiring)
        return entry[0].load(ordering: .relaxed) == whole ? event : nil
    }
}
