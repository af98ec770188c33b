internal import Synchronization

/// What a loop keeps for one of its modes.
///
/// Guarded by the loop's lock, but for the atomics, which the loop's thread reads to find out without the lock that
/// there is nothing to do, and for what is marked as the loop's thread's own.
final class ModeState: @unchecked Sendable {
    let mode: RunLoopMode
    /// By order, equal orders as added.
    private(set) var observers: [RunLoopObserver] = []
    private let observerMask = Atomic<UInt>(0)

    /// Signalled sources, with the order in which they were added.
    private(set) var sources: [ObjectIdentifier: (number: Int, source: RunLoopSource)] = [:]
    private var sourcesAdded = 0
    let signals = SignalQueue<RunLoopSource>()

    let ports: PortTable

    /// The buckets whose timers fire in this mode.
    @exclusivity(unchecked) var timerBuckets: [TimerBucket<RunLoopTimer>] = []
    /// The one of monotonic timers that are in this mode alone: of most timers there are.
    ///
    /// Not counted: the loop keeps its buckets.
    @exclusivity(unchecked) var soleBucket: Unmanaged<TimerBucket<RunLoopTimer>>?
    let counter = ItemCounter()
    private let common = Atomic<Bool>(false)

    /// Guarded by the lock.
    @exclusivity(unchecked) var timerPlace = TimerPlace()
    /// The loop's thread's own.
    @exclusivity(unchecked) var wakeUpPlace = WakeUpPlace()

    /// Events fetched and not yet served, and when they were fetched.
    ///
    /// The loop's thread's own.
    @exclusivity(unchecked) var ready = ReadyPorts()
    /// Whether the main queue's descriptor is in the readiness.
    ///
    /// The loop's thread's own.
    var watchesMainQueue = false

    init(mode: RunLoopMode, readiness: any Readiness) {
        self.mode = mode
        ports = PortTable(readiness: readiness)
    }

    // MARK: Without the lock

    /// Marked as common.
    var isCommon: Bool { common.load(ordering: .relaxed) }
    func markCommon() { common.store(true, ordering: .relaxed) }

    /// Whether any observer wants `activity`.
    @inline(__always)
    func observes(_ activity: RunLoopActivities) -> Bool {
        // relaxed: an observer added by another thread is seen one activity earlier or later; both are right.
        observerMask.load(ordering: .relaxed) & activity.rawValue != 0
    }

    /// Whether there is no source, port source or timer.
    var hasNoItems: Bool { counter.isEmpty }
    @inline(__always)
    var hasTimers: Bool { counter.hasTimers }

    // MARK: Observers

    func add(_ observer: RunLoopObserver) {
        let index = observers.lastIndex { $0.order <= observer.order }.map { $0 + 1 } ?? 0
        observers.insert(observer, at: index)
        observerMask.bitwiseOr(observer.activities.rawValue, ordering: .relaxed)
    }

    func remove(_ observer: RunLoopObserver) {
        observers.removeAll { $0 === observer }
        observerMask.store(observers.reduce(0) { $0 | $1.activities.rawValue }, ordering: .relaxed)
    }

    func contains(_ observer: RunLoopObserver) -> Bool { observers.contains { $0 === observer } }

    // MARK: Sources

    func add(_ source: RunLoopSource) {
        sourcesAdded += 1
        sources[ObjectIdentifier(source)] = (sourcesAdded, source)
        counter.changeSources(by: 1)
    }

    func remove(_ source: RunLoopSource) {
        if sources.removeValue(forKey: ObjectIdentifier(source)) != nil { counter.changeSources(by: -1) }
    }

    func contains(_ source: RunLoopSource) -> Bool { sources[ObjectIdentifier(source)] != nil }

    func add(_ port: RunLoopPortSource) throws(RunLoopSystemCallError) {
        try ports.add(port)
        counter.changeSources(by: 1)
    }

    func remove(_ port: RunLoopPortSource) {
        let count = ports.count
        ports.remove(port)
        if ports.count < count { counter.changeSources(by: -1) }
    }

    // MARK: Timers

    /// The date of the first timer that counts on the monotonic clock.
    var firstMonotonicDate: Int64 {
        timerBuckets.reduce(.max) { $1.base == .monotonic ? min($0, $1.queue.firstDate) : $0 }
    }

    /// Until when a thread that runs in this mode may sleep.
    func sleepLimit() -> WaitLimit {
        var limit = WaitLimit.forever
        for bucket in timerBuckets { limit[bucket.base] = min(limit[bucket.base], bucket.queue.sleepLimit) }
        return limit
    }
}

/// Events of descriptors that wait to be served, one a turn, in the kernel's order.
struct ReadyPorts {
    private var events: [ReadyDescriptor] = []
    private var served = 0
    /// When they were fetched: they have been ready at least since then.
    private(set) var since: Int64 = 0
    /// When they were found; told to who records, and set for nobody else.
    var foundAt = Int64.min

    var isEmpty: Bool { served == events.count }

    mutating func replace(with events: inout [ReadyDescriptor], since: Int64) {
        swap(&self.events, &events)
        // In general there is one: taking it out costs a fifth of what removeAll(keepingCapacity:) does.
        while events.popLast() != nil {}
        served = 0
        isDoubtful = false
        self.since = since
    }

    /// Whether the events are from before something that may have changed them: each is asked for again.
    private(set) var isDoubtful = false

    mutating func doubt() { isDoubtful = !isEmpty }

    var peek: ReadyDescriptor? { isEmpty ? nil : events[served] }

    mutating func next() -> ReadyDescriptor? {
        if isEmpty { return nil }
        served += 1
        return events[served - 1]
    }
}

/// The mode that a thread sleeps in.
///
/// Set with the loop's lock held, together with the limit of the sleep, and taken back without it: who finds the mode a moment
/// too long wakes a thread that is awake, which costs nothing.
struct SleepingMode: ~Copyable {
    /// The mode's number plus one; 0 while the thread does not sleep.
    private let word = Atomic<UInt32>(0)

    func begin(_ mode: RunLoopMode) { word.store(mode.number + 1, ordering: .relaxed) }
    func end() { word.store(0, ordering: .relaxed) }

    /// The mode, if the thread sleeps.
    @inline(__always)
    var mode: RunLoopMode? {
        let word = word.load(ordering: .relaxed)
        return word == 0 ? nil : RunLoopMode(number: word - 1)
    }
}
