internal import Synchronization

/// What has been signalled in one mode: any thread puts in, the loop's thread takes all out at once.
///
/// A source has a place in the queue of every mode it is in; a place is in its queue at most once. The cost is by how
/// many places are queued, not by how many there are.
package final class SignalQueue<Element: AnyObject & Sendable>: @unchecked Sendable {
    /// One source in one mode.
    package final class Place: @unchecked Sendable {
        package let element: Element
        private let queue: SignalQueue
        /// Written by whoever queues the place, read by who takes it: the queue hands it over.
        @exclusivity(unchecked) fileprivate var next: Unmanaged<Place>?
        private let isQueued = Atomic<Bool>(false)
        private let isLeft = Atomic<Bool>(false)

        package init(_ element: Element, in queue: SignalQueue) {
            self.element = element
            self.queue = queue
        }

        /// Queues the place if it is not queued.
        ///
        /// Any thread.
        package func enqueue() {
            // sequentiallyConsistent, like leaveQueue: the caller has marked the source as signalled before. Either
            // the taker, who reads the mark after leaveQueue, sees it, or this finds the place free and queues it.
            if isQueued.exchange(true, ordering: .sequentiallyConsistent) { return }
            // SAFETY: kept by the place, and not counted once more on the way of a signal.
            Unmanaged.passUnretained(queue)._withUnsafeGuaranteedRef { $0.push(self) }
        }

        /// The source is no longer in the mode; the place may still be queued.
        package func leave() { isLeft.store(true, ordering: .relaxed) }

        /// Whether the source is still in the mode.
        package var isPresent: Bool { !isLeft.load(ordering: .relaxed) }

        fileprivate func leaveQueue() {
            next = nil
            isQueued.store(false, ordering: .sequentiallyConsistent)
        }
    }

    /// The newest place; each holds a reference of its own while queued.
    private let newest = Atomic<UnsafeRawPointer?>(nil)

    package init() {}

    deinit {
        var waste: [Place] = []
        takeAll(into: &waste)
    }

    /// Whether nothing is queued.
    ///
    /// Any thread.
    package var isEmpty: Bool { newest.load(ordering: .sequentiallyConsistent) == nil }

    private func push(_ place: Place) {
        let reference = Unmanaged.passRetained(place)
        let pointer = UnsafeRawPointer(reference.toOpaque())
        var old = newest.load(ordering: .relaxed)
        while true {
            place.next = old.map { Unmanaged.fromOpaque($0) }
            // The place's contents go with it: pairs with the exchange in takeAll.
            let (exchanged, found) = newest.compareExchange(
                expected: old, desired: pointer, ordering: .sequentiallyConsistent)
            if exchanged { return }
            old = found
        }
    }

    /// The only one that is queued, taken out; `nil` if there are several, or none.
    ///
    /// The loop's thread.
    @inline(__always)
    package func takeOnly() -> Place? {
        guard let pointer = newest.load(ordering: .sequentiallyConsistent) else { return nil }
        let place = Unmanaged<Place>.fromOpaque(pointer)
        // A place that is queued stays as it is: nobody writes its link before it has left.
        if place._withUnsafeGuaranteedRef({ $0.next != nil }) { return nil }
        guard newest.compareExchange(expected: pointer, desired: nil, ordering: .sequentiallyConsistent).exchanged
        else { return nil }
        let taken = place.takeRetainedValue()
        taken.leaveQueue()
        return taken
    }

    /// Takes all out, in no particular order, and lets them be queued again.
    ///
    /// The loop's thread.
    package func takeAll(into places: inout [Place]) {
        guard var pointer = newest.exchange(nil, ordering: .sequentiallyConsistent) else { return }
        while true {
            let place = Unmanaged<Place>.fromOpaque(pointer).takeRetainedValue()
            let next = place.next
            place.leaveQueue()
            places.append(place)
            guard let next else { return }
            pointer = UnsafeRawPointer(next.toOpaque())
        }
    }
}
