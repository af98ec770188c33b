// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

// The buckets of a loop's timers. With the lock held.
extension RunLoop.State {
    // MARK: Buckets

    /// The bucket that a timer of this loop is in.
    ///
    /// - Precondition: the timer is in a bucket.
    func bucket(of timer: RunLoop.Timer) -> TimerBucket { timerBuckets[timer.bucket.index] }

    /// Calls `body` with the bucket of a timer of this loop, without reference counting.
    @inline(__always)
    func withBucket<Result>(of timer: RunLoop.Timer, _ body: (TimerBucket) -> Result) -> Result {
        // SAFETY: the loop keeps its buckets.
        bucketReferences[timer.bucket.index]._withUnsafeGuaranteedRef(body)
    }

    @inline(__always)
    func isIn(_ timer: RunLoop.Timer, _ mode: ModeState) -> Bool {
        // The owner is checked first: the lock of another loop guards the bucket of that loop's timer.
        timer.owner.isHeld(by: self) && timer.bucket != .none && withBucket(of: timer) { $0.contains(mode.number) }
    }

    /// The bucket of timers that are in these modes and count on this clock; made for the first such timer.
    @inline(never)
    private func bucket(_ clock: RunLoop.ClockID, _ modes: [Int]) -> TimerBucket {
        let modes = modes.sorted()
        return timerBuckets.first { $0.clock == clock && $0.modes == modes } ?? addBucket(clock, modes)
    }

    /// The bucket of most timers: the timers that are in this mode alone and count on the monotonic clock.
    @inline(__always)
    private func soleBucket(of mode: ModeState) -> Unmanaged<TimerBucket> {
        mode.soleBucket ?? .passUnretained(addBucket(.monotonic, [mode.number]))
    }

    /// Adds `difference` to the number of timers in a bucket, and tells the modes of the bucket if it has become empty
    /// or is no longer empty.
    @inline(__always)
    func count(_ difference: Int, in bucket: TimerBucket) {
        let wasEmpty = bucket.isEmpty
        bucket.count += difference
        if bucket.isEmpty != wasEmpty { isEmptyChanged(of: bucket) }
    }

    @inline(never)
    private func isEmptyChanged(of bucket: TimerBucket) {
        forEachMode(of: bucket) { $0.countBusyBuckets(bucket.isEmpty ? -1 : 1) }
    }

    @inline(__always)
    private func forEachMode(of bucket: TimerBucket, _ body: (ModeState) -> Void) {
        for number in bucket.modes { modeReferences[number]._withUnsafeGuaranteedRef(body) }
    }

    // MARK: Coming and going

    /// Adds a mode to the modes of a timer.
    @inline(__always)
    func put(_ timer: RunLoop.Timer, in mode: ModeState) {
        if timer.bucket != .none { return put(timer, inNew: [mode]) }
        // The loop's own reference; released in takeOut.
        _ = Unmanaged.passRetained(timer)
        if timer.clock == .monotonic {
            soleBucket(of: mode)._withUnsafeGuaranteedRef { enter(timer, $0) }
        } else {
            enter(timer, bucket(timer.clock, [mode.number]))
        }
    }

    /// Adds several modes to the modes of a timer, in one step.
    ///
    /// Adding mode after mode would leave an empty bucket for each step, which the earlier modes would look at in every
    /// turn.
    @inline(never)
    private func put(_ timer: RunLoop.Timer, inNew modes: [ModeState]) {
        guard timer.bucket != .none else {
            // The loop's own reference; released in takeOut.
            _ = Unmanaged.passRetained(timer)
            return enter(timer, bucket(timer.clock, modes.map(\.number)))
        }
        let old = bucket(of: timer)
        leave(timer, old)
        enter(timer, bucket(timer.clock, old.modes + modes.map(\.number)))
    }

    /// Adds modes to the modes of a timer.
    func put(_ timer: RunLoop.Timer, in modes: [ModeState]) {
        let new = modes.filter { !isIn(timer, $0) }
        switch new.count {
        case 0: return
        case 1: put(timer, in: new[0])
        default: put(timer, inNew: new)
        }
    }

    /// Removes a mode from the modes of a timer.
    func take(_ timer: RunLoop.Timer, outOf mode: ModeState) {
        let old = bucket(of: timer)
        let left = old.modes.filter { $0 != mode.number }
        if left.isEmpty { return takeOut(timer) }
        leave(timer, old)
        enter(timer, bucket(timer.clock, left))
    }

    /// Removes a timer from all its modes.
    @inline(__always)
    func takeOut(_ timer: RunLoop.Timer) {
        guard timer.bucket != .none else { return }
        if timer.callout.contains(.underWay) {
            withBucket(of: timer) { leaveDuringCallout(timer, $0) }
            // The function that calls the timer has to release the loop's reference.
            if !timer.callout.contains(.onLoan) {
                timer.callout.insert(.onLoan)
                return
            }
        } else {
            withBucket(of: timer) { leave(timer, $0) }
        }
        Unmanaged.passUnretained(timer).release()
    }

    /// Removes a timer that has become invalid, if it is in a mode; the timer is no longer a common item.
    @inline(__always)
    func discard(_ timer: RunLoop.Timer) {
        if timer.bucket == .none { return }
        takeOut(timer)
        if !commonItems.isEmpty { _ = commonItems.remove(timer) }
    }

    @inline(__always)
    private func enter(_ timer: RunLoop.Timer, _ bucket: TimerBucket) {
        timer.bucket = bucket.number
        count(1, in: bucket)
        if timer.callout.contains(.underWay) { comesDuringCallout(timer) } else { enqueue(timer, in: bucket) }
    }

    /// Records a timer whose callout is under way on another thread: it is in no queue, and has to be found if this
    /// thread ends.
    @inline(never)
    private func comesDuringCallout(_ timer: RunLoop.Timer) {
        let isOwn = firingTimers.contains { $0.toOpaque() == Unmanaged.passUnretained(timer).toOpaque() }
        if !isOwn { timersFiringElsewhere.append(.passUnretained(timer)) }
    }

    /// Removes a timer from the timers whose callouts are under way on another thread.
    ///
    /// Called when the timer is removed from its modes during the callout, or when the callout has returned.
    @inline(__always)
    func forgetFiringElsewhere(_ timer: RunLoop.Timer) {
        if timersFiringElsewhere.isEmpty { return }
        timersFiringElsewhere.removeAll { $0.toOpaque() == Unmanaged.passUnretained(timer).toOpaque() }
    }

    /// Removes a timer that is in no queue from its bucket.
    @inline(__always)
    private func leaveDuringCallout(_ timer: RunLoop.Timer, _ bucket: TimerBucket) {
        timer.bucket = .none
        count(-1, in: bucket)
        forgetFiringElsewhere(timer)
    }

    @inline(__always)
    private func leave(_ timer: RunLoop.Timer, _ bucket: TimerBucket) {
        if timer.callout.contains(.underWay) { return leaveDuringCallout(timer, bucket) }
        timer.bucket = .none
        count(-1, in: bucket)
        if timer.fire <= bucket.queue.firstDate { firstTimerChanges(timer.fire, in: bucket) }
        bucket.queue.remove(timer, &dueList)
        if guest != nil { datesChangedInHost() }
    }

    // MARK: Queues

    /// Inserts a timer into its queue behind all timers of the same date; if the thread would sleep too long for the
    /// timer, shortens the sleep.
    @inline(__always)
    func enqueue(_ timer: RunLoop.Timer, in bucket: TimerBucket) {
        assignSequence(to: timer.fire, in: bucket)
        bucket.queue.insert(timer, sequence: timerSequence)
        timerComes(timer.latest, in: bucket)
    }

    /// Increments `timerSequence` for a new date; for an overdue date, also updates since when the modes of the bucket
    /// have been ready.
    @inline(__always)
    private func assignSequence(to date: Int64, in bucket: TimerBucket) {
        if timerSequence == .max { renumberTimers() }
        timerSequence &+= 1
        if date <= lastLook.load(ordering: .relaxed) || wakeWord.wakeUp != nil { overdueTimerAdded(date, in: bucket) }
    }

    /// Renumbers all queued entries from the lowest number on, in the same order: once in four thousand million timers.
    ///
    /// - Complexity: O(n log n) in the timers of the loop.
    @inline(never)
    private func renumberTimers() {
        putListedBack(pausing: false)
        var old: [UInt32] = []
        for bucket in timerBuckets { bucket.queue.visit(dueList) { entry, _, _ in old.append(entry.sequence) } }
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
        for bucket in timerBuckets { bucket.queue.renumber(number) }
        timerSequence = UInt32(old.count)
    }

    /// Changes the date of a timer that is in a mode.
    @inline(__always)
    func move(_ timer: RunLoop.Timer, to date: Int64) {
        if timer.callout.contains(.underWay) {
            timer.fire = date
            return
        }
        withBucket(of: timer) { bucket in
            if timer.fire <= bucket.queue.firstDate { firstTimerChanges(timer.fire, in: bucket) }
            assignSequence(to: date, in: bucket)
            timer.fire = date
            if !bucket.queue.move(timer, to: date, sequence: timerSequence) { reinsert(timer, bucket) }
            timerComes(timer.latest, in: bucket)
        }
        if guest != nil { datesChangedInHost() }
    }

    @inline(never)
    private func reinsert(_ timer: RunLoop.Timer, _ bucket: TimerBucket) {
        bucket.queue.remove(timer, &dueList)
        bucket.queue.insert(timer, sequence: timerSequence)
    }

    /// Makes a change to a timer that is in a mode; unless the timer is listed or its callout is under way, removes it
    /// from its queue before the change and inserts it afterwards.
    func reschedule(_ timer: RunLoop.Timer, _ change: () -> Void) {
        if timer.callout.contains(.underWay) { return change() }
        let bucket = bucket(of: timer)
        // A timer that is listed keeps its turn.
        if bucket.queue.isListed(timer, dueList) { return change() }
        bucket.queue.remove(timer, &dueList)
        change()
        enqueue(timer, in: bucket)
        if guest != nil { datesChangedInHost() }
    }

    // MARK: Closures without an object

    /// Adds a closure that is called once in a mode, after a delay.
    ///
    /// Returns the value that identifies the closure.
    @inline(__always)
    func putDelayed(_ body: consuming DelayedBody, at date: Int64, in mode: RunLoop.Mode) -> RunLoop.DelayedPerform.Name {
        mode == .default
            ? putDelayed(body, at: date, in: defaultMode) : putDelayed(body, at: date, in: makeMode(mode))
    }

    @inline(__always)
    private func putDelayed(_ body: consuming DelayedBody, at date: Int64, in mode: ModeState) -> RunLoop.DelayedPerform.Name {
        // An optional: a closure cannot consume what it captures.
        var body: DelayedBody? = consume body
        let index = soleBucket(of: mode)._withUnsafeGuaranteedRef { bucket in
            assignSequence(to: date, in: bucket)
            let index = bucket.queue.insert(body.take()!, at: date, sequence: timerSequence)
            count(1, in: bucket)
            timerComes(date, in: bucket)
            return index
        }
        return RunLoop.DelayedPerform.Name(loop: number, mode: mode.mode, index: index, sequence: timerSequence)
    }

    @inline(__always)
    func takeDelayed(_ name: RunLoop.DelayedPerform.Name) -> DelayedBody? {
        let mode = name.mode == .default ? defaultMode.soleBucket : existingMode(name.mode)?.soleBucket
        var body: DelayedBody?
        mode?._withUnsafeGuaranteedRef { bucket in
            let first = bucket.queue.firstDate
            body = bucket.queue.remove(delayed: name.index, sequence: name.sequence, &dueList)
            switch body {
            case .none: return
            case .some: break
            }
            count(-1, in: bucket)
            if bucket.queue.firstDate > first { firstTimerChanges(first, in: bucket) }
            if guest != nil { datesChangedInHost() }
        }
        return body
    }

    // MARK: The order of what is ready

    /// If the new date `date` is overdue and is the first in a mode of the bucket, records that the timers of the mode
    /// have another first date from now on.
    ///
    /// Called when a wake-up or a descriptor may have been ready longer.
    @inline(never)
    private func overdueTimerAdded(_ date: Int64, in bucket: TimerBucket) {
        guard bucket.clock == .monotonic else { return }
        let now = now(.monotonic)
        guard date <= now else { return }
        forEachMode(of: bucket) { mode in
            let first = mode.firstMonotonicDate
            if date < first { mode.order.firstTimerChanges(from: first, now: now) }
        }
    }

    /// Records for the modes of a bucket that another timer is the first from now on, if `date` has passed.
    ///
    /// Called when the first timer, due at `date`, is removed, gets another date, or is served in the mode `served`.
    @inline(never)
    func firstTimerChanges(_ date: Int64, in bucket: TimerBucket, except served: ModeState? = nil) {
        guard bucket.clock == .monotonic else { return }
        let now = now(.monotonic)
        guard date <= now else { return }
        forEachMode(of: bucket) { mode in
            if mode === served { return }
            if !mode.hasTimers { return mode.order.passTimers() }
            mode.order.firstTimerChanges(from: min(date, mode.firstMonotonicDate), now: now)
        }
    }

    // MARK: Asking

    /// The date of the next timer in the mode; timers whose callouts are under way count.
    func nextTimer(in mode: RunLoop.Mode) -> RunLoop.Instant? {
        guard let mode = existingMode(mode), mode.hasTimers else { return nil }
        var nearest: (distance: Int64, instant: RunLoop.Instant)?
        func consider(_ date: Int64, _ clock: RunLoop.ClockID) {
            // Dates of different clocks are compared by how far away they are.
            let distance = date.clampedSubtracting(now(clock))
            if let nearest, nearest.distance <= distance { return }
            nearest = (distance, RunLoop.Instant(nanoseconds: date, clock: clock))
        }
        mode.forEachBucket { if $0.queue.count > 0 { consider($0.queue.firstDate, $0.clock) } }
        for timer in firingTimers(in: mode) { consider(timer.fire, timer.clock) }
        return nearest?.instant
    }

    /// The timers of the mode whose callouts are under way.
    func firingTimers(in mode: ModeState) -> [RunLoop.Timer] {
        firingTimers.map { $0.takeUnretainedValue() }.filter { isIn($0, mode) }
    }

    /// Releases the memory of a burst of timers before a sleep that is long enough for that.
    @inline(__always)
    func trimTimers(_ mode: ModeState, _ limit: WaitLimit, _ now: @autoclosure () -> Int64) {
        mode.forEachBucket { bucket in
            if bucket.queue.isRoomy || dueList.isRoomy, limit.monotonic.clampedSubtracting(now()) > 1_000_000_000 {
                bucket.queue.trim()
                if dueList.isRoomy { dueList.trim() }
            }
        }
    }
}
