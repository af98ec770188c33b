// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// The contents of cells, and the order in which free cells are used.
@Suite(.ownThread) struct TimerCellsTests {
    private let timer = FakeTimer(fire: 0)

    private func body(_ line: UInt = 1, _ call: @escaping () -> Void = {}) -> DelayedBody {
        DelayedBody(call: call, location: CodeLocation("TimerCellsTests", line))
    }

    @Test func `A cell has the timer or the closure that was added`() {
        var cells = TimerCells<FakeTimer>()
        var calls = 0
        let first = cells.add(timer)
        let closure = cells.add(body(7) { calls += 1 })
        let other = FakeTimer(fire: 0)
        let second = cells.add(other)

        let timers = [first, closure.cell, second].map { cells[$0]?.toOpaque() }
        let addresses = [timer, nil, other].map { $0.map { Unmanaged.passUnretained($0).toOpaque() } }
        #expect(timers == addresses)
        let labels = [first, closure.cell, second].map { cells.label(of: $0)?.text }
        #expect(labels == [nil, "TimerCellsTests:7", nil])
        let (closures, count) = (cells.cellsOfClosures, cells.count)
        #expect(closures == [closure.cell])
        #expect(count == 3)
        cells.takeClosure(closure.cell).call()
        #expect(calls == 1)
    }

    @Test func `The cell that became free last is used first`() {
        var cells = TimerCells<FakeTimer>()
        for _ in 0..<4 { _ = cells.add(timer) }
        cells.remove(2)
        cells.remove(0)
        let next = (0..<3).map { _ in cells.add(timer) }
        #expect(next == [0, 2, 4])
    }

    @Test func `The identifier of a closure finds no other timer or closure in its cell`() {
        var cells = TimerCells<FakeTimer>()
        // Before the first closure there is no memory that could be asked.
        var found = [cells.contains(DelayedID(cell: 0, generation: 1))]
        _ = cells.add(timer)
        let id = cells.add(body())
        found += [cells.contains(id), cells.contains(DelayedID(cell: 0, generation: 0))]
        _ = cells.takeClosure(id.cell)
        found.append(cells.contains(id))
        let next = cells.add(body())
        found.append(cells.contains(id))
        _ = cells.takeClosure(next.cell)
        let sameCell = cells.add(timer) == id.cell
        found.append(cells.contains(id))
        #expect(found == [false, true, false, false, false, false])
        #expect(next.cell == id.cell && sameCell)
    }

    @Test func `Timers alone allocate no memory for closures`() {
        var cells = TimerCells<FakeTimer>()
        for _ in 0..<1000 { _ = cells.add(timer) }
        let before = cells.closureCapacity
        let id = cells.add(body())
        let after = cells.closureCapacity
        #expect(before == 0)
        #expect(after > Int(id.cell))
    }

    @Test func `A trimmed table has room for few cells and can be filled again`() {
        var cells = TimerCells<FakeTimer>()
        let kept = TimerMemory<TimerPlace>.minKept
        var room: [Int] = []
        for _ in 0..<2 {
            let ids = (0..<kept * 8).map { _ in cells.add(body()) }
            for id in ids.reversed() { _ = cells.takeClosure(id.cell) }
            let wasRoomy = cells.isRoomy
            cells.trim()
            let isRoomy = cells.isRoomy
            #expect(wasRoomy && !isRoomy)
            room += [cells.places.capacity, cells.closureCapacity]
        }
        #expect(room == Array(repeating: kept, count: 4))
    }

    @Test func `A closure is released when it is taken, or with the table`() {
        let (taken, left) = (Witness(), Witness())
        do {
            var cells = TimerCells<FakeTimer>()
            let id = cells.add(body { [token = taken.makeToken()] in _ = token })
            _ = cells.add(body { [token = left.makeToken()] in _ = token })
            _ = cells.takeClosure(id.cell)
            #expect(taken.isGone && !left.isGone)
        }
        #expect(left.isGone)
    }

    @Test(arguments: [21, 22, 23]) func `Random cells match a dictionary`(seed: UInt64) {
        var random = SeededRandom(seed)
        var cells = TimerCells<FakeTimer>()
        /// The expected contents of each used cell; each closure records its own number when it is called.
        var timers: [UInt32: FakeTimer] = [:]
        var closures: [UInt32: (id: DelayedID, number: Int)] = [:]
        var gone: [DelayedID] = []
        var called = -1
        for step in 0..<3000 {
            // The table grows at first, and shrinks afterwards.
            switch Int.random(in: 0..<(step < 500 ? 100 : 170), using: &random) {
            case 0..<40:
                let timer = FakeTimer(fire: 0)
                let cell = cells.add(timer)
                #expect(timers[cell] == nil && closures[cell] == nil)
                timers[cell] = timer
            case 40..<75:
                let id = cells.add(body { called = step })
                #expect(timers[id.cell] == nil && closures[id.cell] == nil)
                closures[id.cell] = (id, step)
            case 75..<120:
                guard let cell = timers.keys.sorted().randomElement(using: &random) else { break }
                cells.remove(cell)
                timers[cell] = nil
            default:
                guard let cell = closures.keys.sorted().randomElement(using: &random) else { break }
                cells.takeClosure(cell).call()
                #expect(called == closures[cell]?.number)
                closures[cell].map { gone.append($0.id) }
                closures[cell] = nil
            }
            let count = cells.count
            #expect(count == timers.count + closures.count)
            let found = cells.cellsOfClosures
            #expect(found == closures.keys.sorted())
        }
        let areTimersRight = timers.allSatisfy { cell, timer in cells[cell]?.takeUnretainedValue() === timer }
        let areClosuresRight = closures.values.allSatisfy { cells.contains($0.id) }
        let areOthersGone = !gone.contains { cells.contains($0) }
        #expect(areTimersRight && areClosuresRight && areOthersGone)
    }
}
