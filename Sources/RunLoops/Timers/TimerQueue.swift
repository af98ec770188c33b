/// Timers of one clock, with what a loop wants to know of them: which are due, and how long it may sleep.
///
/// A timer without tolerance must be served at its date: it is in one heap. One with tolerance is in two, by its date
/// and by the latest instant that still keeps the promise. The thread sleeps until the earliest such latest instant
/// and then serves all that are due: the fewest wake-ups there can be (stabbing intervals, earliest end first).
package struct TimerQueue<Timer: HeapTimer>: ~Copyable {
    private var exact = TimerHeap<FireKey<Timer>>()
    private var tolerant = TimerHeap<FireKey<Timer>>()
    private var latest = TimerHeap<HardKey<Timer>>()

    package init() {}

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

    @inline(__always)
    package mutating func insert(_ timer: Timer) {
        if !timer.isTolerant {
            exact.insert(timer)
        } else {
            tolerant.insert(timer)
            latest.insert(timer)
        }
    }

    @inline(__always)
    package mutating func remove(_ timer: Timer) {
        if timer.hardPosition < 0 {
            exact.remove(at: timer.firePosition)
        } else {
            tolerant.remove(at: timer.firePosition)
            latest.remove(at: timer.hardPosition)
        }
    }

    /// All of them, in no order.
    package var all: [Timer] { exact.all + tolerant.all }

    /// Appends all that are due at `now`, in no order.
    package func collectDue(at now: Int64, into due: inout [Timer]) {
        exact.collect(through: now, into: &due)
        tolerant.collect(through: now, into: &due)
    }
}
