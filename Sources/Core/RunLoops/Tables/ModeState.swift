// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The state of one mode of a loop.
///
/// Guarded by the loop's lock, except the atomics and the fields that only the loop's thread uses. The loop's thread
/// reads the atomics to find out without the lock that there is nothing to do.
final class ModeState: @unchecked Sendable {
    let mode: RunLoop.Mode
    /// The index of the mode among the modes of the loop.
    let number: Int
    private var observerSet = ItemSet<RunLoop.Observer>()
    /// The cached value of ``observers``; `nil` after an observer was added or removed.
    private var sortedObservers: [RunLoop.Observer]? = []
    /// All activities that the observers ask for; activities of removed observers stay in it until ``observers`` is
    /// read again.
    private let observerMask = Atomic<UInt>(0)

    private var sourceSet = ItemSet<RunLoop.Source>()
    let signals = SignalQueue<RunLoop.Source>()

    let descriptors: DescriptorTable

    /// The buckets whose timers fire in this mode.
    // Unmanaged: the loop keeps the buckets, and a turn looks at them often.
    @exclusivity(unchecked) private(set) var timerBuckets: [Unmanaged<TimerBucket>] = []
    /// The bucket of monotonic timers that are in this mode alone, as most timers are.
    @exclusivity(unchecked) private(set) var soleBucket: Unmanaged<TimerBucket>?

    // Written with the loop's lock held, so that a load and a store do the same as an atomic addition. The loop's
    // thread reads them without the lock: it sees an item that another thread adds a moment earlier or later, and both
    // are right.
    /// The number of buckets that contain a timer.
    private let busyBuckets = Atomic<Int>(0)
    private let sourceCount = Atomic<Int>(0)
    private let emptied = Atomic<Int>(0)
    private let common = Atomic<Bool>(false)

    @exclusivity(unchecked) var order = ReadyOrder()

    /// Events that were fetched and are not yet served.
    ///
    /// Used by the loop's thread alone.
    @exclusivity(unchecked) var ready = ReadyDescriptors()
    /// Whether the main queue's descriptor is in the readiness.
    ///
    /// Used by the loop's thread alone.
    @exclusivity(unchecked) var watchesMainQueue = false

    init(_ mode: RunLoop.Mode, number: Int, readiness: any Readiness) {
        self.mode = mode
        self.number = number
        descriptors = DescriptorTable(readiness: readiness)
    }

    // MARK: Without the lock

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
    // acquiring: pairs with the release in countEmptied, so that a thread that sees the new number finds the mode empty.
    var timesEmptied: Int { emptied.load(ordering: .acquiring) }

    // MARK: Observers

    /// The observers by ascending order, and observers of equal order in the order in which they were added.
    ///
    /// - Complexity: O(1), or O(n log n) in the first access after observers were added or removed, however many.
    var observers: [RunLoop.Observer] {
        if let sortedObservers { return sortedObservers }
        let sorted = observerSet.sorted { $0.order }
        sortedObservers = sorted
        observerMask.store(sorted.reduce(0) { $0 | $1.activities.rawValue }, ordering: .relaxed)
        return sorted
    }

    func add(_ observer: RunLoop.Observer) {
        observerSet.add(observer)
        sortedObservers = nil
        observerMask.bitwiseOr(observer.activities.rawValue, ordering: .relaxed)
    }

    func remove(_ observer: RunLoop.Observer) {
        if observerSet.remove(observer) { sortedObservers = nil }
    }

    func contains(_ observer: RunLoop.Observer) -> Bool { observerSet.contains(observer) }

    // MARK: Sources

    /// The sources in the order in which they were added.
    var sources: [RunLoop.Source] { sourceSet.all }

    func add(_ source: RunLoop.Source) {
        sourceSet.add(source)
        countSources(1)
    }

    func remove(_ source: RunLoop.Source) {
        if sourceSet.remove(source) { countSources(-1) }
    }

    func contains(_ source: RunLoop.Source) -> Bool { sourceSet.contains(source) }

    func add(_ source: RunLoop.DescriptorSource) throws(RunLoop.SystemCallError) {
        try descriptors.add(source)
        countSources(1)
    }

    func remove(_ source: RunLoop.DescriptorSource) {
        descriptors.remove(source)
        countSources(-1)
    }

    private func countSources(_ difference: Int) {
        sourceCount.store(sourceCount.load(ordering: .relaxed) + difference, ordering: .relaxed)
        if hasNoItems { countEmptied() }
    }

    // MARK: Timers

    func add(_ bucket: TimerBucket) {
        timerBuckets.append(.passUnretained(bucket))
        if !bucket.hasSeveralModes, bucket.base == .monotonic { soleBucket = .passUnretained(bucket) }
    }

    func remove(_ bucket: TimerBucket) {
        let pointer = Unmanaged.passUnretained(bucket).toOpaque()
        timerBuckets.removeAll { $0.toOpaque() == pointer }
        if soleBucket?.toOpaque() == pointer { soleBucket = nil }
    }

    /// Adds `difference` to the number of buckets that contain a timer.
    func countBusyBuckets(_ difference: Int) {
        busyBuckets.store(busyBuckets.load(ordering: .relaxed) + difference, ordering: .relaxed)
        if hasNoItems { countEmptied() }
    }

    private func countEmptied() { emptied.store(timesEmptied + 1, ordering: .releasing) }

    func forEachBucket(_ body: (TimerBucket) -> Void) {
        for bucket in timerBuckets { bucket._withUnsafeGuaranteedRef(body) }
    }

    /// The date of the first timer that counts on the monotonic clock.
    var firstMonotonicDate: Int64 {
        var first = Int64.max
        forEachBucket { if $0.base == .monotonic { first = min(first, $0.queue.firstDate) } }
        return first
    }

    // MARK: Sleeping

    /// The limit of a sleep in this mode.
    func sleepLimit() -> WaitLimit {
        var limit = WaitLimit.forever
        forEachBucket { limit[$0.base] = min(limit[$0.base], $0.queue.sleepLimit) }
        return limit
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
