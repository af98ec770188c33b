// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// One serving of due timers: the timers that were due in its mode when it began, and no others.
///
/// It serves the timers that are due at `limit` and were put into their queue before the serving began. The number that
/// a timer gets when it is put in decides: a timer that is put in later, or moved, is newer.
struct TimerPass {
    let mode: Unmanaged<ModeState>
    let limit: WaitLimit
    private(set) var sequence: UInt32
    /// Timers that were to be served and have left their place since: they were taken out of the mode, or got another
    /// date.
    ///
    /// The pass looks at them when their turn comes, as in Core Foundation.
    var strays = StrayTimers()

    init(_ mode: ModeState, _ limit: WaitLimit, through sequence: UInt32) {
        self.mode = .passUnretained(mode)
        self.limit = limit
        self.sequence = sequence
    }

    /// A timer has left the place of this entry.
    mutating func noteStray(_ timer: RunLoop.Timer, _ entry: TimerHeap.Entry, _ base: RunLoop.TimeBase) {
        strays.insert(timer, order(of: entry, base))
    }

    /// An entry with its date as it would read on the monotonic clock.
    @inline(__always)
    func order(of entry: TimerHeap.Entry, _ base: RunLoop.TimeBase) -> TimerHeap.Entry {
        let date = entry.date &+ (limit.monotonic &- limit[base])
        return TimerHeap.Entry(date: date, sequence: entry.sequence, slot: entry.slot)
    }

    /// Follows a change of all sequences.
    mutating func renumber(_ number: (UInt32) -> UInt32) {
        sequence = number(sequence)
        strays.renumber(number)
    }

    /// Whether the entry is to be served in this pass.
    func includes(_ entry: TimerHeap.Entry, _ bucket: TimerBucket) -> Bool {
        entry.date <= limit[bucket.base] && !entry.isNewer(than: sequence)
            && mode._withUnsafeGuaranteedRef { bucket.contains($0) }
    }
}

/// Timers in the order of the places that they have left.
///
/// - Complexity: a heap, O(log n) for each that comes or is taken.
struct StrayTimers {
    private var heap: [(order: TimerHeap.Entry, timer: RunLoop.Timer)] = []
    /// Kept until the end: a timer must not be released with the lock held.
    private(set) var taken: [RunLoop.Timer] = []

    var isEmpty: Bool { heap.isEmpty }
    var first: TimerHeap.Entry? { heap.first?.order }

    mutating func insert(_ timer: RunLoop.Timer, _ order: TimerHeap.Entry) {
        var index = heap.count
        heap.append((order, timer))
        while index > 0, heap[index].order.isBefore(heap[(index - 1) / 2].order) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Takes the first timer.
    ///
    /// - Precondition: there is one.
    mutating func takeFirst() -> RunLoop.Timer {
        heap.swapAt(0, heap.count - 1)
        let timer = heap.removeLast().timer
        taken.append(timer)
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < heap.count && heap[child].order.isBefore(heap[least].order) {
                least = child
            }
            if least == index { return timer }
            heap.swapAt(index, least)
            index = least
        }
    }

    /// Calls `body` with all entries, in no order.
    func visit(_ body: (TimerHeap.Entry) -> Void) { for stray in heap { body(stray.order) } }

    /// Gives each entry another sequence, in the same order.
    mutating func renumber(_ number: (UInt32) -> UInt32) {
        for index in heap.indices { heap[index].order.sequence = number(heap[index].order.sequence) }
    }
}

// Step 9 with timers: since when any are due, and serving all that are, in the order of their dates. The loop's thread.
extension RunLoop {
    // MARK: Which timers are due

    /// Since when the mode's timers have something to serve, as an instant of the monotonic clock; `nil` if nothing is
    /// due.
    ///
    /// A timer with tolerance is served at its latest instant, or with whatever else has woken the thread.
    /// - Parameter rival: Since when something else has been ready: timers that are not due lose a place before that
    ///   instant.
    @inline(__always)
    func timersReadySince(_ mode: ModeState, isAwakeAnyway: Bool, before rival: Int64) -> Int64? {
        lock()
        let since = timersReady(mode, isAwakeAnyway: isAwakeAnyway)
        if since == nil { mode.fairness.passTimers(before: rival) }
        unlock()
        return since
    }

    /// The same with the lock held.
    func timersReady(_ mode: ModeState, isAwakeAnyway: Bool) -> Int64? {
        var since: Int64?
        let now = monotonicNow()
        mode.forEachBucket { bucket in
            let bucketNow = bucket.base == .monotonic ? now : self.now(bucket.base)
            guard let date = bucket.queue.firstToServe(at: bucketNow, isAwakeAnyway: isAwakeAnyway) else { return }
            // Dates of other clocks, as they would read on the monotonic clock.
            since = min(since ?? .max, now - (bucketNow - date))
        }
        return since.map(mode.fairness.timersReady)
    }

    // MARK: Serving

    /// Fires all timers that are due, in the order of their dates.
    ///
    /// A timer that is added or moved in a callout waits for the next turn. A timer that was made invalid, taken out of
    /// all modes or put off in the meantime does not fire. A timer that was removed from this mode alone still fires,
    /// as in Core Foundation.
    func fireTimers(_ mode: ModeState) {
        // The last reference to a timer is released when no lock is held.
        var spent: Unmanaged<Timer>?
        lock()
        let limit = beginPass(mode)
        var isFirst = true
        while true {
            let due = firstDue(mode, limit)
            if hasStrays, let stray = nextStray(before: due?.order) {
                if takeAgain(stray) {
                    spent = fire(.passUnretained(stray), releasing: spent)
                } else {
                    // Other threads must not wait until all are looked at.
                    unlock()
                    lock()
                }
                continue
            }
            guard let due else { break }
            let served = take(due, mode)
            if isFirst {
                isFirst = false
                let leavesOthers = firstDue(mode, limit) != nil
                mode.fairness.timersServed(limit.monotonic, leavingOthers: leavesOthers)
            }
            switch consume served {
            case .timer(let timer):
                spent = fire(timer, releasing: spent)
            case .delayed(let body):
                unlock()
                spent?.release()
                spent = nil
                callOut(.timer, body.label, wanted: wait(.monotonic, since: due.entry.date)) {
                    RUNLOOP_IS_CALLING_OUT_TO_A_DELAYED_BLOCK(body.call)
                }
                _ = consume body
                lock()
            }
        }
        // An observer of the end of the sleep may have put off what was due.
        if isFirst { mode.fairness.timersServed(limit.monotonic, leavingOthers: false) }
        let waste = endPass()
        unlock()
        spent?.release()
        withExtendedLifetime(waste) {}
    }

    /// Calls one timer, which has been taken out of its queue; the lock is held before and afterwards, and not
    /// meanwhile.
    ///
    /// Returns the timer if the caller has to release the loop's reference.
    @inline(__always)
    private func fire(_ reference: Unmanaged<Timer>, releasing spent: Unmanaged<Timer>?) -> Unmanaged<Timer>? {
        // SAFETY: the loop's reference, which nobody releases while the timer is firing.
        reference._withUnsafeGuaranteedRef { timer in
            timer.state = .firing
            firingTimers.append(reference)
            let date = timer.fire
            // The closure is here while it is called: no other code asks for it, so none can release it.
            var handler = timer.handler.take()
            unlock()
            spent?.release()
            switch handler {
            case .some(let handler):
                callOut(.timer, timer.labelStorage, wanted: wait(of: timer, since: date)) {
                    RUNLOOP_IS_CALLING_OUT_TO_A_TIMER(handler.call, timer)
                }
            case .none: break
            }
            let isOver = settle(timer, &handler, date)
            return isOver ? reference : nil
        }
    }

    /// The callout has returned: the timer becomes invalid, or goes back into its queue.
    ///
    /// Begins without the lock and ends with it. Returns whether the caller has the loop's reference.
    @inline(__always)
    private func settle(_ timer: Timer, _ handler: inout Timer.Handler?, _ date: Int64) -> Bool {
        if !timer.owner.isHeld(by: self) { return settleElsewhere(timer, &handler, date) }
        lock()
        // The callout may have added the timer to another thread's loop, or another thread may do so now.
        if !timer.owner.isHeld(by: self) {
            unlock()
            return settleElsewhere(timer, &handler, date)
        }
        firingTimers.removeLast()
        if conclude(timer, &handler, date, monotonicNow()) { return takeLoan(timer) }
        let isOver = takeLoan(timer)
        // The closure is released without the lock.
        unlock()
        handler = nil
        lock()
        return isOver
    }

    /// The timer belongs to another loop now, and goes back into that loop's tables.
    @inline(never)
    private func settleElsewhere(_ timer: Timer, _ handler: inout Timer.Handler?, _ date: Int64) -> Bool {
        let holder = timer.owner.lock()
        let goesOn: Bool
        // Not kept: the last reference to that loop must not go with its lock held.
        if let loop = holder?.pointee.loop {
            goesOn = loop._withUnsafeGuaranteedRef {
                $0.forgetFiringElsewhere(timer)
                return $0.conclude(timer, &handler, date, $0.now(timer.base))
            }
        } else {
            goesOn = conclude(timer, &handler, date, TimerClock.now(timer.base))
        }
        let isOver = takeLoan(timer)
        timer.owner.unlock(holder)
        if !goesOn { handler = nil }
        lock()
        _ = firingTimers.popLast()
        return isOver
    }

    @inline(__always)
    private func takeLoan(_ timer: Timer) -> Bool {
        defer { timer.state.remove(.onLoan) }
        return timer.state.contains(.onLoan)
    }

    /// Ends a timer's callout, with the lock held of its loop, which is this one; a timer of no loop has its own.
    ///
    /// Returns false if the timer will not fire again: then it is invalid and in no mode. The clock is read only if the
    /// timer fires again.
    @inline(__always)
    private func conclude(
        _ timer: Timer, _ handler: inout Timer.Handler?, _ date: Int64, _ now: @autoclosure () -> Int64
    ) -> Bool {
        if timer.isValid {
            if timer.isRepeating || timer.state.contains(.restarted) {
                putBack(timer, &handler, date, now())
                return true
            }
            timer.markInvalid()
        }
        discard(timer)
        timer.state.remove(.firing)
        return false
    }

    /// Puts a timer that will fire again back, with the lock held of its loop, which is this one.
    @inline(never)
    private func putBack(_ timer: Timer, _ handler: inout Timer.Handler?, _ date: Int64, _ now: Int64) {
        let wasRestarted = timer.state.contains(.restarted)
        timer.handler = handler.take()
        timer.state.subtract([.firing, .restarted])
        // A date set in the callout counts if it is later than the date that was served; any other date is passed over.
        if timer.isRepeating, timer.fire <= date, !wasRestarted {
            timer.fire = TimerGrid.next(
                after: date, interval: timer.intervalNanoseconds,
                now: timer.base == .monotonic ? now : self.now(timer.base))
        }
        // A timer that has left its modes in the callout waits outside.
        if timer.bucket != .none { withBucket(of: timer) { enqueue(timer, in: $0) } }
    }

    // MARK: One pass. With the lock held.

    private func beginPass(_ mode: ModeState) -> WaitLimit {
        var limit = WaitLimit.forever
        limit.monotonic = monotonicNow()
        mode.forEachBucket { bucket in
            if bucket.base != .monotonic { limit[bucket.base] = now(bucket.base) }
            bucket.queue.admitLate()
        }
        timerPasses.append(TimerPass(mode, limit, through: timerSequence))
        servedThrough = timerSequence
        hasStrays = false
        return limit
    }

    private func endPass() -> StrayTimers {
        let waste = timerPasses.removeLast().strays
        innermostPassChanged()
        // Timers that wait for the next time are for the outer serving, which sets them aside again, or for the next
        // turn.
        for bucket in timerBuckets { bucket.queue.admitLate() }
        return waste
    }

    /// The timer to be served next.
    private struct Due {
        /// The entry in its queue.
        let entry: TimerHeap.Entry
        /// The same with its date as it would read on the monotonic clock.
        let order: TimerHeap.Entry
        let bucket: Unmanaged<TimerBucket>
    }

    @inline(__always)
    private func firstDue(_ mode: ModeState, _ limit: WaitLimit) -> Due? {
        // Asked each time: a callout may have made timers count anew.
        let sequence = servedThrough
        var first: Due?
        // By index: a loop over the array itself counts a reference to it.
        for index in 0..<mode.timerBuckets.count {
            let bucket = mode.timerBuckets[index]
            bucket._withUnsafeGuaranteedRef { it in
                let until = limit[it.base]
                guard let entry = it.queue.firstDue(at: until, through: sequence) else { return }
                let date = entry.date &+ (limit.monotonic &- until)
                let order = TimerHeap.Entry(date: date, sequence: entry.sequence, slot: entry.slot)
                if let first, first.order.isBefore(order) { return }
                first = Due(entry: entry, order: order, bucket: bucket)
            }
        }
        return first
    }

    @inline(__always)
    private func take(_ due: Due, _ mode: ModeState) -> TimerQueue<Timer>.Served {
        var taken: TimerQueue<Timer>.Served?
        due.bucket._withUnsafeGuaranteedRef { bucket in
            if bucket.hasSeveralModes { firstTimerChanges(due.entry.date, in: bucket, except: mode) }
            let served = bucket.queue.take(due.entry)
            if timerPasses.count > 1 {
                switch served {
                case .timer(let timer):
                    // An outer serving looks at it all the same: the timer may be due again by then, as in Core
                    // Foundation.
                    timer._withUnsafeGuaranteedRef {
                        strays($0, due.entry, bucket, from: timerPasses.dropLast().indices)
                    }
                case .delayed: break
                }
            }
            switch served {
            case .timer: break
            case .delayed: bucket.countTimers(-1)
            }
            taken = consume served
        }
        return taken!
    }

    /// A timer that was to be served and has left its place, if it comes before `other`.
    @inline(never)
    private func nextStray(before other: TimerHeap.Entry?) -> Timer? {
        let pass = timerPasses.count - 1
        guard let next = timerPasses[pass].strays.first else { return nil }
        if let other, other.isBefore(next) { return nil }
        defer { innermostPassChanged() }
        return timerPasses[pass].strays.takeFirst()
    }

    /// Takes a timer that has left its place out of its queue, if it is to fire all the same.
    private func takeAgain(_ timer: Timer) -> Bool {
        guard timer.owner.isHeld(by: self), timer.isValid, timer.bucket != .none,
            !timer.state.contains(.firing), timer.fire <= now(timer.base)
        else { return false }
        let bucket = bucket(of: timer)
        if bucket.hasSeveralModes { firstTimerChanges(timer.fire, in: bucket) }
        bucket.queue.remove(timer)
        return true
    }

    // MARK: For recorders

    @inline(never)
    private func wait(of timer: Timer, since date: Int64) -> LoopWait {
        var wait = wait(timer.base, since: date)
        wait.tolerance = timer.tolerance.clampedNanoseconds
        wait.interval = timer.interval?.clampedNanoseconds ?? 0
        return wait
    }

    @inline(never)
    private func wait(_ base: TimeBase, since date: Int64) -> LoopWait {
        let now = now(.monotonic)
        // Dates of other clocks, as they would read on the monotonic clock.
        return LoopWait(since: base == .monotonic ? date : now - (self.now(base) - date))
    }
}
