// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// One event in a ring: seven words.
struct RawEvent {
    var time: Int64 = 0
    /// The kind, detail, depth and thread of the event, in separate bits.
    var head: UInt64 = 0
    var label: UInt64 = 0
    var line: UInt64 = 0
    var first: Int64 = 0
    var second: Int64 = 0
    var third: Int64 = 0
}

/// The most recent events of one loop.
///
/// The loop's thread writes, any thread reads, without locks.
///
/// The size of the memory is fixed. An entry is eight words, one line of the processor's cache; the first word is the
/// version.
final class EventRing: LabelHolder {
    private static let wordsAnEntry = 8

    private let capacity: Int
    private let words: SharedWords
    private let written = Atomic<UInt64>(0)

    /// Makes an empty ring for `capacity` events.
    ///
    /// - Precondition: `capacity` is a power of two.
    init(capacity: Int) {
        self.capacity = capacity
        words = SharedWords(count: capacity * Self.wordsAnEntry)
    }

    /// The number of events written so far, including those that have been overwritten.
    var count: UInt64 { written.load(ordering: .acquiring) }

    /// Writes an event in place of the oldest one.
    ///
    /// Called by the loop's thread.
    @inline(__always)
    func write(_ event: RawEvent) {
        let number = written.load(ordering: .relaxed)
        let entry = entry(number)
        words.beginWriting(version: entry)
        words[entry + 1] = UInt64(bitPattern: event.time)
        words[entry + 2] = event.head
        words[entry + 3] = event.label
        words[entry + 4] = event.line
        words[entry + 5] = UInt64(bitPattern: event.first)
        words[entry + 6] = UInt64(bitPattern: event.second)
        words[entry + 7] = UInt64(bitPattern: event.third)
        words.endWriting(version: entry)
        // The event before the count.
        written.store(number &+ 1, ordering: .releasing)
    }

    /// Called by the loop's thread, or by any thread after the last event was written.
    func visitLabels(_ visit: (UInt64) -> Void) {
        for index in 0..<Int(min(count, UInt64(capacity))) { visit(words[index * Self.wordsAnEntry + 3]) }
    }

    /// Returns the events in the ring, oldest first, and the number of events that were overwritten.
    ///
    /// Thread safety: any thread, while the loop continues to write.
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
        let entry = entry(number)
        func word(_ index: Int) -> UInt64 { words[entry + index] }
        func signed(_ index: Int) -> Int64 { Int64(bitPattern: word(index)) }
        let found = words.read(version: entry) {
            RawEvent(
                time: signed(1), head: word(2), label: word(3), line: word(4), first: signed(5), second: signed(6),
                third: signed(7))
        }
        // Each round through the ring has written the entry once.
        guard let (event, version) = found, version == (number / UInt64(capacity) &+ 1) &* 2 else { return nil }
        return event
    }

    private func entry(_ number: UInt64) -> Int {
        Int(truncatingIfNeeded: number & UInt64(capacity - 1)) * Self.wordsAnEntry
    }
}
