import RunLoops
import Testing

/// The heap against a list that is sorted anew each time.
@Suite struct TimerHeapTests {
    private typealias Heap = SharedHeap<FireKey<FakeTimer>>

    @Test func `An empty heap has no first timer and the latest of all dates`() {
        let heap = Heap()
        #expect(heap.isEmpty)
        #expect(heap.count == 0)
        let hasFirst = heap.first != nil
        #expect(!hasFirst)
        #expect(heap.firstDate == .max)
        var due: [FakeTimer] = []
        heap.collect(through: .max, into: &due)
        #expect(due.isEmpty)
    }

    @Test func `Equal dates come out in the order of their sequence`() {
        let heap = Heap()
        let timers = [3, 0, 4, 1, 2].map { FakeTimer(fire: 7, sequence: $0) }
        for timer in timers { heap.insert(timer) }
        var order: [UInt64] = []
        while let first = heap.first {
            order.append(first.sequence)
            heap.remove(at: first.firePosition)
        }
        #expect(order == [0, 1, 2, 3, 4])
    }

    @Test func `A timer that was taken out has no position`() {
        let heap = Heap()
        let timer = FakeTimer(fire: 1, sequence: 0)
        heap.insert(timer)
        #expect(timer.firePosition == 0)
        heap.remove(at: timer.firePosition)
        #expect(timer.firePosition == -1)
        #expect(heap.isEmpty)
    }

    @Test func `The ends of the range of dates are dates like others`() {
        let heap = Heap()
        let timers = [Int64.max, 0, Int64.min, -1].enumerated().map {
            FakeTimer(fire: $1, sequence: UInt64($0))
        }
        for timer in timers { heap.insert(timer) }
        #expect(heap.firstDate == .min)
        var due: [FakeTimer] = []
        heap.collect(through: -1, into: &due)
        #expect(Set(due.map(\.fire)) == [.min, -1])
        due = []
        heap.collect(through: .max, into: &due)
        #expect(due.count == 4)
    }

    @Test func `A hard key orders by the latest date and leaves the other position alone`() {
        let heap = SharedHeap<HardKey<FakeTimer>>()
        let patient = FakeTimer(fire: 1, tolerance: 100, sequence: 0)
        let strict = FakeTimer(fire: 2, tolerance: 1, sequence: 1)
        heap.insert(patient)
        heap.insert(strict)
        let isStrict = heap.first === strict
        #expect(isStrict)
        #expect(heap.firstDate == 3)
        #expect(patient.firePosition == -1)
        #expect(patient.hardPosition == 1)
    }

    @Test(arguments: [1, 2, 3, 4]) func `Random operations give what a sorted list gives`(seed: UInt64) {
        var random = SeededRandom(seed)
        let heap = Heap()
        var model: [FakeTimer] = []
        var sequence: UInt64 = 0
        for step in 0..<3000 {
            // Grows for the first half, shrinks for the second.
            let inserts = step < 1500 ? 5 : 3
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<inserts:
                sequence += 1
                let timer = FakeTimer(fire: FakeTimer.randomDate(&random), sequence: sequence)
                heap.insert(timer)
                model.append(timer)
            case inserts..<8 where !model.isEmpty:
                let timer = model.remove(at: Int.random(in: 0..<model.count, using: &random))
                heap.remove(at: timer.firePosition)
                expectTrue(timer.firePosition == -1, "a removed timer has a position at step \(step)")
            case 8... where !model.isEmpty:
                let timer = model[Int.random(in: 0..<model.count, using: &random)]
                heap.remove(at: timer.firePosition)
                timer.fire = FakeTimer.randomDate(&random)
                sequence += 1
                timer.sequence = sequence
                heap.insert(timer)
            default:
                break
            }
            check(heap, model, step)
            if random.oneIn(20) { checkCollection(heap, model, through: FakeTimer.randomDate(&random)) }
        }
        // What is left comes out in order.
        let expected = model.sorted { ($0.fire, $0.sequence) < ($1.fire, $1.sequence) }.map(\.sequence)
        var drained: [UInt64] = []
        while let first = heap.first {
            drained.append(first.sequence)
            heap.remove(at: first.firePosition)
        }
        #expect(drained == expected)
    }

    private func check(_ heap: Heap, _ model: [FakeTimer], _ step: Int) {
        let first = model.min { ($0.fire, $0.sequence) < ($1.fire, $1.sequence) }
        expectTrue(heap.count == model.count, "count at step \(step)")
        expectTrue(heap.isEmpty == model.isEmpty, "emptiness at step \(step)")
        expectTrue(heap.first === first, "first at step \(step)")
        expectTrue(heap.firstDate == first?.fire ?? .max, "first date at step \(step)")
        var seen = [Bool](repeating: false, count: model.count)
        for timer in model {
            let position = Int(timer.firePosition)
            expectTrue(seen.indices.contains(position) && !seen[position], "positions at step \(step)")
            if seen.indices.contains(position) { seen[position] = true }
        }
        expectTrue(first.map { $0.firePosition == 0 } ?? true, "the first is not at the top at step \(step)")
    }

    private func checkCollection(_ heap: Heap, _ model: [FakeTimer], through date: Int64) {
        var due: [FakeTimer] = []
        heap.collect(through: date, into: &due)
        #expect(due.map(\.sequence).sorted() == model.filter { $0.fire <= date }.map(\.sequence).sorted())
    }
}

/// A heap cannot be copied, which expectations do with what they look at.
private final class SharedHeap<Key: TimerHeapKey> {
    private var heap = TimerHeap<Key>()

    var count: Int { heap.count }
    var isEmpty: Bool { heap.isEmpty }
    var first: Key.Timer? { heap.first }
    var firstDate: Int64 { heap.firstDate }
    func insert(_ timer: Key.Timer) { heap.insert(timer) }
    func remove(at position: Int32) { heap.remove(at: position) }
    func collect(through date: Int64, into due: inout [Key.Timer]) { heap.collect(through: date, into: &due) }
}

/// An expectation for inner loops: it costs nothing while it holds.
func expectTrue(
    _ condition: Bool, _ comment: @autoclosure () -> String, sourceLocation: SourceLocation = #_sourceLocation
) {
    if !condition { Issue.record(Comment(rawValue: comment()), sourceLocation: sourceLocation) }
}
