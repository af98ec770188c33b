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
        #expect(heap.cells.isEmpty)
    }

    @Test func `Entries of equal dates are ordered by sequence`() {
        let heap = SharedHeap()
        for (cell, sequence) in [3, 0, 4, 1, 2].enumerated() {
            heap.insert(Entry(date: 7, sequence: UInt32(sequence), cell: UInt32(cell)))
        }
        #expect(heap.drain() == [1, 3, 4, 0, 2])
    }

    @Test func `Renumbered entries keep their order`() {
        let heap = SharedHeap()
        let sequences: [UInt32] = [1, .max, 0, .max - 1]
        for (cell, sequence) in sequences.enumerated() {
            heap.insert(Entry(date: 7, sequence: sequence, cell: UInt32(cell)))
        }
        heap.renumber { old in UInt32(sequences.count { $0 <= old }) }
        heap.insert(Entry(date: 7, sequence: 5, cell: 9))
        #expect(heap.drain() == [2, 0, 3, 1, 9])
    }

    @Test func `The cell of a removed entry is not in the heap and can be inserted again`() {
        let heap = SharedHeap()
        heap.insert(Entry(date: 1, sequence: 0, cell: 5))
        #expect(heap.cells == [5])
        heap.remove(5)
        #expect(heap.cells.isEmpty)
        #expect(heap.count == 0)
        heap.insert(Entry(date: 2, sequence: 1, cell: 5))
        #expect(heap.firstDate == 2)
    }

    @Test func `An emptied heap can be filled again`() {
        let heap = SharedHeap()
        for cell in 0..<100 { heap.insert(Entry(date: Int64(cell), sequence: 0, cell: UInt32(cell))) }
        for cell in 0..<100 { heap.remove(UInt32(cell)) }
        #expect(heap.isEmpty)
        #expect(heap.cells.isEmpty)
        heap.insert(Entry(date: 2, sequence: 1, cell: 70))
        #expect(heap.drain() == [70])
    }

    @Test func `An updated entry moves forward or back`() {
        let heap = SharedHeap()
        for cell in 0..<50 { heap.insert(Entry(date: Int64(cell) * 10, sequence: UInt32(cell), cell: UInt32(cell))) }
        heap.update(Entry(date: -1, sequence: 50, cell: 49))
        #expect(heap.first?.cell == 49)
        #expect(heap.firstDate == -1)
        heap.update(Entry(date: 1000, sequence: 51, cell: 49))
        #expect(heap.first?.cell == 0)
        // Behind all that have had the same date before.
        heap.update(Entry(date: 300, sequence: 52, cell: 0))
        #expect(heap.count == 50)
        #expect(heap.drain() == Array(1...30) + [0] + Array(31...49))
    }

    @Test func `A large heap keeps its order while it grows and shrinks`() {
        let heap = SharedHeap()
        var random = SeededRandom(41)
        // Past the size from which on tables are made of pages, and past their next.
        let entries = (0..<UInt32(10_000)).map { cell in
            Entry(date: Int64.random(in: 0..<1000, using: &random), sequence: cell, cell: cell)
        }
        for entry in entries { heap.insert(entry) }
        #expect(!heap.isRoomy)
        var left = entries.shuffled(using: &random)
        while left.count > 300 { heap.remove(left.removeLast().cell) }
        #expect(heap.isRoomy)
        heap.trim()
        #expect(!heap.isRoomy)
        #expect(heap.count == 300)
        #expect(heap.cells.sorted() == left.map(\.cell).sorted())
        #expect(heap.dates.sorted() == left.map(\.date).sorted())
        func isBefore(_ a: Entry, _ b: Entry) -> Bool { (a.date, a.sequence) < (b.date, b.sequence) }
        #expect(heap.drain() == left.sorted(by: isBefore).map(\.cell))
        for entry in entries.reversed() { heap.insert(entry) }
        #expect(heap.drain() == entries.sorted(by: isBefore).map(\.cell))
    }

    @Test func `The earliest and the latest possible date are ordered like other dates`() {
        let heap = SharedHeap()
        for (cell, date) in [Int64.max, 0, Int64.min, -1].enumerated() {
            heap.insert(Entry(date: date, sequence: UInt32(cell), cell: UInt32(cell)))
        }
        #expect(heap.firstDate == .min)
        #expect(heap.cells.sorted() == [0, 1, 2, 3])
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
                    date: FakeTimer.randomDate(&random), sequence: UInt32(step), cell: free.removeLast())
                heap.insert(entry)
                model.append(entry)
            } else {
                let entry = model.remove(at: Int.random(in: 0..<model.count, using: &random))
                heap.remove(entry.cell)
                free.insert(entry.cell, at: Int.random(in: 0...free.count, using: &random))
            }
            check(heap, model, step)
            if let index = model.indices.randomElement(using: &random), random.oneIn(3) {
                model[index] = Entry(
                    date: FakeTimer.randomDate(&random), sequence: UInt32(3000 + step), cell: model[index].cell)
                heap.update(model[index])
                check(heap, model, step)
            }
            if random.oneIn(20) { #expect(heap.cells.sorted() == model.map(\.cell).sorted()) }
        }
        // What is left comes out in order.
        #expect(heap.drain() == model.sorted { ($0.date, $0.sequence) < ($1.date, $1.sequence) }.map(\.cell))
    }

    private func check(_ heap: SharedHeap, _ model: [Entry], _ step: Int) {
        let first = model.min { ($0.date, $0.sequence) < ($1.date, $1.sequence) }
        expectTrue(heap.count == model.count, "count at step \(step)")
        expectTrue(heap.first?.cell == first?.cell, "first at step \(step)")
        expectTrue(heap.firstDate == first?.date ?? .max, "first date at step \(step)")
        expectTrue(heap.hasRightPlaces, "places at step \(step)")
    }
}

/// A heap cannot be copied, which expectations do with what they look at.
private final class SharedHeap {
    private var heap = TimerHeap()
    private var places = TimerHeap.Places()

    init() { places.resize(to: 10_000) }

    var count: Int { heap.count }
    var first: TimerHeap.Entry? { heap.first }
    var firstDate: Int64 { heap.firstDate }
    func insert(_ entry: TimerHeap.Entry) { heap.insert(entry, places) }
    func remove(_ cell: UInt32) { heap.remove(cell, places) }
    func update(_ entry: TimerHeap.Entry) { heap.update(entry, places) }
    func renumber(_ number: (UInt32) -> UInt32) { heap.renumber(number) }
    func trim() { heap.trim() }
    var isEmpty: Bool { heap.isEmpty }
    var isRoomy: Bool { heap.isRoomy }

    var cells: [UInt32] {
        var cells: [UInt32] = []
        heap.visit { cells.append($0.cell) }
        return cells
    }

    /// Whether each entry is where its cell's place says.
    var hasRightPlaces: Bool {
        var (indices, isRight) = (Set<Int>(), true)
        heap.visit { entry in
            let place = places[Int(entry.cell)]
            isRight = isRight && heap.has(entry.cell, at: place) && indices.insert(place.heapIndex).inserted
        }
        return isRight
    }

    var dates: [Int64] {
        var dates: [Int64] = []
        heap.visit { dates.append($0.date) }
        return dates
    }

    func drain() -> [UInt32] {
        var cells: [UInt32] = []
        while let first = heap.first {
            cells.append(first.cell)
            heap.removeFirst(places)
        }
        return cells
    }
}

/// An expectation for inner loops: it costs nothing while it holds.
func expectTrue(
    _ condition: Bool, _ comment: @autoclosure () -> String, sourceLocation: SourceLocation = #_sourceLocation
) {
    if !condition { Issue.record(Comment(rawValue: comment()), sourceLocation: sourceLocation) }
}
