// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// The heap against a list that is sorted anew each time.
@Suite(.ownThread) struct TimerHeapTests {
    private typealias Entry = TimerHeap.Entry

    @Test func `An empty heap has no first entry, and its firstDate is the last possible date`() {
        let heap = SharedHeap()
        #expect(heap.count == 0)
        #expect(heap.first == nil)
        #expect(heap.firstDate == .max)
        #expect(heap.isEmpty)
        #expect(heap.slots.isEmpty)
        #expect(!heap.contains(0))
    }

    @Test func `Entries of equal dates are ordered by sequence`() {
        let heap = SharedHeap()
        for (slot, sequence) in [3, 0, 4, 1, 2].enumerated() {
            heap.insert(Entry(date: 7, sequence: UInt32(sequence), slot: UInt32(slot)))
        }
        #expect(heap.drain() == [1, 3, 4, 0, 2])
    }

    @Test func `Renumbered entries keep their order`() {
        let heap = SharedHeap()
        let sequences: [UInt32] = [1, .max, 0, .max - 1]
        for (slot, sequence) in sequences.enumerated() {
            heap.insert(Entry(date: 7, sequence: sequence, slot: UInt32(slot)))
        }
        heap.renumber { old in UInt32(sequences.count { $0 <= old }) }
        heap.insert(Entry(date: 7, sequence: 5, slot: 9))
        #expect(heap.drain() == [2, 0, 3, 1, 9])
    }

    @Test func `The slot of a removed entry is not in the heap and can be inserted again`() {
        let heap = SharedHeap()
        heap.insert(Entry(date: 1, sequence: 0, slot: 5))
        #expect(heap.contains(5))
        #expect(!heap.contains(4))
        heap.remove(5)
        #expect(!heap.contains(5))
        #expect(heap.count == 0)
        heap.insert(Entry(date: 2, sequence: 1, slot: 5))
        #expect(heap.firstDate == 2)
    }

    @Test func `An emptied heap can be filled again`() {
        let heap = SharedHeap()
        for slot in 0..<100 { heap.insert(Entry(date: Int64(slot), sequence: 0, slot: UInt32(slot))) }
        for slot in 0..<100 { heap.remove(UInt32(slot)) }
        #expect(heap.isEmpty)
        #expect(!heap.contains(3))
        heap.insert(Entry(date: 2, sequence: 1, slot: 70))
        #expect(heap.drain() == [70])
    }

    @Test func `An updated entry moves forward or back`() {
        let heap = SharedHeap()
        for slot in 0..<50 { heap.insert(Entry(date: Int64(slot) * 10, sequence: UInt32(slot), slot: UInt32(slot))) }
        heap.update(Entry(date: -1, sequence: 50, slot: 49))
        #expect(heap.first?.slot == 49)
        #expect(heap.firstDate == -1)
        heap.update(Entry(date: 1000, sequence: 51, slot: 49))
        #expect(heap.first?.slot == 0)
        // Behind all that have had the same date before.
        heap.update(Entry(date: 300, sequence: 52, slot: 0))
        #expect(heap.count == 50)
        #expect(heap.drain() == Array(1...30) + [0] + Array(31...49))
    }

    @Test func `lastPlace returns the index given to removeFirst for the removed entry, and nil for others`() {
        let heap = SharedHeap()
        for slot in 0..<3 { heap.insert(Entry(date: Int64(slot), sequence: 0, slot: UInt32(slot))) }
        heap.removeFirst(to: 70)
        heap.remove(1)
        #expect(!heap.contains(0) && !heap.contains(1) && heap.contains(2))
        #expect(heap.lastPlace(of: 0) == 70)
        // Removed, in the heap, and never there.
        #expect([1, 2, 500].allSatisfy { heap.lastPlace(of: $0) == nil })
        heap.insert(Entry(date: 7, sequence: 0, slot: 0))
        #expect(heap.contains(0))
        #expect(heap.lastPlace(of: 0) == nil)
        #expect(heap.drain() == [2, 0])
    }

    @Test func `A large heap keeps its order while it grows and shrinks`() {
        let heap = SharedHeap()
        var random = SeededRandom(41)
        // Past the size from which on tables are made of pages, and past their next.
        let entries = (0..<UInt32(10_000)).map { slot in
            Entry(date: Int64.random(in: 0..<1000, using: &random), sequence: slot, slot: slot)
        }
        for entry in entries { heap.insert(entry) }
        #expect(!heap.isRoomy)
        var left = entries.shuffled(using: &random)
        while left.count > 300 { heap.remove(left.removeLast().slot) }
        #expect(heap.isRoomy)
        heap.trim()
        #expect(!heap.isRoomy)
        #expect(heap.count == 300)
        expectTrue(left.allSatisfy { heap.contains($0.slot) }, "an entry has gone")
        #expect(heap.dates.sorted() == left.map(\.date).sorted())
        func isBefore(_ a: Entry, _ b: Entry) -> Bool { (a.date, a.sequence) < (b.date, b.sequence) }
        #expect(heap.drain() == left.sorted(by: isBefore).map(\.slot))
        // Nothing is left but the table of positions.
        #expect(heap.isRoomy)
        heap.trim()
        #expect(!heap.isRoomy)
        for entry in entries.reversed() { heap.insert(entry) }
        #expect(heap.drain() == entries.sorted(by: isBefore).map(\.slot))
    }

    @Test func `The earliest and the latest possible date are ordered like other dates`() {
        let heap = SharedHeap()
        for (slot, date) in [Int64.max, 0, Int64.min, -1].enumerated() {
            heap.insert(Entry(date: date, sequence: UInt32(slot), slot: UInt32(slot)))
        }
        #expect(heap.firstDate == .min)
        #expect(heap.slots.sorted() == [0, 1, 2, 3])
        #expect(heap.drain() == [2, 3, 1, 0])
    }

    @Test(arguments: [1, 2, 3, 4]) func `Random operations on a timer heap match a sorted list`(seed: UInt64) {
        var random = SeededRandom(seed)
        let heap = SharedHeap()
        var model: [Entry] = []
        var free = (0..<UInt32(2000)).shuffled(using: &random)
        for step in 0..<3000 {
            // Grows for the first half, shrinks for the second.
            let inserts = step < 1500 ? 6 : 3
            if Int.random(in: 0..<9, using: &random) < inserts || model.isEmpty {
                let entry = Entry(
                    date: FakeTimer.randomDate(&random), sequence: UInt32(step), slot: free.removeLast())
                heap.insert(entry)
                model.append(entry)
            } else {
                let entry = model.remove(at: Int.random(in: 0..<model.count, using: &random))
                heap.remove(entry.slot)
                expectTrue(!heap.contains(entry.slot), "a removed slot is there at step \(step)")
                free.insert(entry.slot, at: Int.random(in: 0...free.count, using: &random))
            }
            check(heap, model, step)
            if let index = model.indices.randomElement(using: &random), random.oneIn(3) {
                model[index] = Entry(
                    date: FakeTimer.randomDate(&random), sequence: UInt32(3000 + step), slot: model[index].slot)
                heap.update(model[index])
                check(heap, model, step)
            }
            if random.oneIn(20) { #expect(heap.slots.sorted() == model.map(\.slot).sorted()) }
        }
        // What is left comes out in order.
        #expect(heap.drain() == model.sorted { ($0.date, $0.sequence) < ($1.date, $1.sequence) }.map(\.slot))
    }

    private func check(_ heap: SharedHeap, _ model: [Entry], _ step: Int) {
        let first = model.min { ($0.date, $0.sequence) < ($1.date, $1.sequence) }
        expectTrue(heap.count == model.count, "count at step \(step)")
        expectTrue(heap.first?.slot == first?.slot, "first at step \(step)")
        expectTrue(heap.firstDate == first?.date ?? .max, "first date at step \(step)")
        expectTrue(model.allSatisfy { heap.contains($0.slot) }, "slots at step \(step)")
    }
}

/// A heap cannot be copied, which expectations do with what they look at.
private final class SharedHeap {
    private var heap = TimerHeap()

    var count: Int { heap.count }
    var first: TimerHeap.Entry? { heap.first }
    var firstDate: Int64 { heap.firstDate }
    func contains(_ slot: UInt32) -> Bool { heap.contains(slot) }
    func insert(_ entry: TimerHeap.Entry) { heap.insert(entry) }
    func remove(_ slot: UInt32) { heap.remove(slot) }
    func update(_ entry: TimerHeap.Entry) { heap.update(entry) }
    func removeFirst(to place: Int) { heap.removeFirst(to: place) }
    func lastPlace(of slot: UInt32) -> Int? { heap.lastPlace(of: slot) }
    func renumber(_ number: (UInt32) -> UInt32) { heap.renumber(number) }
    func trim() { heap.trim() }
    var isEmpty: Bool { heap.isEmpty }
    var isRoomy: Bool { heap.isRoomy }

    var slots: [UInt32] {
        var slots: [UInt32] = []
        heap.visit { slots.append($0.slot) }
        return slots
    }

    var dates: [Int64] {
        var dates: [Int64] = []
        heap.visit { dates.append($0.date) }
        return dates
    }

    func drain() -> [UInt32] {
        var slots: [UInt32] = []
        while let first = heap.first {
            slots.append(first.slot)
            heap.removeFirst(to: 0)
        }
        return slots
    }
}

/// An expectation for inner loops: it costs nothing while it holds.
func expectTrue(
    _ condition: Bool, _ comment: @autoclosure () -> String, sourceLocation: SourceLocation = #_sourceLocation
) {
    if !condition { Issue.record(Comment(rawValue: comment()), sourceLocation: sourceLocation) }
}
