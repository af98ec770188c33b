// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The queue of the signalled sources of one mode: any thread adds a source, the loop's thread takes all sources at
/// once.
///
/// A source has a ``Place`` for the queue of every mode that it is in, and its place is in the queue at most once. The
/// cost depends on how many places are queued, not on how many there are.
final class SignalQueue<Element: AnyObject & Sendable>: @unchecked Sendable {
    /// A source's link for the queue of one mode.
    final class Place: @unchecked Sendable {
        // Not counted as a reference: a source keeps its places, and the queue keeps the source of a queued place.
        fileprivate unowned(unsafe) let element: Element
        let queue: SignalQueue
        /// Written by the thread that queues the place, read by the thread that takes it: the queue transfers the
        /// access.
        // Unmanaged: a queued place is kept by its source, which the queue keeps. Unchecked: each signal writes it.
        @exclusivity(unchecked) fileprivate var next: Unmanaged<Place>?
        private let isQueued = Atomic<Bool>(false)
        private let present = Atomic<Bool>(true)

        init(_ element: Element, in queue: SignalQueue) {
            self.element = element
            self.queue = queue
        }

        /// Queues the place if it is not queued.
        func enqueue() {
            // sequentiallyConsistent, like leaveQueue: the caller has marked the source as signalled before. Either
            // the taker, which reads the mark after leaveQueue, sees it, or this finds the place free and queues it.
            if isQueued.exchange(true, ordering: .sequentiallyConsistent) { return }
            // SAFETY: the place keeps the queue, so that a signal needs no further reference to it.
            Unmanaged.passUnretained(queue)._withUnsafeGuaranteedRef { $0.push(self) }
        }

        /// Whether the source is in the mode; after the source has left the mode, the place may still be queued.
        var isPresent: Bool {
            get { present.load(ordering: .sequentiallyConsistent) }
            set { present.store(newValue, ordering: .sequentiallyConsistent) }
        }

        /// Records that the source was removed from the mode; returns whether the place is queued, and stale from now on.
        func leave() -> Bool {
            isPresent = false
            return isQueued.load(ordering: .relaxed)
        }

        /// Whether the place can never be queued again, and no thread looks at it any more.
        var isOver: Bool {
            queue.closed.load(ordering: .sequentiallyConsistent) && !isQueued.load(ordering: .sequentiallyConsistent)
        }

        fileprivate func leaveQueue() {
            next = nil
            isQueued.store(false, ordering: .sequentiallyConsistent)
        }
    }

    /// A source that was queued, with a reference to it, and its place.
    struct Queued {
        // Unmanaged: the source keeps its places, and each step would cost two atomic operations otherwise.
        fileprivate let place: Unmanaged<Place>
        let element: Element

        fileprivate init(taking place: Unmanaged<Place>) {
            self.place = place
            element = place._withUnsafeGuaranteedRef { Unmanaged.passUnretained($0.element).takeRetainedValue() }
            place._withUnsafeGuaranteedRef { $0.leaveQueue() }
        }

        var isPresent: Bool { place._withUnsafeGuaranteedRef { $0.isPresent } }
        /// Queues the source again.
        func enqueue() { place._withUnsafeGuaranteedRef { $0.enqueue() } }
    }

    /// The newest place; each place holds a reference to its source while it is queued.
    private let newest = Atomic<UnsafeRawPointer?>(nil)
    private let closed = Atomic<Bool>(false)

    init() {}

    deinit { drop() }

    /// Whether nothing is queued.
    var isEmpty: Bool { newest.load(ordering: .sequentiallyConsistent) == nil }

    private func push(_ place: Place) {
        _ = Unmanaged.passRetained(place.element)
        let pointer = UnsafeRawPointer(Unmanaged.passUnretained(place).toOpaque())
        var old = newest.load(ordering: .relaxed)
        while true {
            place.next = old.map { Unmanaged.fromOpaque($0) }
            // The exchange publishes the place's contents: pairs with the exchange in takeAll.
            let (exchanged, found) = newest.compareExchange(
                expected: old, desired: pointer, ordering: .sequentiallyConsistent)
            if exchanged { break }
            old = found
        }
        // After the end no source may stay in the queue: the source keeps the queue, and the queue would keep the
        // source.
        if closed.load(ordering: .sequentiallyConsistent) { drop() }
    }

    // MARK: The loop's thread

    /// Removes and returns the only queued source; `nil` if there are several or none, and then none is removed.
    func takeOnly() -> Queued? {
        guard let pointer = newest.load(ordering: .sequentiallyConsistent) else { return nil }
        let place = Unmanaged<Place>.fromOpaque(pointer)
        // While a place is queued, no thread changes its link to the next place.
        if place._withUnsafeGuaranteedRef({ $0.next != nil }) { return nil }
        guard newest.compareExchange(expected: pointer, desired: nil, ordering: .sequentiallyConsistent).exchanged
        else { return nil }
        return Queued(taking: place)
    }

    /// Removes all sources, the newest first, so that they can be queued again.
    func takeAll(into all: inout [Queued]) {
        var next = newest.exchange(nil, ordering: .sequentiallyConsistent).map { Unmanaged<Place>.fromOpaque($0) }
        while let place = next {
            next = place._withUnsafeGuaranteedRef { $0.next }
            all.append(Queued(taking: place))
        }
    }

    /// Removes all sources that have left the mode, and those for which `keeping` returns false, from the queue.
    ///
    /// Returns the removed sources, which the caller releases without a lock, and the number of the others. Call this only while no other thread takes sources, or asks whether there are any.
    /// - Complexity: O(n) in the queued sources; about as many have been queued or have left the mode since the last
    ///   call.
    func sweep(keeping: (Element) -> Bool) -> (waste: [Element], kept: Int) {
        var all: [Queued] = []
        takeAll(into: &all)
        var waste: [Element] = []
        for queued in all.reversed() {
            if queued.isPresent, keeping(queued.element) { queued.enqueue() } else { waste.append(queued.element) }
        }
        return (waste, all.count - waste.count)
    }

    /// Ends the queue: sources that are queued now or later are released.
    func close() {
        closed.store(true, ordering: .sequentiallyConsistent)
        drop()
    }

    private func drop() {
        var waste: [Queued] = []
        takeAll(into: &waste)
    }
}
