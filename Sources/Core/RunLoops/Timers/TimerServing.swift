// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Step 9 with timers: since when any timers are due, and serving all due timers in the order of their dates. On the
// loop's thread.
extension RunLoop {
    // MARK: Which timers are due

    /// The instant of the monotonic clock since which the mode's timers have been ready; `nil` if none is due.
    ///
    /// A timer with tolerance is served at its latest instant, or with whatever else has woken the thread.
    ///
    /// - Parameter date: The instant since which a wake-up has been ready. If no timer is due, and timers that are gone
    ///   by now were ready before `date`, the mode forgets that instant.
    @inline(__always)
    func timersReadySince(_ mode: ModeState, isAwakeAnyway: Bool, before date: Int64) -> Int64? {
        lock()
        let since = timersReady(mode, isAwakeAnyway: isAwakeAnyway)
        if since == nil { mode.order.passTimers(before: date) }
        unlock()
        return since
    }

    /// Returns the value of ``timersReadySince(_:isAwakeAnyway:before:)``; called with the lock held.
    func timersReady(_ mode: ModeState, isAwakeAnyway: Bool) -> Int64? {
        let now = monotonicNow()
        var since: Int64?
        mode.forEachBucket { bucket in
            let bucketNow = bucket.clock == .monotonic ? now : self.now(bucket.clock)
            guard let date = bucket.queue.firstToServe(at: bucketNow, isAwakeAnyway: isAwakeAnyway) else { return }
            // Dates of other clocks, as they would read on the monotonic clock.
            since = min(since ?? .max, now.clampedSubtracting(bucketNow.clampedSubtracting(date)))
        }
        return since.map(mode.order.timersReady)
    }

    // MARK: Serving

    /// Fires all timers that are due, in the order of their dates.
    ///
    /// A timer that is added or moved in a callout waits for the next turn. A timer that was invalidated, removed from
    /// all modes or postponed in the meantime does not fire. A timer that was removed from this mode alone still fires,
    /// as in Core Foundation.
    func fireTimers(_ mode: ModeState) {
        // The last reference to a timer is released when no lock is held.
        var spent: Unmanaged<Timer>?
        lock()
        let state = state
        let outer = state.dueList.begin()
        let now = listDue(mode)
        var isFirst = true
        while let place = state.dueList.takeNext() {
            let due = state.dueList[place]
            guard case .listed = due.content else {
                lookAgain(place, &spent)
                continue
            }
            if isFirst {
                isFirst = false
                mode.order.timersServed(now, leavingOthers: state.dueList.hasRest)
            }
            switch state.serve(due, at: place, mode) {
            case .timer(let timer):
                spent = fire(timer, releasing: spent)
            case .delayed(let body):
                call(body, due.entry.date, releasing: &spent)
            }
        }
        // An afterWaiting observer has postponed or removed the due timers.
        if isFirst { mode.order.timersServed(now, leavingOthers: false) }
        state.dueList.end(outer)
        unlock()
        spent?.release()
    }

    /// Checks the timer or closure of a place that is no longer listed, and calls it if it still has to fire:
    /// Specification 3.3.11.
    ///
    /// The caller holds the lock. The function releases it for a moment, so that other threads need not wait until all
    /// places are checked.
    @inline(never)
    private func lookAgain(_ place: Int, _ spent: inout Unmanaged<Timer>?) {
        var kept: Unmanaged<Timer>?
        let due = state.dueList[place]
        switch state.dueList.take(place) {
        case .timer(let timer):
            kept = timer
            if timer._withUnsafeGuaranteedRef(state.takeAgain) { spent = fire(timer, releasing: spent) }
        case .closure:
            var body: DelayedBody?
            state.bucketReferences[due.queue.index]._withUnsafeGuaranteedRef {
                body = $0.queue.remove(delayed: due.entry.slot, sequence: due.entry.sequence, &state.dueList)
                if body != nil { state.count(-1, in: $0) }
            }
            if let body = body.take() { call(body, due.entry.date, releasing: &spent) }
        case .listed, .gone: break
        }
        unlock()
        spent?.release()
        spent = nil
        kept?.release()
        lock()
    }

    /// Calls a closure, which has been removed from its queue.
    ///
    /// The lock is held at the beginning and at the end, and not during the call.
    @inline(__always)
    private func call(_ body: consuming DelayedBody, _ date: Int64, releasing spent: inout Unmanaged<Timer>?) {
        unlock()
        spent?.release()
        spent = nil
        callOut(.timer, body.label, wanted: wait(.monotonic, since: date)) {
            RUNLOOP_IS_CALLING_OUT_TO_A_DELAYED_BLOCK(body.call)
        }
        _ = consume body
        lock()
    }

    /// Calls one timer, which has been removed from its queue.
    ///
    /// The lock is held at the beginning and at the end, and not during the call. Returns the timer if the caller has
    /// to release the loop's reference.
    @inline(__always)
    private func fire(_ reference: Unmanaged<Timer>, releasing spent: Unmanaged<Timer>?) -> Unmanaged<Timer>? {
        // SAFETY: the loop's reference, which is not released while the timer is firing.
        reference._withUnsafeGuaranteedRef { timer in
            timer.callout = .underWay
            state.firingTimers.append(reference)
            let date = timer.fire
            // The closure is stored here during the call: no other code can ask for it, and so none can release it.
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

    /// Ends a callout: the timer becomes invalid, or is put back into its queue.
    ///
    /// Called without the lock, and returns with the lock held. Returns whether the caller has to release the loop's
    /// reference.
    @inline(__always)
    private func settle(_ timer: Timer, _ handler: inout Timer.Handler?, _ date: Int64) -> Bool {
        let state = state
        if !timer.owner.isHeld(by: state) { return settleElsewhere(timer, &handler, date) }
        lock()
        // The callout may have added the timer to another thread's loop, or another thread may do so now.
        if !timer.owner.isHeld(by: state) {
            unlock()
            return settleElsewhere(timer, &handler, date)
        }
        state.firingTimers.removeLast()
        if state.conclude(timer, &handler, date, monotonicNow()) { return timer.takeLoan() }
        let isOver = timer.takeLoan()
        // The closure is released without the lock.
        unlock()
        handler = nil
        lock()
        return isOver
    }

    /// Ends the callout of a timer that no longer belongs to this loop: puts the timer back into the tables of its
    /// loop, if it has one.
    @inline(never)
    private func settleElsewhere(_ timer: Timer, _ handler: inout Timer.Handler?, _ date: Int64) -> Bool {
        let holder = timer.owner.lock()
        let goesOn: Bool
        if let state = holder?.pointee.state {
            goesOn = state._withUnsafeGuaranteedRef {
                $0.forgetFiringElsewhere(timer)
                return $0.conclude(timer, &handler, date, $0.now(timer.clock))
            }
        } else {
            // A timer of no loop is in no bucket; this loop's state then uses nothing but the clock.
            goesOn = state.conclude(timer, &handler, date, timer.clock.threadNow)
        }
        let isOver = timer.takeLoan()
        timer.owner.unlock(holder)
        if !goesOn { handler = nil }
        lock()
        _ = state.firingTimers.popLast()
        return isOver
    }

    // MARK: The list

    /// Moves the due timers and closures to the list of due timers, in the order of their dates; returns the present
    /// instant.
    ///
    /// Called with the lock held, which is released between two batches.
    @inline(__always)
    private func listDue(_ mode: ModeState) -> Int64 {
        // If another thread now makes the first bucket of a clock, that clock is checked in the next turn.
        var limit = WaitLimit()
        (limit.monotonic, limit.boottime, limit.realtime) = (monotonicNow(), .min, .min)
        mode.forEachBucket { if $0.clock != .monotonic { limit[$0.clock] = now($0.clock) } }
        while state.listSome(mode, limit) {
            unlock()
            lock()
        }
        return limit.monotonic
    }

    /// Puts the listed entries back into their queues, before a nested run or a wait in a host.
    ///
    /// Called on the loop's thread, without the lock. In one serving an entry is put back once at most.
    @inline(never)
    func putListedBack() {
        withLock { state.putListedBack(pausing: true) }
    }

    // MARK: For recorders

    @inline(never)
    private func wait(of timer: Timer, since date: Int64) -> LoopWait {
        var wait = wait(timer.clock, since: date)
        wait.tolerance = timer.tolerance.clampedNanoseconds
        wait.interval = timer.interval?.clampedNanoseconds ?? 0
        return wait
    }

    @inline(never)
    private func wait(_ clock: ClockID, since date: Int64) -> LoopWait {
        let now = now(.monotonic)
        // Dates of other clocks, as they would read on the monotonic clock.
        return LoopWait(since: clock == .monotonic ? date : now - (self.now(clock) - date))
    }
}

// With the lock held.
extension RunLoop.State {
    // MARK: The list

    /// The number of entries that are moved to the list, or put back, before other threads may take the lock.
    private static var batchSize: Int { 256 }

    /// Moves one batch of due entries to the list of due timers; returns whether more entries may be due.
    @inline(__always)
    func listSome(_ mode: ModeState, _ limit: WaitLimit) -> Bool {
        if mode.timerBuckets.count != 1 { return listSomeOfSeveral(mode, limit) }
        return mode.timerBuckets[0]._withUnsafeGuaranteedRef { bucket in
            let until = limit[bucket.clock]
            for _ in 0..<Self.batchSize {
                guard let entry = bucket.queue.firstDue(at: until) else { return false }
                bucket.queue.list(entry, on: &dueList)
            }
            return true
        }
    }

    @inline(never)
    private func listSomeOfSeveral(_ mode: ModeState, _ limit: WaitLimit) -> Bool {
        for _ in 0..<Self.batchSize {
            var first: (order: TimerHeap.Entry, entry: TimerHeap.Entry, bucket: Unmanaged<TimerBucket>)?
            for bucket in mode.timerBuckets {
                bucket._withUnsafeGuaranteedRef { it in
                    let until = limit[it.clock]
                    guard let entry = it.queue.firstDue(at: until) else { return }
                    // The date as it would read on the monotonic clock.
                    let date = entry.date &+ (limit.monotonic &- until)
                    let order = TimerHeap.Entry(date: date, sequence: entry.sequence, slot: entry.slot)
                    if let first, first.order.isBefore(order) { return }
                    first = (order, entry, bucket)
                }
            }
            guard let first else { return false }
            first.bucket._withUnsafeGuaranteedRef { $0.queue.list(first.entry, on: &dueList) }
        }
        return true
    }

    /// Removes the entry that is listed at a place from its queue, and returns its timer or closure to the caller,
    /// which calls it.
    @inline(__always)
    func serve(_ due: DueList<RunLoop.Timer>.Member, at place: Int, _ mode: ModeState)
        -> TimerQueue<RunLoop.Timer>.Served
    {
        var served: TimerQueue<RunLoop.Timer>.Served?
        bucketReferences[due.queue.index]._withUnsafeGuaranteedRef { bucket in
            if bucket.hasSeveralModes { firstTimerChanges(due.entry.date, in: bucket, except: mode) }
            let taken = bucket.queue.serve(due.entry.slot, at: place, &dueList)
            switch taken {
            case .timer: break
            case .delayed: count(-1, in: bucket)
            }
            served = consume taken
        }
        return served!
    }

    /// Removes a timer that is no longer listed from its queue, if it still has to fire; returns whether it has to.
    func takeAgain(_ timer: RunLoop.Timer) -> Bool {
        guard timer.owner.isHeld(by: self), timer.isValid, timer.bucket != .none,
            !timer.callout.contains(.underWay), timer.fire <= now(timer.clock)
        else { return false }
        let bucket = bucket(of: timer)
        if bucket.hasSeveralModes { firstTimerChanges(timer.fire, in: bucket) }
        bucket.queue.remove(timer, &dueList)
        return true
    }

    /// Puts the listed entries back into their queues; called with the lock held.
    ///
    /// - Parameter pausing: Whether the lock is released for a moment after each batch, so that other threads may take
    ///   it.
    func putListedBack(pausing: Bool) {
        var place = 0
        while let listed = dueList.firstListed(from: place) {
            place = listed + 1
            bucketReferences[dueList[listed].queue.index]._withUnsafeGuaranteedRef {
                $0.queue.putBack(listed, &dueList)
            }
            if pausing, place % Self.batchSize == 0 {
                unlock()
                lock()
            }
        }
    }

    // MARK: After a callout

    /// Ends a timer's callout; called with the lock held that guards the timer: this loop's, unless the timer is in no
    /// loop.
    ///
    /// Returns false if the timer will not fire again: then it is invalid and in no mode. The clock is read only if the
    /// timer fires again.
    @inline(__always)
    func conclude(
        _ timer: RunLoop.Timer, _ handler: inout RunLoop.Timer.Handler?, _ date: Int64, _ now: @autoclosure () -> Int64
    ) -> Bool {
        if timer.isValid {
            if timer.isRepeating || timer.callout.contains(.restarted) {
                putBack(timer, &handler, date, now())
                return true
            }
            timer.markInvalid()
        }
        discard(timer)
        timer.callout.remove(.underWay)
        return false
    }

    /// Puts a timer that will fire again back into its queue; called with the same lock as ``conclude(_:_:_:_:)``.
    @inline(never)
    private func putBack(_ timer: RunLoop.Timer, _ handler: inout RunLoop.Timer.Handler?, _ date: Int64, _ now: Int64) {
        let wasRestarted = timer.callout.contains(.restarted)
        timer.handler = handler.take()
        timer.callout.subtract([.underWay, .restarted])
        // A date set in the callout counts if it is later than the date that was served; any other date is ignored.
        if timer.isRepeating, timer.fire <= date, !wasRestarted {
            timer.fire = TimerGrid.next(
                after: date, interval: timer.intervalNanoseconds,
                now: timer.clock == .monotonic ? now : self.now(timer.clock))
        }
        // A timer that was removed from its modes in the callout is in no queue.
        if timer.bucket != .none { withBucket(of: timer) { enqueue(timer, in: $0) } }
    }
}
