// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// One call of ``RunLoop/fireTimers(_:)``.
struct TimerServing {
    /// The next thing to do, without the lock.
    enum Step: ~Copyable {
        case callTimer(FiringTimer)
        case callClosure(DelayedBody, date: Int64)
        /// The timer that was called belongs to another loop now, or to none.
        case settleElsewhere(FiringTimer)
        case release(RunLoop.Timer)
        /// Go on, after other threads could take the lock.
        case goOn
        case end
    }

    fileprivate let mode: Int
    /// The instant of each clock until which timers are due.
    fileprivate let limit: WaitLimit
    fileprivate let outer: DueList<RunLoop.Timer>.Outer
    /// Whether nothing has been served.
    fileprivate var isFirst = true
}

/// A timer whose callout is under way, or has just returned.
struct FiringTimer: ~Copyable {
    // SAFETY: the loop's reference, which is not released while the timer is firing.
    let timer: Unmanaged<RunLoop.Timer>
    /// The date that is being served.
    fileprivate var date: Int64 = 0
    /// The closure: during the call no other code can ask for it, and so none can release it.
    fileprivate var handler: RunLoop.Timer.Handler?
    /// Whether the loop's reference has to be released.
    fileprivate var isOver = false

    /// Releases the closure of a timer that does not fire again, and the loop's reference to a timer that has left the loop;
    /// without the lock.
    consuming func finish() {
        if isOver { timer.release() }
    }

    /// Ends the callout: makes the timer invalid, or gives it the next date; returns whether it fires again.
    ///
    /// The clock is read only if the timer fires again.
    @inline(__always)
    fileprivate mutating func conclude(_ timer: RunLoop.Timer, _ now: (RunLoop.ClockID) -> Int64) -> Bool {
        guard timer.isValid else { return false }
        if timer.isRepeating || timer.callout.contains(.restarted) {
            prepareNext(timer, now(timer.clock))
            return true
        }
        timer.markInvalid()
        return false
    }

    private mutating func prepareNext(_ timer: RunLoop.Timer, _ now: Int64) {
        let wasRestarted = timer.callout.contains(.restarted)
        timer.handler = handler.take()
        timer.callout.subtract([.underWay, .restarted])
        // A date set in the callout counts if it is later than the date that was served; any other date is ignored.
        if timer.isRepeating, timer.fire <= date, !wasRestarted {
            timer.fire = TimerGrid.next(after: date, interval: timer.intervalNanoseconds, now: now)
        }
    }
}

// Step 9 with timers: serving all due timers in the order of their dates. On the loop's thread.
extension RunLoop {
    /// Fires all timers that are due, in the order of their dates.
    ///
    /// A timer that is added or moved in a callout waits for the next turn. A timer that was invalidated, removed from
    /// all modes or postponed in the meantime does not fire. A timer that was removed from this mode alone still fires,
    /// as in Core Foundation.
    func fireTimers(_ mode: LoopMode) {
        let now = monotonicNow()
        var serving = withState { $0.beginServing(mode.number, now) }
        while withState({ $0.listSome(serving) }) {}
        var called: FiringTimer?
        while true {
            let step = withState { $0.nextStep(of: &serving, after: &called) { presentTime(of: $0) } }
            called.take()?.finish()
            switch consume step {
            case .callTimer(let firing):
                call(firing)
                called = consume firing
            case .callClosure(let body, let date):
                callOut(.timer, body.label, wanted: wait(.monotonic, since: date)) {
                    RUNLOOP_IS_CALLING_OUT_TO_A_DELAYED_BLOCK(body.call)
                }
            case .settleElsewhere(let firing): settleElsewhere(firing)
            case .release: break
            case .goOn: break
            case .end: return
            }
        }
    }

    @inline(__always)
    private func call(_ firing: borrowing FiringTimer) {
        firing.timer._withUnsafeGuaranteedRef { timer in
            switch firing.handler {
            case .some(let handler):
                callOut(.timer, timer.labelStorage, wanted: wait(of: timer, since: firing.date)) {
                    RUNLOOP_IS_CALLING_OUT_TO_A_TIMER(handler.call, timer)
                }
            case .none: break
            }
        }
    }

    @inline(__always)
    private func presentTime(of clock: ClockID) -> Int64 { clock == .monotonic ? monotonicNow() : now(clock) }

    /// Ends the callout of a timer that no longer belongs to this loop: puts the timer back into the tables of its
    /// loop, if it has one.
    private func settleElsewhere(_ firing: consuming FiringTimer) {
        let timer = firing.timer.takeUnretainedValue()
        timer.owner.withLock { state in
            if let state {
                state.pointee.forgetFiringElsewhere(timer)
                state.pointee.settle(timer, &firing) { clock in state.pointee.core.now(clock) }
            } else {
                // A timer of no loop is in no bucket.
                _ = firing.conclude(timer) { $0.threadNow }
                timer.callout.remove(.underWay)
                firing.isOver = timer.takeLoan()
            }
        }
        withState { _ = $0.firingTimers.popLast() }
        firing.finish()
    }

    /// Puts the listed entries back into their queues, before a nested run or a wait in a host.
    ///
    /// In one serving an entry is put back once at most.
    func putListedBack() {
        var place = 0
        while withState({ $0.putSomeBack(from: &place) }) {}
    }

    // MARK: For recorders

    private func wait(of timer: Timer, since date: Int64) -> LoopWait {
        var wait = wait(timer.clock, since: date)
        wait.tolerance = timer.tolerance.clampedNanoseconds
        wait.interval = timer.interval?.clampedNanoseconds ?? 0
        return wait
    }

    private func wait(_ clock: ClockID, since date: Int64) -> LoopWait {
        let now = now(.monotonic)
        // Dates of other clocks, as they would read on the monotonic clock.
        return LoopWait(since: clock == .monotonic ? date : now - (self.now(clock) - date))
    }
}

extension GuardedState {
    // MARK: The list

    /// The number of entries that are moved to the list, or put back, before other threads may take the lock.
    private static var batchSize: Int { 256 }

    /// Begins a serving of what is due at `now` of the monotonic clock.
    mutating func beginServing(_ mode: Int, _ now: Int64) -> TimerServing {
        // If another thread now makes the first bucket of a clock, that clock is checked in the next turn.
        var limit = WaitLimit()
        (limit.monotonic, limit.boottime, limit.realtime) = (now, .min, .min)
        for index in modes[mode].buckets.indices {
            let clock = buckets[modes[mode].buckets[index]].clock
            if clock != .monotonic { limit[clock] = core.now(clock) }
        }
        return TimerServing(mode: mode, limit: limit, outer: dueList.begin())
    }

    /// Moves one batch of due timers and closures to the list of due timers, in the order of their dates; returns
    /// whether more may be due.
    @inline(__always)
    mutating func listSome(_ serving: TimerServing) -> Bool {
        if modes[serving.mode].buckets.count != 1 { return listSomeOfSeveral(serving) }
        let bucket = modes[serving.mode].buckets[0]
        return buckets[bucket].queue.list(Self.batchSize, at: serving.limit[buckets[bucket].clock], on: &dueList)
    }

    private mutating func listSomeOfSeveral(_ serving: TimerServing) -> Bool {
        for _ in 0..<Self.batchSize {
            var first: (order: TimerHeap.Entry, entry: TimerHeap.Entry, bucket: BucketNumber)?
            for bucket in modes[serving.mode].buckets {
                let until = serving.limit[buckets[bucket].clock]
                guard let entry = buckets[bucket].queue.firstDue(at: until) else { continue }
                // The date as it would read on the monotonic clock.
                let date = entry.date &+ (serving.limit.monotonic &- until)
                let order = TimerHeap.Entry(date: date, sequence: entry.sequence, cell: entry.cell)
                if let first, first.order.isBefore(order) { continue }
                first = (order, entry, bucket)
            }
            guard let first else { return false }
            buckets[first.bucket].queue.list(first.entry, on: &dueList)
        }
        return true
    }

    /// Puts one batch of the listed entries back into their queues; returns whether there may be more.
    ///
    /// - Parameter place: The first place to look at, and then the next one.
    mutating func putSomeBack(from place: inout Int) -> Bool {
        for _ in 0..<Self.batchSize {
            guard let listed = dueList.firstListed(from: place) else { return false }
            place = listed + 1
            buckets[dueList[listed].queue].queue.putBack(listed, &dueList)
        }
        return true
    }

    /// Puts the listed entries back into their queues.
    mutating func putListedBack() {
        var place = 0
        while putSomeBack(from: &place) {}
    }

    // MARK: Serving

    /// Ends the callout of the timer that was called last, if any; then takes the next timer or closure of the serving.
    @inline(__always)
    mutating func nextStep(
        of serving: inout TimerServing, after called: inout FiringTimer?, _ now: (RunLoop.ClockID) -> Int64
    ) -> TimerServing.Step {
        if var firing = called.take() {
            let isElsewhere = firing.timer._withUnsafeGuaranteedRef { timer in
                // The callout may have added the timer to another thread's loop, or another thread may have done so.
                if !timer.owner.isHeld(by: lock) { return true }
                firingTimers.removeLast()
                settle(timer, &firing, now)
                return false
            }
            if isElsewhere { return .settleElsewhere(firing) }
            called = consume firing
        }
        guard let place = dueList.takeNext() else {
            // An afterWaiting observer has postponed or removed the due timers.
            if serving.isFirst {
                modes[serving.mode].order.timersServed(serving.limit.monotonic, leavingOthers: false)
            }
            dueList.end(serving.outer)
            return .end
        }
        let due = dueList[place]
        guard due.isListed else { return serveAgain(place) }
        if serving.isFirst {
            serving.isFirst = false
            modes[serving.mode].order.timersServed(serving.limit.monotonic, leavingOthers: dueList.hasRest)
        }
        if buckets[due.queue].hasSeveralModes {
            firstTimerChanges(due.entry.date, in: due.queue, except: serving.mode)
        }
        switch buckets[due.queue].queue.serve(due.entry.cell, at: place, &dueList) {
        case .timer(let timer): return .callTimer(fire(timer))
        case .delayed(let body):
            count(-1, in: due.queue)
            return .callClosure(body, date: due.entry.date)
        }
    }

    /// Begins the callout of a timer that was removed from its queue.
    @inline(__always)
    private mutating func fire(_ timer: Unmanaged<RunLoop.Timer>) -> FiringTimer {
        firingTimers.append(timer)
        var firing = FiringTimer(timer: timer)
        timer._withUnsafeGuaranteedRef {
            $0.callout = .underWay
            firing.date = $0.fire
            firing.handler = $0.handler.take()
        }
        return firing
    }

    /// Ends the callout of a timer of this loop: puts the timer back into its queue, or removes it from its modes.
    @inline(__always)
    mutating func settle(_ timer: RunLoop.Timer, _ firing: inout FiringTimer, _ now: (RunLoop.ClockID) -> Int64) {
        if !firing.conclude(timer, now) {
            discard(timer)
            timer.callout.remove(.underWay)
        } else if timer.bucket != .none {
            enqueue(timer)
        }
        firing.isOver = timer.takeLoan()
    }

    /// Checks the timer or closure of a place that is no longer listed, and takes it if it still has to fire:
    /// Specification 3.3.11.
    private mutating func serveAgain(_ place: Int) -> TimerServing.Step {
        let due = dueList[place]
        switch dueList.take(place) {
        case .timer(let reference):
            let timer = reference.takeRetainedValue()
            guard timer.owner.isHeld(by: lock), timer.isValid, timer.bucket != .none,
                !timer.callout.contains(.underWay), timer.fire <= core.now(timer.clock)
            else { return .release(timer) }
            if buckets[timer.bucket].hasSeveralModes { firstTimerChanges(timer.fire, in: timer.bucket) }
            buckets[timer.bucket].queue.remove(timer, &dueList)
            return .callTimer(fire(reference))
        case .closure(let generation):
            let id = DelayedID(cell: due.entry.cell, generation: generation)
            guard let body = buckets[due.queue].queue.remove(id, &dueList) else { return .goOn }
            count(-1, in: due.queue)
            return .callClosure(body, date: due.entry.date)
        case .listed: return .goOn
        }
    }
}
