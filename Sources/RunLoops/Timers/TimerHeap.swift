/// What a heap needs of the timers in it.
package protocol HeapTimer: AnyObject {
    /// When it is due, in nanoseconds.
    var fire: Int64 { get }
    /// The latest it may be served: the due date plus the tolerance.
    var hard: Int64 { get }
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
/// average.
package struct TimerHeap<Key: TimerHeapKey> {
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

    private var entries: [Entry] = []

    package init() {}

    package var count: Int { entries.count }
    package var isEmpty: Bool { entries.isEmpty }

    /// The earliest date; `Int64.max` if there is none.
    @inline(__always)
    package var firstDate: Int64 { entries.isEmpty ? .max : entries[0].date }

    package var first: Timer? { entries.first?.timer.takeUnretainedValue() }

    package func forEach(_ body: (Timer) -> Void) {
        for entry in entries { body(entry.timer.takeUnretainedValue()) }
    }

    package mutating func insert(_ timer: Timer) {
        let entry = Entry(date: Key.date(of: timer), timer: .passUnretained(timer))
        entries.append(entry)
        withEntries { $0.siftUp(entry, from: $0.count - 1) }
    }

    package mutating func remove(at position: Int32) {
        let index = Int(position)
        let removed = entries[index]
        let last = entries.removeLast()
        Key.setPosition(-1, of: removed.timer.takeUnretainedValue())
        if index < entries.count { withEntries { $0.place(last, at: index) } }
    }

    /// Puts a timer whose date or sequence has changed where it belongs.
    package mutating func update(at position: Int32) {
        let index = Int(position)
        let timer = entries[index].timer
        let entry = Entry(date: Key.date(of: timer.takeUnretainedValue()), timer: timer)
        withEntries { $0.place(entry, at: index) }
    }

    /// Appends all timers whose date is not after `date`, in no order. Looks at those and at their neighbours only.
    package func collect(through date: Int64, into result: inout [Timer]) {
        guard firstDate <= date else { return }
        var pending = [0]
        while let index = pending.popLast() {
            result.append(entries[index].timer.takeUnretainedValue())
            let firstChild = index * 4 + 1
            if firstChild >= entries.count { continue }
            for child in firstChild..<min(firstChild + 4, entries.count) where entries[child].date <= date {
                pending.append(child)
            }
        }
    }

    @inline(__always)
    private mutating func withEntries(_ body: (View) -> Void) {
        entries.withUnsafeMutableBufferPointer { buffer in
            // SAFETY: not empty: both callers have at least one entry.
            body(View(base: buffer.baseAddress.unsafelyUnwrapped, count: buffer.count))
        }
    }

    /// The entries without bounds checks; every index below is one of a parent or child inside `count`.
    private struct View {
        let base: UnsafeMutablePointer<Entry>
        let count: Int

        @inline(__always)
        private func put(_ entry: Entry, at index: Int) {
            base[index] = entry
            entry.timer._withUnsafeGuaranteedRef { Key.setPosition(Int32(truncatingIfNeeded: index), of: $0) }
        }

        @inline(__always)
        func place(_ entry: Entry, at index: Int) {
            if index > 0, entry.isBefore(base[(index - 1) / 4]) {
                siftUp(entry, from: index)
            } else {
                siftDown(entry, from: index)
            }
        }

        @inline(__always)
        func siftUp(_ entry: Entry, from start: Int) {
            var index = start
            while index > 0 {
                let parent = (index - 1) / 4
                if !entry.isBefore(base[parent]) { break }
                put(base[parent], at: index)
                index = parent
            }
            put(entry, at: index)
        }

        @inline(__always)
        func siftDown(_ entry: Entry, from start: Int) {
            var index = start
            while true {
                let firstChild = index * 4 + 1
                if firstChild >= count { break }
                var least = firstChild
                for child in firstChild + 1..<max(firstChild + 1, min(firstChild + 4, count))
                where base[child].isBefore(base[least]) {
                    least = child
                }
                if !base[least].isBefore(entry) { break }
                put(base[least], at: index)
                index = least
            }
            put(entry, at: index)
        }
    }
}
