/// What a heap needs of the timers in it.
package protocol HeapTimer: AnyObject {
    /// When it is due, in nanoseconds.
    var fire: Int64 { get }
    /// The latest it may be served: the due date plus the tolerance.
    var hard: Int64 { get }
    /// Whether `hard` is later than `fire`.
    var isTolerant: Bool { get }
    /// Grows with each time a timer is put in; equal dates are served in this order.
    var sequence: UInt64 { get }
    /// Places in the two heaps it can be in; -1 for none.
    var firePosition: Int32 { get set }
    var hardPosition: Int32 { get set }
}

/// Which date a heap is ordered by, and where it notes positions.
package protocol TimerHeapKey<Timer> {
    associatedtype Timer: HeapTimer
    static func date(of timer: Timer) -> Int64
    static func setPosition(_ position: Int32, of timer: Timer)
}

package enum FireKey<Timer: HeapTimer>: TimerHeapKey {
    @inline(__always)
    package static func date(of timer: Timer) -> Int64 { timer.fire }
    @inline(__always)
    package static func setPosition(_ position: Int32, of timer: Timer) { timer.firePosition = position }
}

package enum HardKey<Timer: HeapTimer>: TimerHeapKey {
    @inline(__always)
    package static func date(of timer: Timer) -> Int64 { timer.hard }
    @inline(__always)
    package static func setPosition(_ position: Int32, of timer: Timer) { timer.hardPosition = position }
}

/// Timers by date: a heap of four branches, whose entries carry the date so that a comparison stays in one cache line.
///
/// The heap does not keep its timers alive; whoever owns it does.
/// Complexity: the first is read in O(1); adding, removing and moving are O(log n), adding at a random date O(1) on
/// average. Memory: 16 bytes an entry, up to twice that while the storage grows, a quarter of it in use at the least.
package struct TimerHeap<Key: TimerHeapKey>: ~Copyable {
    package typealias Timer = Key.Timer

    private struct Entry {
        let date: Int64
        let timer: Unmanaged<Timer>

        @inline(__always)
        func isBefore(_ other: Entry) -> Bool {
            if date != other.date { return date < other.date }
            return timer._withUnsafeGuaranteedRef { left in
                other.timer._withUnsafeGuaranteedRef { right in left.sequence < right.sequence }
            }
        }
    }

    // Plain memory instead of an array: an array asks at each change whether it is the only one to hold its storage.
    // SAFETY: all indices below are of a parent or a child inside `count`.
    private var base: UnsafeMutablePointer<Entry>
    private var capacity: Int
    package private(set) var count = 0

    package init() {
        capacity = 0
        base = .allocate(capacity: 0)
    }

    deinit { base.deallocate() }

    package var isEmpty: Bool { count == 0 }

    /// The earliest date; `Int64.max` if there is none.
    @inline(__always)
    package var firstDate: Int64 { count == 0 ? .max : base[0].date }

    package var first: Timer? { count == 0 ? nil : base[0].timer.takeUnretainedValue() }

    /// All of them, in no order.
    package var all: [Timer] { (0..<count).map { base[$0].timer.takeUnretainedValue() } }

    @inline(__always)
    package mutating func insert(_ timer: Timer) {
        if count == capacity { resize(to: max(8, capacity * 2)) }
        count += 1
        siftUp(Entry(date: Key.date(of: timer), timer: .passUnretained(timer)), from: count - 1)
    }

    @inline(__always)
    package mutating func remove(at position: Int32) {
        assert(position >= 0 && position < count, "A timer was taken out of a heap it is not in.")
        let index = Int(position)
        base[index].timer._withUnsafeGuaranteedRef { Key.setPosition(-1, of: $0) }
        count -= 1
        if index < count { place(base[count], at: index) }
        if count * 4 < capacity, capacity > 8 { resize(to: capacity / 2) }
    }

    /// Appends all timers whose date is not after `date`, in no order.
    ///
    /// Looks at those and at their children only.
    package func collect(through date: Int64, into result: inout [Timer]) {
        if count > 0, firstDate <= date { collect(from: 0, through: date, into: &result) }
    }

    // As deep as the heap: nine calls for 100,000 timers.
    private func collect(from index: Int, through date: Int64, into result: inout [Timer]) {
        result.append(base[index].timer.takeUnretainedValue())
        let firstChild = index * 4 + 1
        var child = firstChild
        while child < min(firstChild + 4, count) {
            if base[child].date <= date { collect(from: child, through: date, into: &result) }
            child += 1
        }
    }

    @inline(never)
    private mutating func resize(to newCapacity: Int) {
        let new = UnsafeMutablePointer<Entry>.allocate(capacity: newCapacity)
        new.moveInitialize(from: base, count: count)
        base.deallocate()
        base = new
        capacity = newCapacity
    }

    @inline(__always)
    private func put(_ entry: Entry, at index: Int) {
        base[index] = entry
        entry.timer._withUnsafeGuaranteedRef { Key.setPosition(Int32(truncatingIfNeeded: index), of: $0) }
    }

    @inline(__always)
    private func place(_ entry: Entry, at index: Int) {
        if index > 0, entry.isBefore(base[(index - 1) >> 2]) {
            siftUp(entry, from: index)
        } else {
            siftDown(entry, from: index)
        }
    }

    @inline(__always)
    private func siftUp(_ entry: Entry, from start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) >> 2
            if !entry.isBefore(base[parent]) { break }
            put(base[parent], at: index)
            index = parent
        }
        put(entry, at: index)
    }

    @inline(__always)
    private func siftDown(_ entry: Entry, from start: Int) {
        var index = start
        while true {
            let firstChild = (index << 2) + 1
            if firstChild >= count { break }
            var least = firstChild
            var child = firstChild + 1
            let end = min(firstChild + 4, count)
            while child < end {
                if base[child].isBefore(base[least]) { least = child }
                child += 1
            }
            if !base[least].isBefore(entry) { break }
            put(base[least], at: index)
            index = least
        }
        put(entry, at: index)
    }
}
