// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Synchronization
import Testing

@testable import RunLoops

/// What has been signalled: nothing lost, nothing twice.
@Suite(.ownThread) struct SignalQueueTests {
    private typealias Queue = SignalQueue<Marked>

    /// A source with its one place, as the queue sees it: the queue keeps a queued source, and a source its places.
    // Unchecked: init alone writes the place.
    private final class Marked: @unchecked Sendable {
        let isMarked = Atomic<Bool>(false)
        private(set) var place: Queue.Place!

        init(in queue: Queue) { place = Queue.Place(self, in: queue) }
    }

    @Test func `An empty queue returns nothing`() {
        let queue = Queue()
        #expect(queue.isEmpty)
        #expect(queue.taken().isEmpty)
        #expect(queue.takeOnly() == nil)
    }

    @Test func `A source queued twice is taken once`() {
        let queue = Queue()
        let source = Marked(in: queue)
        source.place.enqueue()
        source.place.enqueue()
        #expect(!queue.isEmpty)
        let taken = queue.taken()
        #expect(taken.count == 1)
        #expect(taken[0].element === source)
        #expect(queue.isEmpty)
    }

    @Test func `A taken source can be queued again`() {
        let queue = Queue()
        let source = Marked(in: queue)
        for _ in 0..<3 {
            source.place.enqueue()
            #expect(queue.taken().count == 1)
            #expect(queue.taken().isEmpty)
            source.place.enqueue()
            #expect(queue.takeOnly()?.element === source)
            #expect(queue.isEmpty)
        }
        // By what was taken, too.
        source.place.enqueue()
        queue.takeOnly()?.enqueue()
        #expect(queue.takeOnly()?.element === source)
    }

    @Test func `All queued sources are taken, the newest first`() {
        let queue = Queue()
        let sources = (0..<100).map { _ in Marked(in: queue) }
        for source in sources { source.place.enqueue() }
        // A second signal does not move a place.
        sources[0].place.enqueue()
        #expect(queue.taken().map { ObjectIdentifier($0.element) } == sources.reversed().map { ObjectIdentifier($0) })
    }

    @Test func `takeOnly returns nil and removes nothing if several sources are queued`() {
        let queue = Queue()
        let sources = (0..<2).map { _ in Marked(in: queue) }
        for source in sources { source.place.enqueue() }
        #expect(queue.takeOnly() == nil)
        #expect(queue.taken().count == 2)
        // Neither holds on to the other.
        sources[1].place.enqueue()
        #expect(queue.takeOnly()?.element === sources[1])
    }

    @Test func `takeAll appends to the given array`() {
        let queue = Queue()
        let sources = (0..<2).map { _ in Marked(in: queue) }
        var all: [Queue.Queued] = []
        for source in sources {
            source.place.enqueue()
            queue.takeAll(into: &all)
        }
        #expect(all.map { ObjectIdentifier($0.element) } == sources.map { ObjectIdentifier($0) })
    }

    @Test func `The queue keeps a queued source alive until it is taken`() {
        let queue = Queue()
        weak var seen: Marked?
        do {
            let source = Marked(in: queue)
            seen = source
            source.place.enqueue()
        }
        #expect(seen != nil)
        do {
            let taken = queue.taken()
            #expect(taken.count == 1)
            #expect(seen != nil)
        }
        #expect(seen == nil)
    }

    @Test func `A taken entry says whether its source is still in the mode`() {
        let queue = Queue()
        let source = Marked(in: queue)
        #expect(source.place.isPresent)
        source.place.enqueue()
        source.place.isPresent = false
        #expect(queue.takeOnly()?.isPresent == false)
        source.place.isPresent = true
        source.place.enqueue()
        #expect(queue.takeOnly()?.isPresent == true)
    }

    @Test func `A closed queue releases its sources and accepts no others`() {
        let queue = Queue()
        weak var seen: Marked?
        weak var late: Marked?
        do {
            let source = Marked(in: queue)
            seen = source
            source.place.enqueue()
            #expect(!source.place.isOver)
            queue.close()
            #expect(source.place.isOver)
            #expect(queue.isEmpty)
            let another = Marked(in: queue)
            late = another
            for _ in 0..<2 { another.place.enqueue() }
            #expect(queue.isEmpty)
            #expect(another.place.isOver)
        }
        #expect(seen == nil)
        #expect(late == nil)
    }

    // MARK: Many threads

    @Test func `Sources that many threads mark and enqueue are served once for each mark`() {
        let queue = Queue()
        let sources = (0..<8).map { _ in Marked(in: queue) }
        let marks = Locked(0)
        let posters = (0..<3).map { poster in
            TestThread {
                var random = SeededRandom(UInt64(poster))
                var mine = 0
                for _ in 0..<20_000 {
                    let source = sources[Int.random(in: 0..<sources.count, using: &random)]
                    if source.isMarked.exchange(true, ordering: .sequentiallyConsistent) { continue }
                    mine += 1
                    source.place.enqueue()
                }
                marks.withLock { $0 += mine }
            }
        }
        let isOver = Atomic<Bool>(false)
        let served = Locked(0)
        func serve(_ queued: Queue.Queued) {
            if queued.element.isMarked.exchange(false, ordering: .sequentiallyConsistent) { served.increment() }
        }
        // As the loop does: the only one, or else all.
        func serve() { if let only = queue.takeOnly() { serve(only) } else { queue.taken().forEach(serve) } }
        let watch = TestThread {
            for poster in posters { poster.join() }
            isOver.store(true, ordering: .sequentiallyConsistent)
        }
        while !isOver.load(ordering: .sequentiallyConsistent) { serve() }
        serve()
        watch.join()
        #expect(served.count == marks.count)
        #expect(sources.allSatisfy { !$0.isMarked.load(ordering: .sequentiallyConsistent) })
        #expect(queue.isEmpty)
    }

    @Test func `A queue closed while other threads enqueue sources releases all of them`() {
        for _ in 0..<200 {
            let queue = Queue()
            let witnesses = (0..<2).map { _ in Witness() }
            do {
                let sources = (0..<2).map { _ in Marked(in: queue) }
                for (witness, source) in zip(witnesses, sources) { witness.watch(source) }
                let posters = sources.map { source in TestThread { for _ in 0..<20 { source.place.enqueue() } } }
                queue.close()
                for poster in posters { poster.join() }
            }
            expectTrue(queue.isEmpty, "something is queued")
            expectTrue(witnesses.allSatisfy(\.isGone), "a source is kept")
        }
    }
}

extension SignalQueue {
    /// What was queued, as a list of its own.
    fileprivate func taken() -> [Queued] {
        var places: [Queued] = []
        takeAll(into: &places)
        return places
    }
}
