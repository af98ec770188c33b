// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// What a queue needs to know of its timers.
package protocol QueuedTimer: AnyObject {
    /// When the timer is due, in nanoseconds.
    var fire: Int64 { get }
    /// How much later than its date the timer may be served, less what waking up takes; 0 for exactly then.
    var slack: Int64 { get }
    /// The timer's number in its queue.
    var slot: UInt32 { get set }
}

/// Timers of one clock, with what a loop wants to know of them: which timer is due first, and how long the loop may
/// sleep.
///
/// A timer without tolerance must be served at its date: it is in one heap. Timers with tolerance are in another heap,
/// by their dates. As long as they all have the same tolerance, their latest instants are in the order of the dates.
/// When a second tolerance comes, the latest instants get a heap of their own. The thread sleeps until the earliest
/// latest instant and then serves all timers that are due: the fewest wake-ups there can be (stabbing intervals,
/// earliest end first).
///
/// The queue does not keep its timers alive; its owner does. The queue keeps closures without an object.
package struct TimerQueue<Timer: QueuedTimer>: ~Copyable {
    /// What was taken out of the queue to be called.
    package enum Served: ~Copyable {
        case timer(Unmanaged<Timer>)
        case delayed(DelayedBody)
    }

    private var exact = TimerHeap()
    private var tolerant = TimerHeap()
    /// The latest instants of the tolerant timers, unless all have one slack.
    private var latest = TimerHeap()
    private var commonSlack: Int64?
    /// Timers that came, or were given a date, while others were served, and that are already due: they wait for the
    /// next time.
    private var late = TimerHeap()
    private var slots = SlotTable<Timer>()
    private var delayed = DelayedTable()

    package init() {}

    @inline(__always)
    package var count: Int { slots.count }

    /// The date of the first timer; `Int64.max` if there is none.
    ///
    /// O(1).
    @inline(__always)
    package var firstDate: Int64 { min(exact.firstDate, min(tolerant.firstDate, late.firstDate)) }

    /// The instant until which the thread may sleep; `Int64.max` if there is no timer.
    ///
    /// O(1).
    @inline(__always)
    package var sleepLimit: Int64 { min(exact.firstDate, min(late.firstDate, firstLatest)) }

    /// The earliest of the latest instants of tolerant timers.
    @inline(__always)
    private var firstLatest: Int64 {
        guard let commonSlack else { return latest.firstDate }
        return tolerant.firstDate.clampedAdding(commonSlack)
    }

    /// The date of the first timer, if any timer has to be served at `now`, or if the thread is awake for something
    /// else anyway and the first is due: then all timers that are due are served with it.
    ///
    /// `nil` if there is nothing to serve.
    @inline(__always)
    package func firstToServe(at now: Int64, isAwakeAnyway: Bool) -> Int64? {
        let first = firstDate
        if first > now || first == .max { return nil }
        return isAwakeAnyway || sleepLimit <= now ? first : nil
    }

    // MARK: Coming, going, moving

    /// Puts a timer in; `sequence` grows with each timer, or all that is in is renumbered before.
    @inline(__always)
    package mutating func insert(_ timer: Timer, sequence: UInt32) {
        let slot = slots.add(Unmanaged.passUnretained(timer))
        timer.slot = slot
        let entry = TimerHeap.Entry(date: timer.fire, sequence: sequence, slot: slot)
        let slack = timer.slack
        if slack == 0 { exact.insert(entry) } else { insertTolerant(entry, slack) }
    }

    /// Puts in a closure that is called once; the index of its cell and the sequence name it.
    @inline(__always)
    package mutating func insert(_ body: consuming DelayedBody, at date: Int64, sequence: UInt32) -> UInt32 {
        let index = delayed.add(body, number: sequence)
        let slot = slots.add(delayed: index)
        delayed.setSlot(slot, of: index)
        exact.insert(TimerHeap.Entry(date: date, sequence: sequence, slot: slot))
        return index
    }

    @inline(__always)
    package mutating func remove(_ timer: Timer) { remove(slot: timer.slot) }

    /// Takes a closure out; `nil` if it was called or cancelled before.
    @inline(__always)
    package mutating func remove(delayed index: UInt32, sequence: UInt32) -> DelayedBody? {
        guard let slot = delayed.slot(of: index, number: sequence) else { return nil }
        remove(slot: slot)
        return delayed.take(index)
    }

    @inline(__always)
    private mutating func remove(slot: UInt32) {
        if exact.contains(slot) { exact.remove(slot) } else { removeOther(slot) }
        slots.remove(slot)
    }

    @inline(never)
    private mutating func removeOther(_ slot: UInt32) {
        if late.contains(slot) { return late.remove(slot) }
        tolerant.remove(slot)
        if commonSlack == nil { latest.remove(slot) }
    }

    /// Gives an exact timer another date in its place; returns false if it is not in its heap.
    @inline(__always)
    package mutating func move(_ timer: Timer, to date: Int64, sequence: UInt32) -> Bool {
        guard exact.contains(timer.slot) else { return false }
        exact.update(TimerHeap.Entry(date: date, sequence: sequence, slot: timer.slot))
        return true
    }

    @inline(never)
    private mutating func insertTolerant(_ entry: TimerHeap.Entry, _ slack: Int64) {
        if tolerant.isEmpty { commonSlack = slack }
        if let common = commonSlack, common != slack { separateLatest(common) }
        tolerant.insert(entry)
        if commonSlack == nil { latest.insert(entry.later(by: slack)) }
    }

    /// A second tolerance comes: from here on the latest instants have a heap of their own.
    @inline(never)
    private mutating func separateLatest(_ common: Int64) {
        commonSlack = nil
        var latest = TimerHeap()
        tolerant.visit { latest.insert($0.later(by: common)) }
        self.latest = latest
    }

    // MARK: Serving

    /// The first timer that is due at `now` and is not newer than `sequence`; newer ones are set aside.
    @inline(__always)
    package mutating func firstDue(at now: Int64, through sequence: UInt32) -> TimerHeap.Entry? {
        while true {
            guard let first = firstDue(at: now) else { return nil }
            if !first.isNewer(than: sequence) { return first }
            setAside(first)
        }
    }

    @inline(__always)
    private func firstDue(at now: Int64) -> TimerHeap.Entry? {
        let exactDate = exact.firstDate
        let tolerantDate = tolerant.firstDate
        if min(exactDate, tolerantDate) > now { return nil }
        if exactDate < tolerantDate { return exact.first }
        guard let second = tolerant.first else { return exact.first }
        guard let first = exact.first else { return second }
        return first.isBefore(second) ? first : second
    }

    /// The first entry came too late to be served this time, and waits for the next time.
    @inline(never)
    private mutating func setAside(_ entry: TimerHeap.Entry) {
        removeFirst(entry)
        late.insert(entry)
    }

    @inline(__always)
    private mutating func removeFirst(_ entry: TimerHeap.Entry) {
        if exact.first?.slot == entry.slot {
            exact.removeFirst()
        } else {
            tolerant.removeFirst()
            if commonSlack == nil { latest.remove(entry.slot) }
        }
    }

    /// Takes out the timer that ``firstDue(at:through:)`` has found.
    @inline(__always)
    package mutating func take(_ entry: TimerHeap.Entry) -> Served {
        removeFirst(entry)
        let content = slots[entry.slot]
        slots.remove(entry.slot)
        prefetchNext()
        switch content {
        case .object(let timer): return .timer(timer)
        case .delayed(let index): return .delayed(delayed.take(index))
        }
    }

    /// Prefetches what will be needed next.
    @inline(__always)
    private func prefetchNext() {
        if exact.isEmpty { prefetchFirst(of: tolerant) } else { prefetchFirst(of: exact) }
    }

    /// Prefetches the first timer, and the addresses of the timers that may come after it.
    @inline(__always)
    private func prefetchFirst(of heap: borrowing TimerHeap) {
        guard let next = heap.first else { return }
        slots.prefetchObject(next.slot)
        heap.forEachNext { slots.prefetch($0) }
    }

    /// The timers that were set aside are like all others again.
    @inline(__always)
    package mutating func admitLate() {
        if !late.isEmpty { admitAllLate() }
    }

    @inline(never)
    private mutating func admitAllLate() {
        while let entry = late.first {
            late.removeFirst()
            var slack: Int64 = 0
            if case .object(let timer) = slots[entry.slot] { slack = timer.takeUnretainedValue().slack }
            if slack == 0 { exact.insert(entry) } else { insertTolerant(entry, slack) }
        }
    }

    // MARK: The rest

    /// The entry of a timer that is in the queue; `nil` for a timer that was set aside.
    package func entry(of timer: Timer) -> TimerHeap.Entry? {
        if exact.contains(timer.slot) { return exact.entry(of: timer.slot) }
        return tolerant.contains(timer.slot) ? tolerant.entry(of: timer.slot) : nil
    }

    /// Calls `body` with all that is in the queue, in no order: an object, or where a closure was asked for.
    package func visit(_ body: (TimerHeap.Entry, Timer?, ItemLabel?) -> Void) {
        func tell(_ entry: TimerHeap.Entry) {
            switch slots[entry.slot] {
            case .object(let timer): body(entry, timer.takeUnretainedValue(), nil)
            case .delayed(let index): body(entry, nil, delayed.label(of: index))
            }
        }
        exact.visit(tell)
        tolerant.visit(tell)
        late.visit(tell)
    }

    /// Gives all that is in the queue another sequence, in the same order; names of closures stay as they are.
    package mutating func renumber(_ number: (UInt32) -> UInt32) {
        exact.renumber(number)
        tolerant.renumber(number)
        latest.renumber(number)
        late.renumber(number)
    }

    /// Empties the queue of closures without an object, and returns them.
    package mutating func removeAllDelayed() -> [() -> Void] {
        var slots: [UInt32] = []
        func collect(_ entry: TimerHeap.Entry) {
            if case .delayed = self.slots[entry.slot] { slots.append(entry.slot) }
        }
        exact.visit(collect)
        late.visit(collect)
        for slot in slots { remove(slot: slot) }
        return delayed.takeAll()
    }

    /// Whether a burst has left much more memory than is used.
    package var isRoomy: Bool {
        exact.isRoomy || tolerant.isRoomy || latest.isRoomy || slots.isRoomy || delayed.isRoomy
    }

    /// Releases the memory that a burst has left: not while timers are served, because the next burst takes pages anew.
    package mutating func trim() {
        exact.trim()
        tolerant.trim()
        latest.trim()
        if slots.isRoomy { slots.trim() }
        if delayed.isRoomy { delayed.trim() }
    }
}

extension TimerHeap.Entry {
    fileprivate func later(by slack: Int64) -> TimerHeap.Entry {
        TimerHeap.Entry(date: date.clampedAdding(slack), sequence: sequence, slot: slot)
    }
}
