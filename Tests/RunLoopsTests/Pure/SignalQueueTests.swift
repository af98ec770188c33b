import RunLoops
import RunLoopsTestSupport
import Synchronization
import Testing

/// What has been signalled: nothing lost, nothing twice.
@Suite struct SignalQueueTests {
    private typealias Queue = SignalQueue<Token>

    @Test func `An empty queue gives nothing`() {
        let queue = Queue()
        #expect(queue.isEmpty)
        #expect(queue.taken().isEmpty)
    }

    @Test func `A place is queued once however often it is asked for`() {
        let queue = Queue()
        let place = Queue.Place(Token(), in: queue)
        place.enqueue()
        place.enqueue()
        #expect(!queue.isEmpty)
        let taken = queue.taken()
        #expect(taken.count == 1)
        #expect(taken[0] === place)
        #expect(queue.isEmpty)
    }

    @Test func `A place that was taken can be queued again`() {
        let queue = Queue()
        let place = Queue.Place(Token(), in: queue)
        for _ in 0..<3 {
            place.enqueue()
            #expect(queue.taken().count == 1)
            #expect(queue.taken().isEmpty)
        }
    }

    @Test func `Every place that was queued is taken`() {
        let queue = Queue()
        let places = (0..<100).map { _ in Queue.Place(Token(), in: queue) }
        for place in places { place.enqueue() }
        #expect(Set(queue.taken().map(ObjectIdentifier.init)) == Set(places.map(ObjectIdentifier.init)))
    }

    @Test func `A queued place lives without anybody else`() {
        let queue = Queue()
        weak var seen: Token?
        do {
            let token = Token()
            seen = token
            Queue.Place(token, in: queue).enqueue()
        }
        #expect(seen != nil)
        #expect(queue.taken().count == 1)
        #expect(seen == nil)
    }

    /// A source, as the queue sees it.
    private final class Marked: Sendable {
        let isMarked = Atomic<Bool>(false)
    }

    @Test func `Marks of many threads are each served once`() {
        let queue = SignalQueue<Marked>()
        let places = (0..<8).map { _ in SignalQueue<Marked>.Place(Marked(), in: queue) }
        let marks = Locked(0)
        let posters = (0..<3).map { poster in
            TestThread {
                var random = SeededRandom(UInt64(poster))
                var mine = 0
                for _ in 0..<20_000 {
                    let place = places[Int.random(in: 0..<places.count, using: &random)]
                    if place.element.isMarked.exchange(true, ordering: .sequentiallyConsistent) { continue }
                    mine += 1
                    place.enqueue()
                }
                marks.withLock { $0 += mine }
            }
        }
        let isOver = Atomic<Bool>(false)
        let served = Locked(0)
        func serve() {
            for place in queue.taken() where place.element.isMarked.exchange(false, ordering: .sequentiallyConsistent) {
                served.increment()
            }
        }
        let watch = TestThread {
            for poster in posters { poster.join() }
            isOver.store(true, ordering: .sequentiallyConsistent)
        }
        while !isOver.load(ordering: .sequentiallyConsistent) { serve() }
        serve()
        watch.join()
        #expect(served.count == marks.count)
        #expect(places.allSatisfy { !$0.element.isMarked.load(ordering: .sequentiallyConsistent) })
        #expect(queue.isEmpty)
    }
}

extension SignalQueue {
    /// What was queued, as a list of its own.
    fileprivate func taken() -> [Place] {
        var places: [Place] = []
        takeAll(into: &places)
        return places
    }
}
