/// What a queue needs of the timers in it.
package protocol QueuedTimer: AnyObject {
    /// When it is due, in nanoseconds.
    var fire: Int64 { get }
    /// The latest it may be served: the due date plus the tolerance.
    var hard: Int64 { get }
    /// Whether `hard` is later than `fire`.
    var isTolerant: Bool { get }
    /// Its number in the queue it is in.
    var slot: UInt32 { get set }
}

/// Timers of one clock, with what a loop wants to know of them: which are due, and how long it may sleep.
///
/// A timer without tolerance must be served at its date: it is in one heap. One with tolerance is in two, by its date
/// and by the latest instant that still keeps the promise. The thread sleeps until the earliest such latest instant
/// and then serves all that are due: the fewest wake-ups there can be (stabbing intervals, earliest end first).
///
/// The queue does not keep its timers alive; whoever owns it does.
package struct TimerQueue<Timer: QueuedTimer>: ~Copyable {
    /// A timer, with the entry it is ordered by.
    package struct Due {
        package let entry: TimerHeap.Entry
        package let timer: Timer
    }

    private var exact = TimerHeap()
    private var tolerant = TimerHeap()
    private var latest = TimerHeap()
    private var table = SlotTable<Timer>()

    package init() {}

    @inline(__always)
    package var count: Int { exact.count + tolerant.count }

    /// The date of the first timer; `Int64.max` if there is none.
    ///
    /// O(1).
    @inline(__always)
    package var firstDate: Int64 { min(exact.firstDate, tolerant.firstDate) }

    /// The instant until which the thread may sleep; `Int64.max` if there is no timer.
    ///
    /// O(1).
    @inline(__always)
    package var sleepLimit: Int64 { min(exact.firstDate, latest.firstDate) }

    /// The date of the first timer, if any has to be served at `now`, or if the thread is awake for something else
    /// anyway and the first is due: then all that are due ride along.
    ///
    /// `nil` if there is nothing to serve.
    @inline(__always)
    package func firstToServe(at now: Int64, isAwakeAnyway: Bool) -> Int64? {
        let first = firstDate
        if first > now || first == .max { return nil }
        return isAwakeAnyway || sleepLimit <= now ? first : nil
    }

    /// Puts a timer in; `sequence` grows with each.
    @inline(__always)
    package mutating func insert(_ timer: Timer, sequence: UInt32) {
        let slot = table.add(timer)
        timer.slot = slot
        let entry = TimerHeap.Entry(date: timer.fire, sequence: sequence, slot: slot)
        if !timer.isTolerant { exact.insert(entry) } else { insertTolerant(entry, until: timer.hard) }
    }

    @inline(never)
    private mutating func insertTolerant(_ entry: TimerHeap.Entry, until hard: Int64) {
        tolerant.insert(entry)
        latest.insert(TimerHeap.Entry(date: hard, sequence: entry.sequence, slot: entry.slot))
    }

    @inline(__always)
    package mutating func remove(_ timer: Timer) {
        let slot = timer.slot
        if exact.contains(slot) { exact.remove(slot) } else { removeTolerant(slot) }
        table.remove(slot)
        if table.isEmpty { giveBack() }
    }

    @inline(never)
    private mutating func removeTolerant(_ slot: UInt32) {
        tolerant.remove(slot)
        latest.remove(slot)
    }

    /// A burst's memory does not stay when the burst is over.
    private mutating func giveBack() {
        if table.capacity <= 64 { return }
        table.reset()
        exact.reset()
        tolerant.reset()
        latest.reset()
    }

    /// All of them, in no order.
    package var all: [Due] {
        var all: [Due] = []
        collectDue(at: .max, into: &all)
        return all
    }

    /// Appends all that are due at `now`, in no order.
    package func collectDue(at now: Int64, into due: inout [Due]) {
        exact.forEach(through: now) { due.append(Due(entry: $0, timer: table[$0.slot])) }
        tolerant.forEach(through: now) { due.append(Due(entry: $0, timer: table[$0.slot])) }
    }
}

/// Gives numbers to objects, small ones, and finds the objects by them.
///
/// Does not keep them alive. O(1). Memory: 8 bytes for each that was in at the same time, up to twice that.
private struct SlotTable<Object: AnyObject>: ~Copyable {
    // The address of an object, which is even; or the next free slot, doubled, plus one.
    private var words: UnsafeMutablePointer<UInt>
    private(set) var capacity = 0
    /// Slots that were ever used; those above are free.
    private var used = 0
    private var free: UInt32 = .max
    private var count = 0

    init() { words = .allocate(capacity: 0) }

    deinit { words.deallocate() }

    var isEmpty: Bool { count == 0 }

    subscript(slot: UInt32) -> Object {
        // SAFETY: the owner asks for slots that it has, and keeps the objects alive.
        Unmanaged<Object>.fromOpaque(UnsafeRawPointer(bitPattern: words[Int(slot)]).unsafelyUnwrapped)
            .takeUnretainedValue()
    }

    @inline(__always)
    mutating func add(_ object: Object) -> UInt32 {
        let slot: UInt32
        if free != .max {
            slot = free
            free = UInt32(truncatingIfNeeded: words[Int(slot)] >> 1)
        } else {
            if used == capacity { grow() }
            slot = UInt32(truncatingIfNeeded: used)
            used += 1
        }
        words[Int(slot)] = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        count += 1
        return slot
    }

    @inline(__always)
    mutating func remove(_ slot: UInt32) {
        words[Int(slot)] = UInt(free) << 1 | 1
        free = slot
        count -= 1
    }

    /// Gives all memory back.
    ///
    /// Precondition: empty.
    mutating func reset() {
        words.deallocate()
        words = .allocate(capacity: 0)
        capacity = 0
        used = 0
        free = .max
    }

    @inline(never)
    private mutating func grow() {
        let larger = max(8, capacity * 2)
        let new = UnsafeMutablePointer<UInt>.allocate(capacity: larger)
        new.moveInitialize(from: words, count: used)
        words.deallocate()
        words = new
        capacity = larger
    }
}
