import RunLoops
import RunLoopsTestSupport
import Testing

/// The heap against a list that is sorted anew each time.
@Suite struct TimerHeapTests {
    private typealias Entry = TimerHeap.Entry

    @Test func `An empty heap has no first entry and the latest of all dates`() {
        let heap = SharedHeap()
        #expect(heap.count == 0)
        #expect(heap.first == nil)
        #expect(heap.firstDate == .max)
        #expect(heap.slots(through: .max).isEmpty)
        #expect(!heap.contains(0))
    }

    @Test func `Equal dates come out in the order of their sequence`() {
        let heap = SharedHeap()
        for (slot, sequence) in [3, 0, 4, 1, 2].enumerated() {
            heap.insert(Entry(date: 7, sequence: UInt32(sequence), slot: UInt32(slot)))
        }
        #expect(heap.drain() == [1, 3, 4, 0, 2])
    }

    @Test func `A sequence that wraps around goes on`() {
        let heap = SharedHeap()
        let sequences: [UInt32] = [1, .max, 0, .max - 1]
        for (slot, sequence) in sequences.enumerated() {
            heap.insert(Entry(date: 7, sequence: sequence, slot: UInt32(slot)))
        }
        #expect(heap.drain() == [3, 1, 2, 0])
    }

    @Test func `A slot that was taken out is not there and can be used again`() {
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

    @Test func `A heap that was reset begins anew`() {
        let heap = SharedHeap()
        for slot in 0..<100 { heap.insert(Entry(date: Int64(slot), sequence: 0, slot: UInt32(slot))) }
        for slot in 0..<100 { heap.remove(UInt32(slot)) }
        heap.reset()
        #expect(!heap.contains(3))
        heap.insert(Entry(date: 2, sequence: 1, slot: 70))
        #expect(heap.drain() == [70])
    }

    @Test func `The ends of the range of dates are dates like others`() {
        let heap = SharedHeap()
        for (slot, date) in [Int64.max, 0, Int64.min, -1].enumerated() {
            heap.insert(Entry(date: date, sequence: UInt32(slot), slot: UInt32(slot)))
        }
        #expect(heap.firstDate == .min)
        #expect(Set(heap.slots(through: -1)) == [2, 3])
        #expect(heap.slots(through: .max).count == 4)
    }

    @Test(arguments: [1, 2, 3, 4]) func `Random operations give what a sorted list gives`(seed: UInt64) {
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
            if random.oneIn(20) {
                let date = FakeTimer.randomDate(&random)
                #expect(
                    heap.slots(through: date).sorted() == model.filter { $0.date <= date }.map(\.slot).sorted())
            }
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
    func reset() { heap.reset() }

    func slots(through date: Int64) -> [UInt32] {
        var slots: [UInt32] = []
        heap.forEach(through: date) { slots.append($0.slot) }
        return slots
    }

    func drain() -> [UInt32] {
        var slots: [UInt32] = []
        while let first = heap.first {
            slots.append(first.slot)
            heap.remove(first.slot)
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
