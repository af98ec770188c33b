import RunLoops
import RunLoopsTestSupport
import Testing

/// Which timers are due, and how long the thread may sleep.
@Suite struct TimerQueueTests {
    @Test func `An empty queue lets the thread sleep for ever`() {
        let queue = SharedQueue()
        #expect(queue.count == 0)
        #expect(queue.firstDate == .max)
        #expect(queue.sleepLimit == .max)
    }

    @Test func `Without tolerance the thread sleeps until the first date`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: 20, sequence: 0))
        queue.insert(FakeTimer(fire: 10, sequence: 1))
        #expect(queue.firstDate == 10)
        #expect(queue.sleepLimit == 10)
    }

    @Test func `With tolerance the thread sleeps until the earliest of the latest dates`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: 10, tolerance: 100, sequence: 0))
        queue.insert(FakeTimer(fire: 50, tolerance: 20, sequence: 1))
        queue.insert(FakeTimer(fire: 90, sequence: 2))
        #expect(queue.firstDate == 10)
        #expect(queue.sleepLimit == 70)
        var due: [TimerQueue<FakeTimer>.Due] = []
        queue.collectDue(at: 70, into: &due)
        #expect(due.map(\.timer.sequence).sorted() == [0, 1])
    }

    @Test func `A date that is now is due`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: 10, sequence: 0))
        var due: [TimerQueue<FakeTimer>.Due] = []
        queue.collectDue(at: 9, into: &due)
        #expect(due.isEmpty)
        queue.collectDue(at: 10, into: &due)
        #expect(due.count == 1)
    }

    @Test func `Collecting takes nothing out`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: 1, sequence: 0))
        queue.insert(FakeTimer(fire: 1, tolerance: 5, sequence: 1))
        for _ in 0..<2 {
            var due: [TimerQueue<FakeTimer>.Due] = []
            queue.collectDue(at: 1, into: &due)
            #expect(due.count == 2)
        }
        #expect(queue.count == 2)
    }

    @Test(arguments: [11, 12, 13]) func `Random operations give what a list gives`(seed: UInt64) {
        var random = SeededRandom(seed)
        let queue = SharedQueue()
        var model: [FakeTimer] = []
        for step in 0..<2000 {
            if model.isEmpty || Int.random(in: 0..<5, using: &random) < 3 {
                // Half of them exact; some so late that their tolerance does not fit.
                let tolerance: Int64 = random.oneIn(2) ? 0 : Int64.random(in: 0...20, using: &random)
                let timer = FakeTimer(
                    fire: FakeTimer.randomDate(&random), tolerance: tolerance, sequence: UInt32(step))
                queue.insert(timer)
                model.append(timer)
            } else {
                let timer = model.remove(at: Int.random(in: 0..<model.count, using: &random))
                queue.remove(timer)
            }
            expectTrue(queue.count == model.count, "count at step \(step)")
            expectTrue(queue.firstDate == model.map(\.fire).min() ?? .max, "first date at step \(step)")
            expectTrue(queue.sleepLimit == model.map(\.hard).min() ?? .max, "limit at step \(step)")
            if random.oneIn(10) { checkDue(queue, model, at: FakeTimer.randomDate(&random)) }
        }
        #expect(queue.all.map(\.sequence).sorted() == model.map(\.sequence).sorted())
    }

    private func checkDue(_ queue: SharedQueue, _ model: [FakeTimer], at now: Int64) {
        var due: [TimerQueue<FakeTimer>.Due] = []
        queue.collectDue(at: now, into: &due)
        #expect(due.map(\.timer.sequence).sorted() == model.filter { $0.fire <= now }.map(\.sequence).sorted())
    }
}

/// A queue cannot be copied, which expectations do with what they look at; and it does not keep its timers alive.
private final class SharedQueue {
    private var queue = TimerQueue<FakeTimer>()
    private var timers: [FakeTimer] = []

    var count: Int { queue.count }
    var firstDate: Int64 { queue.firstDate }
    var sleepLimit: Int64 { queue.sleepLimit }
    var all: [FakeTimer] { queue.all.map(\.timer) }
    func collectDue(at now: Int64, into due: inout [TimerQueue<FakeTimer>.Due]) {
        queue.collectDue(at: now, into: &due)
    }
    func remove(_ timer: FakeTimer) { queue.remove(timer) }

    func insert(_ timer: FakeTimer) {
        queue.insert(timer, sequence: timer.sequence)
        timers.append(timer)
    }
}
