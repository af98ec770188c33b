// Where the timers are, and firing those that are due. With the lock held, unless said otherwise.

extension Engine {
    // MARK: Places

    /// The bucket that the timer of this loop is in.
    @inline(__always)
    func bucket(of timer: RunLoopTimer) -> Unmanaged<TimerBucket<RunLoopTimer>>? {
        timer.bucket == .none ? nil : bucketReferences[timer.bucket.index]
    }

    @inline(__always)
    func isIn(_ timer: RunLoopTimer, _ state: ModeState) -> Bool {
        guard timer.isOwned(by: self), let bucket = bucket(of: timer) else { return false }
        return bucket._withUnsafeGuaranteedRef { $0.contains(state.mode) }
    }

    /// Adds a mode to those of the timer.
    @inline(__always)
    func put(_ timer: RunLoopTimer, in state: ModeState) {
        guard let bucket = bucket(of: timer) else {
            // The loop's own reference; given back in takeOut.
            _ = Unmanaged.passRetained(timer)
            guard timer.base == .monotonic, let sole = state.soleBucket else {
                return enter(timer, self.bucket(timer.base, [state.mode]))
            }
            return sole._withUnsafeGuaranteedRef { enter(timer, $0) }
        }
        leave(timer)
        enter(timer, self.bucket(timer.base, bucket._withUnsafeGuaranteedRef { $0.modes + [state.mode] }))
    }

    /// Takes a mode from those of the timer.
    func take(_ timer: RunLoopTimer, outOf state: ModeState) {
        guard let old = bucket(of: timer) else { return }
        let modes = old._withUnsafeGuaranteedRef { $0.modes.filter { $0 != state.mode } }
        if modes.isEmpty { return takeOut(timer) }
        leave(timer)
        enter(timer, bucket(timer.base, modes))
    }

    /// Takes the timer out of all its modes.
    @inline(__always)
    func takeOut(_ timer: RunLoopTimer) {
        guard timer.bucket != .none, timer.isOwned(by: self) else { return }
        leave(timer)
        Unmanaged.passUnretained(timer).release()
    }

    @inline(__always)
    private func enter(_ timer: RunLoopTimer, _ bucket: TimerBucket<RunLoopTimer>) {
        timer.bucket = bucket.number
        bucket.countTimers(1)
        if !timer.isFiring { enqueue(timer, in: bucket) }
    }

    @inline(__always)
    private func leave(_ timer: RunLoopTimer) {
        bucket(of: timer)?._withUnsafeGuaranteedRef { bucket in
            bucket.countTimers(-1)
            if timer.isFiring { return }
            if timer.fire <= bucket.queue.firstDate { firstTimerGoes(timer, bucket) }
            bucket.queue.remove(timer)
            if guest != nil { datesChangedInHost() }
        }
        timer.bucket = .none
    }

    @inline(never)
    private func bucket(_ base: RunLoopTimeBase, _ modes: [RunLoopMode]) -> TimerBucket<RunLoopTimer> {
        if let found = timerBuckets.first(where: { $0.isFor(base, modes) }) { return found }
        let states = modes.map(makeMode)
        let bucket = TimerBucket<RunLoopTimer>(
            number: BucketNumber(index: timerBuckets.count), base: base, modes: modes, counters: states.map(\.counter))
        timerBuckets.append(bucket)
        bucketReferences.append(.passUnretained(bucket))
        for state in states { state.timerBuckets.append(bucket) }
        if modes.count == 1, base == .monotonic { states[0].soleBucket = .passUnretained(bucket) }
        return bucket
    }

    /// Puts a timer behind all of the same date, and makes a thread that sleeps too long sleep shorter.
    @inline(__always)
    private func enqueue(_ timer: RunLoopTimer, in bucket: TimerBucket<RunLoopTimer>) {
        timerSequence &+= 1
        if timer.fire <= lastWakeUp || wakeWord.wakeUp != nil { lateTimerComes(timer, bucket) }
        bucket.queue.insert(timer, sequence: timerSequence)
        if let mode = sleepingMode.mode, bucket.contains(mode), timer.hard < sleepLimit[timer.base] { sleepsTooLong() }
    }

    /// A timer comes while a wake-up waits or has left its place in some mode: if it was due before and is the first, it
    /// has been ready since now.
    @inline(never)
    private func lateTimerComes(_ timer: RunLoopTimer, _ bucket: TimerBucket<RunLoopTimer>) {
        let wakeUp = wakeWord.wakeUp ?? lastWakeUp
        guard timer.base == .monotonic, timer.fire <= wakeUp else { return }
        let now = kernel.now(.monotonic)
        for mode in bucket.modes {
            guard let state = existingMode(mode), state.firstMonotonicDate > wakeUp else { continue }
            state.timerPlace.lateTimerComes(now)
        }
    }

    /// The first timer goes, is put off, or is served in one of its modes: if it was due, the next one that is keeps its
    /// place.
    @inline(never)
    private func firstTimerGoes(
        _ timer: RunLoopTimer, _ bucket: TimerBucket<RunLoopTimer>, servedIn serving: ModeState? = nil
    ) {
        guard timer.base == .monotonic, timer.fire <= kernel.now(.monotonic) else { return }
        for mode in bucket.modes {
            guard let state = existingMode(mode), state !== serving else { continue }
            state.timerPlace.firstTimerGoes(state.firstMonotonicDate)
        }
    }

    /// Changes a timer's dates or a port's events.
    func rescheduleItem(_ item: AnyObject, _ change: () -> Void) {
        // SAFETY: LoopCore.reschedule is called by items only.
        switch unsafeDowncast(item, to: RunLoopItem.self).byKind {
        case .timer(let timer):
            guard let bucket = bucket(of: timer)?.takeUnretainedValue(), !timer.isFiring else { return change() }
            if timer.fire == bucket.queue.firstDate { firstTimerGoes(timer, bucket) }
            bucket.queue.remove(timer)
            change()
            enqueue(timer, in: bucket)
            if guest != nil { datesChangedInHost() }
        case .port(let port):
            change()
            for state in modes where state.ports.contains(port) {
                state.ports.eventsChanged(of: port)
                portsChanged(in: state)
            }
        case .source, .observer:
            change()
        }
    }

    // MARK: Dates

    /// The date of the timer that is next in the mode, those whose callouts are under way included.
    package func nextTimer(in mode: RunLoopMode) -> RunLoopInstant? {
        lock.withLock {
            guard let state = existingMode(mode), state.hasTimers else { return nil }
            var nearest: (distance: Int64, instant: RunLoopInstant)?
            func consider(_ date: Int64, _ base: RunLoopTimeBase) {
                if date == .max { return }
                // Dates of different clocks are compared by how far off they are.
                let distance = date.clampedAdding(-kernel.now(base))
                if let nearest, nearest.distance <= distance { return }
                nearest = (distance, RunLoopInstant(nanoseconds: date, base: base))
            }
            for bucket in state.timerBuckets { consider(bucket.queue.firstDate, bucket.base) }
            for timer in firingTimers where isIn(timer, state) { consider(timer.fire, timer.base) }
            return nearest?.instant
        }
    }

    /// Since when the mode's timers have something to serve, as an instant of the monotonic clock; `nil` if nothing is.
    ///
    /// A timer with tolerance is served at its latest instant, or with whatever else has woken the thread.
    /// Without the lock held.
    @inline(__always)
    func timersDueSince(_ state: ModeState, isAwakeAnyway: Bool, before rival: Int64) -> Int64? {
        guard state.hasTimers else { return nil }
        return lock.withLock {
            let since = dueSince(state, isAwakeAnyway)
            if since == nil { state.timerPlace.passed(before: rival) }
            return since
        }
    }

    /// The same with the lock held.
    func dueSince(_ state: ModeState, _ isAwakeAnyway: Bool) -> Int64? {
        var since: Int64?
        let now = monotonicNow()
        for index in state.timerBuckets.indices {
            let bucket = state.timerBuckets[index]
            let bucketNow = bucket.base == .monotonic ? now : kernel.now(bucket.base)
            guard let date = bucket.queue.firstToServe(at: bucketNow, isAwakeAnyway: isAwakeAnyway) else { continue }
            since = min(since ?? .max, now - (bucketNow - date))
        }
        return since.map(state.timerPlace.since)
    }

    // MARK: Firing

    /// Step 9 with timers: fires all that are due, in the order of their dates.
    ///
    /// Without the lock held.
    ///
    /// The timers are collected first, so that one added or moved in a callout waits for the next turn; each is looked
    /// at again before its callout, so that one made invalid, taken out or put off in the meantime does not fire. One
    /// that was taken out of this mode only does: so it is in Core Foundation.
    func fireTimers(_ state: ModeState) {
        var due: [TimerQueue<RunLoopTimer>.Due] = []
        swap(&due, &dueTimers)
        let collected = monotonicNow()
        lock.lock()
        collectDue(state, into: &due)
        lock.unlock()
        for index in due.indices { fire(due[index].timer, state, collected) }
        due.removeAll(keepingCapacity: true)
        swap(&due, &dueTimers)
    }

    private func collectDue(_ state: ModeState, into due: inout [TimerQueue<RunLoopTimer>.Due]) {
        let now = monotonicNow()
        for index in state.timerBuckets.indices {
            let bucket = state.timerBuckets[index]
            bucket.queue.collectDue(at: bucket.base == .monotonic ? now : kernel.now(bucket.base), into: &due)
        }
        state.timerPlace.served(now, several: due.count > 1)
        if due.count < 2 { return }
        if due.allSatisfy({ $0.timer.base == .monotonic }) { return due.sort { $0.entry.isBefore($1.entry) } }
        // Dates of other clocks as they would read on the monotonic one.
        let lateness = RunLoopTimeBase.allCases.reduce(into: [:]) { $0[$1] = now - kernel.now($1) }
        func entry(_ due: TimerQueue<RunLoopTimer>.Due) -> TimerHeap.Entry {
            let date = due.entry.date.clampedAdding(lateness[due.timer.base] ?? 0)
            return TimerHeap.Entry(date: date, sequence: due.entry.sequence, slot: due.entry.slot)
        }
        due.sort { entry($0).isBefore(entry($1)) }
    }

    private func fire(_ timer: RunLoopTimer, _ state: ModeState, _ collected: Int64) {
        // Not withLock: a closure that goes through a generic function is wrapped in a new one, at an allocation each.
        lock.lock()
        let begun = beginFiring(timer, state, collected)
        lock.unlock()
        guard let (handler, date) = begun else { return }
        callOut(.timer, timer.labelStorage, wanted: wait(of: timer, since: date)) {
            RUNLOOP_IS_CALLING_OUT_TO_A_TIMER(handler.call, timer)
        }
        if !timer.repeats { timer.invalidate() }
        endFiring(timer, date)
    }

    /// For who records.
    @inline(never)
    private func wait(of timer: RunLoopTimer, since date: Int64) -> LoopWait {
        let now = kernel.now(.monotonic)
        // Dates of other clocks as they would read on the monotonic one.
        let due = timer.base == .monotonic ? date : now - (kernel.now(timer.base) - date)
        return LoopWait(
            since: due, tolerance: timer.tolerance.clampedNanoseconds, interval: timer.intervalNanoseconds)
    }

    private func beginFiring(
        _ timer: RunLoopTimer, _ state: ModeState, _ collected: Int64
    ) -> (RunLoopTimer.Handler, Int64)? {
        guard timer.isOwned(by: self), let bucket = bucket(of: timer), timer.isValid, !timer.isFiring,
            // Most were due when they were collected and still are: then the clock need not be asked.
            (timer.base == .monotonic && timer.fire <= collected) || timer.fire <= kernel.now(timer.base),
            let handler = timer.handler
        else { return nil }
        // Out of the heap while it fires: a nested run neither fires it nor sleeps until its date.
        bucket._withUnsafeGuaranteedRef { bucket in
            if bucket.hasSeveralModes { firstTimerGoes(timer, bucket, servedIn: state) }
            bucket.queue.remove(timer)
        }
        timer.isFiring = true
        firingTimers.append(timer)
        return (handler, timer.fire)
    }

    /// Without the lock held: the callout may have taken the timer to another loop, whose lock it is then.
    private func endFiring(_ timer: RunLoopTimer, _ date: Int64) {
        let isHere = timer.withFields { owner in
            // In one step with going back, so that nobody sees it in neither place. Callouts end in the reverse order of
            // their beginning.
            let isHere = owner === self
            if isHere { firingTimers.removeLast() }
            settle(timer, owner, date)
            return isHere
        }
        if !isHere { lock.withLock { _ = firingTimers.popLast() } }
    }

    /// With the lock of the timer's loop held.
    private func settle(_ timer: RunLoopTimer, _ owner: LoopCore?, _ date: Int64) {
        timer.isFiring = false
        guard let owner else { return }
        // A date set in the callout counts, if it is later than the one that was served; any other is passed over.
        if timer.fire <= date, timer.repeats {
            timer.fire = TimerGrid.next(
                after: date, interval: timer.intervalNanoseconds,
                now: owner === self && timer.base == .monotonic ? monotonicNow() : owner.kernel.now(timer.base))
        }
        guard let bucket = bucket(of: timer) else { return }
        // One that another thread is making invalid goes back too: that thread takes it out where it belongs.
        // SAFETY: the owner of a timer is an engine; no other class is given to claim.
        unsafeDowncast(owner, to: Engine.self).enqueue(timer, in: bucket.takeUnretainedValue())
    }
}
