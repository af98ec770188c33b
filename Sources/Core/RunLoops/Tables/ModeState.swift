// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// One mode of a loop: what the loop's thread looks at without the lock, to find out that there is nothing to do.
///
/// ``ModeState`` is the part of the mode that the lock guards.
final class LoopMode: @unchecked Sendable {
    let name: RunLoop.Mode
    /// The index of the mode among the modes of the loop.
    let number: Int
    let signals = SignalQueue<RunLoop.Source>()
    let readiness: any Readiness

    // Written by ModeState alone, a part of the guarded state, so that a load and a store do the same as an atomic
    // addition. The loop's thread reads them without the lock: it sees an item that another thread adds a moment earlier or later,
    // and both are right.
    /// All activities that the observers ask for; activities of removed observers stay in it until
    /// ``ModeState/observers`` is read again.
    fileprivate let observerMask = Atomic<UInt>(0)
    /// The number of buckets that contain a timer.
    fileprivate let busyBuckets = Atomic<Int>(0)
    fileprivate let sourceCount = Atomic<Int>(0)
    fileprivate let emptied = Atomic<Int>(0)
    private let common = Atomic<Bool>(false)

    // Used by the loop's thread alone.
    /// Events that were fetched and are not yet served.
    // Unchecked: each look reads it several times.
    @exclusivity(unchecked) var ready = ReadyDescriptors()
    /// Whether the main queue's descriptor is in the readiness.
    @exclusivity(unchecked) var watchesMainQueue = false

    init(_ name: RunLoop.Mode, number: Int, readiness: any Readiness) {
        self.name = name
        self.number = number
        self.readiness = readiness
    }

    /// Whether the mode is marked as common.
    var isCommon: Bool { common.load(ordering: .relaxed) }
    func markCommon() { common.store(true, ordering: .relaxed) }

    /// Whether any observer asks for one of `activities`.
    func observes(_ activities: RunLoop.Activities) -> Bool {
        // relaxed: an observer added by another thread is seen one activity earlier or later; both are right.
        observerMask.load(ordering: .relaxed) & activities.rawValue != 0
    }

    /// Whether there is no source, descriptor source or timer.
    var hasNoItems: Bool { !hasTimers && sourceCount.load(ordering: .relaxed) == 0 }
    var hasTimers: Bool { busyBuckets.load(ordering: .relaxed) != 0 }
    /// The number of times that the last item has left the mode.
    // acquiring: pairs with the release in ModeState.count, so that a thread that sees the new number finds the mode empty.
    var timesEmptied: Int { emptied.load(ordering: .acquiring) }

    /// Appends the ready descriptors to `ready`.
    func look(into ready: inout [ReadyDescriptor]) { readiness.look(into: &ready) }
}

/// The items of one mode of a loop.
struct ModeState: ~Copyable {
    let mode: LoopMode
    private var observerSet = ItemSet<RunLoop.Observer>()
    /// The cached value of ``observers``; `nil` after an observer was added or removed.
    private var sortedObservers: [RunLoop.Observer]? = []
    private var sourceSet = ItemSet<RunLoop.Source>()
    var descriptors: DescriptorTable
    /// The buckets whose timers fire in this mode.
    private(set) var buckets: [BucketNumber] = []
    /// The bucket of monotonic timers that are in this mode alone, as most timers are.
    private(set) var soleBucket = BucketNumber.none
    var order = ReadyOrder()
    /// How many sources were signalled when they left the mode, since the last ``sweepSignals()``.
    private var staleSignals = 0
    private var maxStaleSignals = Self.minSweep

    /// The smallest number of such sources that is swept.
    private static var minSweep: Int { 64 }

    init(_ mode: LoopMode) {
        self.mode = mode
        descriptors = DescriptorTable(readiness: mode.readiness)
    }

    // Not by `descriptors`: Swift 6.2 refuses to read a part of a state that is borrowed from a container.
    func contains(_ source: RunLoop.DescriptorSource) -> Bool { descriptors.contains(source) }

    // MARK: Observers

    /// The observers by ascending order, and observers of equal order in the order in which they were added.
    ///
    /// - Complexity: O(1), or O(n log n) in the first access after observers were added or removed, however many.
    var observers: [RunLoop.Observer] {
        mutating get {
            if let sortedObservers { return sortedObservers }
            let sorted = observerSet.sorted { $0.order }
            sortedObservers = sorted
            mode.observerMask.store(sorted.reduce(0) { $0 | $1.activities.rawValue }, ordering: .relaxed)
            return sorted
        }
    }

    mutating func add(_ observer: RunLoop.Observer) {
        observerSet.add(observer)
        sortedObservers = nil
        mode.observerMask.bitwiseOr(observer.activities.rawValue, ordering: .relaxed)
    }

    mutating func remove(_ observer: RunLoop.Observer) {
        if observerSet.remove(observer) { sortedObservers = nil }
    }

    func contains(_ observer: RunLoop.Observer) -> Bool { observerSet.contains(observer) }

    // MARK: Sources

    /// The sources in the order in which they were added.
    var sources: [RunLoop.Source] { sourceSet.all }

    mutating func add(_ source: RunLoop.Source) {
        sourceSet.add(source)
        count(1, in: mode.sourceCount)
    }

    mutating func remove(_ source: RunLoop.Source) {
        if sourceSet.remove(source) { count(-1, in: mode.sourceCount) }
    }

    func contains(_ source: RunLoop.Source) -> Bool { sourceSet.contains(source) }

    /// Whether so many signalled sources have left the mode that ``sweepSignals()`` should be called.
    var hasManyStaleSignals: Bool { staleSignals >= maxStaleSignals }

    /// Counts a signalled source that has left the mode; returns whether there are many.
    mutating func countStaleSignal() -> Bool {
        staleSignals += 1
        return hasManyStaleSignals
    }

    /// Removes the signalled sources that have left the mode from the queue of signals, and returns them to the caller,
    /// which releases them without the lock.
    ///
    /// The requirements and the complexity are those of ``SignalQueue/sweep(keeping:)``.
    mutating func sweepSignals() -> [RunLoop.Source] {
        let (waste, kept) = mode.signals.sweep { $0.isSignalled }
        (staleSignals, maxStaleSignals) = (0, max(Self.minSweep, kept))
        return waste
    }

    mutating func add(_ source: RunLoop.DescriptorSource) throws(RunLoop.SystemCallError) {
        try descriptors.add(source)
        count(1, in: mode.sourceCount)
    }

    mutating func remove(_ source: RunLoop.DescriptorSource) {
        descriptors.remove(source)
        count(-1, in: mode.sourceCount)
    }

    // MARK: Timers

    /// Adds a bucket.
    ///
    /// - Parameter isSole: Whether it is the bucket of monotonic timers that are in this mode alone.
    mutating func add(_ bucket: BucketNumber, isSole: Bool) {
        buckets.append(bucket)
        if isSole { soleBucket = bucket }
    }

    mutating func remove(_ bucket: BucketNumber) {
        buckets.removeAll { $0 == bucket }
        if soleBucket == bucket { soleBucket = .none }
    }

    /// Adds `difference` to the number of buckets that contain a timer.
    func countBusyBuckets(_ difference: Int) { count(difference, in: mode.busyBuckets) }

    private func count(_ difference: Int, in counter: borrowing Atomic<Int>) {
        counter.store(counter.load(ordering: .relaxed) + difference, ordering: .relaxed)
        if mode.hasNoItems { mode.emptied.store(mode.timesEmptied + 1, ordering: .releasing) }
    }
}

/// Events of descriptors that wait to be served, one a turn, in the kernel's order.
struct ReadyDescriptors {
    private var events: [ReadyDescriptor] = []
    private var served = 0
    /// The instant since which the events have been ready.
    private(set) var since = Int64.min
    /// The instant at which the events were found; for recorders, and not set without one.
    var foundAt = Int64.min
    /// Whether the events were fetched before something that may have changed them; the kernel is then asked again
    /// about each.
    private(set) var isDoubtful = false

    var isEmpty: Bool { served == events.count }

    mutating func replace(with events: inout [ReadyDescriptor], readySince since: Int64) {
        swap(&self.events, &events)
        self.since = since
        // Usually there is one: taking it out costs a fifth of what removeAll(keepingCapacity:) does.
        while events.popLast() != nil {}
        served = 0
        isDoubtful = false
    }

    mutating func doubt() { isDoubtful = !isEmpty }

    var peek: ReadyDescriptor? { isEmpty ? nil : events[served] }

    mutating func next() -> ReadyDescriptor? {
        if isEmpty { return nil }
        served += 1
        return events[served - 1]
    }
}
