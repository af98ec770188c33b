// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

// The buckets of a loop's timers.
extension GuardedState {
    // MARK: Buckets

    @inline(__always)
    func isIn(_ timer: RunLoop.Timer, _ mode: Int) -> Bool {
        // The owner is checked first: the lock of another loop guards the bucket of that loop's timer.
        timer.owner.isHeld(by: lock) && timer.bucket != .none && buckets[timer.bucket].contains(mode)
    }

    /// The bucket of timers that are in these modes and count on this clock; made for the first such timer.
    private mutating func bucket(_ clock: RunLoop.ClockID, _ modes: [Int]) -> BucketNumber {
        let modes = modes.sorted()
        let existing = buckets.first { $0.clock == clock && $0.modes == modes }
        return existing.map(BucketNumber.init) ?? addBucket(clock, modes)
    }

    /// The bucket of most timers: the timers that are in this mode alone and count on the monotonic clock.
    @inline(__always)
    private mutating func soleBucket(of mode: Int) -> BucketNumber {
        let sole = modes[mode].soleBucket
        return sole != .none ? sole : addBucket(.monotonic, [mode])
    }

    /// Adds `difference` to the number of timers in a bucket; if the bucket has become empty or is no longer empty,
    /// counts it in its modes.
    @inline(__always)
    mutating func count(_ difference: Int, in bucket: BucketNumber) {
        let wasEmpty = buckets[bucket].isEmpty
        buckets[bucket].count += difference
        if buckets[bucket].isEmpty != wasEmpty { isEmptyChanged(of: bucket) }
    }

    private func isEmptyChanged(of bucket: BucketNumber) {
        for mode in buckets[bucket].modes { modes[mode].countBusyBuckets(buckets[bucket].isVacant() ? -1 : 1) }
    }

    // MARK: Adding and removing

    /// Adds a mode to the modes of a timer.
    @inline(__always)
    mutating func put(_ timer: RunLoop.Timer, in mode: Int) {
        if timer.bucket != .none { return put(timer, inNew: [mode]) }
        // The loop's own reference; released in takeOut.
        _ = Unmanaged.passRetained(timer)
        enter(timer, timer.clock == .monotonic ? soleBucket(of: mode) : bucket(timer.clock, [mode]))
    }

    /// Adds several modes to the modes of a timer, in one step.
    ///
    /// Adding mode after mode would leave an empty bucket for each step, which the earlier modes would look at in every
    /// turn.
    private mutating func put(_ timer: RunLoop.Timer, inNew modes: [Int]) {
        var all = modes
        if timer.bucket != .none {
            all += buckets[timer.bucket].modes
            leave(timer)
        } else {
            // The loop's own reference; released in takeOut.
            _ = Unmanaged.passRetained(timer)
        }
        enter(timer, bucket(timer.clock, all))
    }

    /// Adds modes to the modes of a timer.
    mutating func put(_ timer: RunLoop.Timer, in modes: [Int]) {
        var new: [Int] = []
        for mode in modes where !isIn(timer, mode) { new.append(mode) }
        switch new.count {
        case 0: return
        case 1: put(timer, in: new[0])
        default: put(timer, inNew: new)
        }
    }

    /// Removes a mode from the modes of a timer.
    mutating func take(_ timer: RunLoop.Timer, outOf mode: Int) {
        let left = buckets[timer.bucket].modes.filter { $0 != mode }
        if left.isEmpty { return takeOut(timer) }
        leave(timer)
        enter(timer, bucket(timer.clock, left))
    }

    /// Removes a timer from all its modes.
    @inline(__always)
    mutating func takeOut(_ timer: RunLoop.Timer) {
        guard timer.bucket != .none else { return }
        leave(timer)
        // During the callout, the function that calls the timer has to release the loop's reference.
        if timer.callout.contains(.underWay), !timer.callout.contains(.onLoan) {
            timer.callout.insert(.onLoan)
        } else {
            Unmanaged.passUnretained(timer).release()
        }
    }

    /// Removes a timer that has become invalid, if it is in a mode; the timer is no longer a common item.
    @inline(__always)
    mutating func discard(_ timer: RunLoop.Timer) {
        if timer.bucket == .none { return }
        takeOut(timer)
        if !commonItems.isEmpty { _ = commonItems.remove(timer) }
    }

    @inline(__always)
    private mutating func enter(_ timer: RunLoop.Timer, _ bucket: BucketNumber) {
        timer.bucket = bucket
        count(1, in: bucket)
        if timer.callout.contains(.underWay) { comesDuringCallout(timer) } else { enqueue(timer) }
    }

    /// Records a timer whose callout is under way on another thread: it is in no queue, and has to be found if this
    /// thread ends.
    private mutating func comesDuringCallout(_ timer: RunLoop.Timer) {
        let isOwn = firingTimers.contains { $0.takeUnretainedValue() === timer }
        if !isOwn { timersFiringElsewhere.append(.passUnretained(timer)) }
    }

    /// Removes a timer from the timers whose callouts are under way on another thread.
    ///
    /// Called when the timer is removed from its modes during the callout, or when the callout has returned.
    mutating func forgetFiringElsewhere(_ timer: RunLoop.Timer) {
        if timersFiringElsewhere.isEmpty { return }
        timersFiringElsewhere.removeAll { $0.takeUnretainedValue() === timer }
    }

    /// Removes a timer from its bucket; during the timer's callout it is in no queue.
    @inline(__always)
    private mutating func leave(_ timer: RunLoop.Timer) {
        let bucket = timer.bucket
        timer.bucket = .none
        count(-1, in: bucket)
        if timer.callout.contains(.underWay) { return forgetFiringElsewhere(timer) }
        if timer.fire <= buckets[bucket].queue.firstDate { firstTimerChanges(timer.fire, in: bucket) }
        buckets[bucket].queue.remove(timer, &dueList)
        if hosted != nil { datesChangedInHost() }
    }

    // MARK: Queues

    /// Inserts a timer into its queue behind all timers of the same date; if the thread would sleep too long for the
    /// timer, shortens the sleep.
    @inline(__always)
    mutating func enqueue(_ timer: RunLoop.Timer) {
        let bucket = timer.bucket
        assignSequence(to: timer.fire, in: bucket)
        buckets[bucket].queue.insert(timer, sequence: timerSequence)
        timerComes(timer.latest, in: bucket)
    }

    /// Increments `timerSequence` for a new date; for an overdue date, also updates since when the modes of the bucket
    /// have been ready.
    @inline(__always)
    private mutating func assignSequence(to date: Int64, in bucket: BucketNumber) {
        if timerSequence == .max { renumberTimers() }
        timerSequence &+= 1
        if date <= core.lastLook.load(ordering: .relaxed) || core.wakeWord.wakeUp != nil {
            overdueTimerAdded(date, in: bucket)
        }
    }

    /// Renumbers all queued entries from the lowest number on, in the same order: once in four thousand million timers.
    ///
    /// - Complexity: O(n log n) in the timers of the loop.
    private mutating func renumberTimers() {
        putListedBack()
        var old: [UInt32] = []
        for bucket in 0..<buckets.count {
            buckets[bucket].queue.visit(dueList) { entry, _, _ in old.append(entry.sequence) }
        }
        old.sort()
        /// The number of old sequences that are not greater than `sequence`; this is the new sequence.
        func number(_ sequence: UInt32) -> UInt32 {
            var (low, high) = (0, old.count)
            while low < high {
                let middle = (low + high) / 2
                if old[middle] <= sequence { low = middle + 1 } else { high = middle }
            }
            return UInt32(low)
        }
        for bucket in 0..<buckets.count { buckets[bucket].queue.renumber(number) }
        timerSequence = UInt32(old.count)
    }

    /// Changes the date of a timer that is in a mode.
    @inline(__always)
    mutating func move(_ timer: RunLoop.Timer, to date: Int64) {
        if timer.callout.contains(.underWay) {
            timer.fire = date
            return
        }
        let bucket = timer.bucket
        if timer.fire <= buckets[bucket].queue.firstDate { firstTimerChanges(timer.fire, in: bucket) }
        assignSequence(to: date, in: bucket)
        timer.fire = date
        if !buckets[bucket].queue.move(timer, to: date, sequence: timerSequence) { reinsert(timer) }
        timerComes(timer.latest, in: bucket)
        if hosted != nil { datesChangedInHost() }
    }

    private mutating func reinsert(_ timer: RunLoop.Timer) {
        buckets[timer.bucket].queue.remove(timer, &dueList)
        buckets[timer.bucket].queue.insert(timer, sequence: timerSequence)
    }

    /// Makes a change to a timer that is in a mode; unless the timer is listed or its callout is under way, removes it
    /// from its queue before the change and inserts it afterwards.
    mutating func reschedule(_ timer: RunLoop.Timer, _ change: () -> Void) {
        // A timer that is listed keeps its turn.
        if timer.callout.contains(.underWay) || buckets[timer.bucket].queue.isListed(timer) {
            return change()
        }
        buckets[timer.bucket].queue.remove(timer, &dueList)
        change()
        enqueue(timer)
        if hosted != nil { datesChangedInHost() }
    }

    // MARK: Closures without an object

    /// Adds a closure that is called once in a mode, after a delay.
    ///
    /// Returns the value that identifies the closure.
    @inline(__always)
    mutating func putDelayed(
        _ body: consuming DelayedBody, at date: Int64, in mode: RunLoop.Mode
    ) -> RunLoop.DelayedPerform.Name {
        let bucket = soleBucket(of: makeMode(mode))
        assignSequence(to: date, in: bucket)
        let id = buckets[bucket].queue.insert(body, at: date, sequence: timerSequence)
        count(1, in: bucket)
        timerComes(date, in: bucket)
        return RunLoop.DelayedPerform.Name(loop: core.number, bucket: bucket, id: id)
    }

    @inline(__always)
    mutating func takeDelayed(_ name: RunLoop.DelayedPerform.Name) -> DelayedBody? {
        let bucket = name.bucket
        let first = buckets[bucket].queue.firstDate
        guard let body = buckets[bucket].queue.remove(name.id, &dueList) else { return nil }
        count(-1, in: bucket)
        if buckets[bucket].queue.firstDate > first { firstTimerChanges(first, in: bucket) }
        if hosted != nil { datesChangedInHost() }
        return body
    }

    // MARK: The order of what is ready

    /// If the new date `date` is overdue and is the first in a mode of the bucket, records that the timers of the mode
    /// have another first date from now on.
    ///
    /// Called when a wake-up or a descriptor may have been ready longer.
    private mutating func overdueTimerAdded(_ date: Int64, in bucket: BucketNumber) {
        guard buckets[bucket].clock == .monotonic else { return }
        let now = core.now(.monotonic)
        guard date <= now else { return }
        for mode in buckets[bucket].modes {
            let first = firstMonotonicDate(in: mode)
            if date < first { modes[mode].order.firstTimerChanges(from: first, now: now) }
        }
    }

    /// Records for the modes of a bucket that another timer is the first from now on, if `date` has passed.
    ///
    /// Called when the first timer, due at `date`, is removed, gets another date, or is served in the mode `served`.
    mutating func firstTimerChanges(_ date: Int64, in bucket: BucketNumber, except served: Int? = nil) {
        guard buckets[bucket].clock == .monotonic else { return }
        let now = core.now(.monotonic)
        guard date <= now else { return }
        for mode in buckets[bucket].modes where mode != served {
            if modes[mode].mode.hasTimers {
                let first = min(date, firstMonotonicDate(in: mode))
                modes[mode].order.firstTimerChanges(from: first, now: now)
            } else {
                modes[mode].order.passTimers()
            }
        }
    }

    /// The date of the first timer that counts on the monotonic clock.
    private func firstMonotonicDate(in mode: Int) -> Int64 {
        var first = Int64.max
        for bucket in modes[mode].buckets where buckets[bucket].clock == .monotonic {
            first = min(first, buckets[bucket].firstDate())
        }
        return first
    }

    // MARK: Looking

    /// The limit of a sleep in a mode.
    func sleepLimit(in mode: Int) -> WaitLimit {
        var limit = WaitLimit.forever
        for index in modes[mode].buckets.indices {
            let bucket = modes[mode].buckets[index]
            let clock = buckets[bucket].clock
            limit[clock] = min(limit[clock], buckets[bucket].sleepLimit())
        }
        return limit
    }

    /// The instant of the monotonic clock since which the mode's timers have been ready; `nil` if none is due.
    ///
    /// A timer with tolerance is served at its latest instant, or with whatever else has woken the thread.
    ///
    /// - Parameter now: The present instant of the monotonic clock.
    func timersReadySince(in mode: Int, _ now: Int64, isAwakeAnyway: Bool) -> Int64? {
        var since: Int64?
        for index in modes[mode].buckets.indices {
            let bucket = modes[mode].buckets[index]
            let clock = buckets[bucket].clock
            let bucketNow = clock == .monotonic ? now : core.now(clock)
            guard let date = buckets[bucket].firstToServe(at: bucketNow, isAwakeAnyway: isAwakeAnyway) else {
                continue
            }
            // Dates of other clocks, as they would read on the monotonic clock.
            since = min(since ?? .max, now.clampedSubtracting(bucketNow.clampedSubtracting(date)))
        }
        return since.map { modes[mode].order.timersReady(since: $0) }
    }

    /// The date of the next timer in the mode; timers whose callouts are under way count.
    func nextTimer(in name: RunLoop.Mode) -> RunLoop.Instant? {
        guard let mode = existingMode(name), modes[mode].mode.hasTimers else { return nil }
        var nearest: (distance: Int64, instant: RunLoop.Instant)?
        func consider(_ date: Int64, _ clock: RunLoop.ClockID, _ now: Int64) {
            // Dates of different clocks are compared by how far away they are.
            let distance = date.clampedSubtracting(now)
            if let nearest, nearest.distance <= distance { return }
            nearest = (distance, RunLoop.Instant(nanoseconds: date, clock: clock))
        }
        for bucket in modes[mode].buckets where buckets[bucket].queueCount() > 0 {
            let clock = buckets[bucket].clock
            consider(buckets[bucket].firstDate(), clock, core.now(clock))
        }
        for timer in firingTimers(in: mode) { consider(timer.fire, timer.clock, core.now(timer.clock)) }
        return nearest?.instant
    }

    /// The timers of the mode whose callouts are under way.
    func firingTimers(in mode: Int) -> [RunLoop.Timer] {
        var found: [RunLoop.Timer] = []
        for timer in firingTimers where isIn(timer.takeUnretainedValue(), mode) {
            found.append(timer.takeUnretainedValue())
        }
        return found
    }

    /// Calls `body` with each entry of the mode's queues, in no order: with the clock that it counts on, and with the
    /// timer, or the location that posted a closure.
    func visitTimers(
        in mode: Int, _ body: (RunLoop.ClockID, TimerHeap.Entry, RunLoop.Timer?, ItemLabel?) -> Void
    ) {
        for bucket in modes[mode].buckets {
            let clock = buckets[bucket].clock
            buckets[bucket].visit(dueList) { body(clock, $0, $1, $2) }
        }
    }

    /// Releases the memory of a burst of timers before a sleep that is long enough for that.
    @inline(__always)
    mutating func trimTimers(in mode: Int, _ limit: WaitLimit, _ now: @autoclosure () -> Int64) {
        for index in modes[mode].buckets.indices {
            let bucket = modes[mode].buckets[index]
            if buckets[bucket].queue.isRoomy || dueList.isRoomy,
                limit.monotonic.clampedSubtracting(now()) > 1_000_000_000
            {
                buckets[bucket].queue.trim()
                if dueList.isRoomy { dueList.trim() }
            }
        }
    }
}
