// Telling observers, running blocks, performing sources. The loop's thread, without the lock held.

extension Engine {
    /// Every callout goes through here: one place to tell who wants to know. (But for sources while nobody does, who have
    /// asked before.)
    @inline(__always)
    func callOut(
        _ callee: LoopEvent.Callee, _ label: @autoclosure () -> ItemLabel, wanted: @autoclosure () -> LoopWait? = nil,
        _ call: () -> Void
    ) {
        defer { knownNow = .min }
        guard let tracer else { return call() }
        tracer.trace(.calls(callee, label()))
        if let wait = wanted() { tracer.trace(.wanted(wait)) }
        call()
        tracer.trace(.returns)
    }

    /// Tells who looks on of a part of a callout that somebody queued by itself, as if it were a callout.
    package func callOut(job label: ItemLabel, wanted: LoopWait?, _ call: () -> Void) {
        callOut(.job, label, wanted: wanted, call)
    }

    /// Tells the observers of the mode in ascending order.
    ///
    /// The list is taken first: an observer added in a callout is told next time, one taken out in a callout is told
    /// this once more (so it is in Core Foundation), one made invalid is not.
    @inline(__always)
    func tell(_ activity: RunLoopActivities, _ state: ModeState) {
        if tells(of: activity, state) { tellObservers(activity, state) }
    }

    /// Whether anybody wants to know of any of the activities.
    @inline(__always)
    func tells(of activities: RunLoopActivities, _ state: ModeState) -> Bool {
        tracer != nil || state.observes(activities)
    }

    @inline(never)
    private func tellObservers(_ activity: RunLoopActivities, _ state: ModeState) {
        tracer?.trace(.passes(activity))
        guard state.observes(activity) else { return }
        let observers = lock.withLock { state.observers }
        for observer in observers
        where !observer.activities.isDisjoint(with: activity) && !observer.isFiring && observer.isValid {
            guard let handler = callback(of: observer) else { continue }
            observer.isFiring = true
            callOut(.observer, observer.labelStorage) {
                RUNLOOP_IS_CALLING_OUT_TO_AN_OBSERVER(handler, observer, activity)
            }
            if !observer.repeats { observer.invalidate() }
            observer.isFiring = false
        }
    }

    private func callback(of observer: RunLoopObserver) -> ((RunLoopObserver, RunLoopActivities) -> Void)? {
        // Not withLock: a closure that goes through a generic function is wrapped in a new one, at an allocation each.
        lock.lock()
        defer { lock.unlock() }
        // It may have gone to another loop since the list was taken: then that loop calls it.
        return observer.isOwned(by: self) ? observer.callback : nil
    }

    /// Runs the blocks that may run in the mode, first in, first out; the others keep their place.
    ///
    /// Blocks that come meanwhile wait for the next drain, and a nested run sees only those.
    @inline(__always)
    func runBlocks(_ state: ModeState) {
        if !blocks.isEmpty { drainBlocks(state) }
    }

    /// Apart, so that asking whether there is any is all that a turn without blocks pays.
    @inline(never)
    private func drainBlocks(_ state: ModeState) {
        blocks.drain(
            in: state.mode, isCommon: { state.isCommon },
            run: { block in callOut(.block, block.label) { RUNLOOP_IS_CALLING_OUT_TO_A_BLOCK(block.body) } })
    }

    /// Whether a block waits that could run in the mode.
    func hasBlock(for state: ModeState) -> Bool { blocks.hasBlock(in: state.mode, isCommon: state.isCommon) }

    /// Performs the signalled sources of the mode in ascending order, or only the first, and says whether the last one
    /// looked at was performed.
    ///
    /// The sources are collected first; each is looked at again before its callout. That the last one decides, and not
    /// any, is what Core Foundation does: after a source that made a later one invalid the turn may sleep.
    func performSources(_ state: ModeState, onlyOne: Bool) -> Bool {
        if state.signals.isEmpty { return false }
        if let place = state.signals.takeOnly() { return place.isPresent && perform(place.element) }
        var places: [SignalQueue<RunLoopSource>.Place] = []
        swap(&places, &signalled)
        defer {
            places.removeAll(keepingCapacity: true)
            swap(&places, &signalled)
        }
        state.signals.takeAll(into: &places)
        // A place may be stale: taken out of the mode, performed in another, made invalid.
        places.removeAll { !$0.isPresent || !$0.element.isSignalled }
        if places.count > 1 {
            places.sort { ($0.element.order, $0.element.signalStamp) < ($1.element.order, $1.element.signalStamp) }
            // A nested run must find those whose turn has not come. Those that are performed here are passed over then.
            for later in places.dropFirst() { later.enqueue() }
        }
        var handled = false
        for place in places {
            handled = perform(place.element)
            if handled, onlyOne { break }
        }
        return handled
    }

    private func perform(_ source: RunLoopSource) -> Bool {
        if tracer != nil { return performRecorded(source) }
        guard let performer = source.takeSignal() else { return false }
        RUNLOOP_IS_CALLING_OUT_TO_A_SOURCE(performer, source)
        knownNow = .min
        return true
    }

    /// The same, with the signal's number, which is gone once the signal is taken.
    ///
    /// Apart, so that nobody else pays for keeping it.
    @inline(never)
    private func performRecorded(_ source: RunLoopSource) -> Bool {
        let signal = source.signalStamp
        guard let performer = source.takeSignal() else { return false }
        callOut(.source, source.labelStorage, wanted: LoopWait(signal: signal)) {
            RUNLOOP_IS_CALLING_OUT_TO_A_SOURCE(performer, source)
        }
        return true
    }

    /// Calls the port sources of one ready descriptor.
    ///
    /// Whether there was one.
    func servePort(_ state: ModeState, _ event: ReadyDescriptor) -> Bool {
        lock.lock()
        guard let (first, hasOthers) = state.ports.source(of: event) else {
            lock.unlock()
            return false
        }
        let others = hasOthers ? state.ports.otherSources(of: event) : []
        lock.unlock()
        let found = state.ready.foundAt
        var handled = servePort(first, event.events, found)
        if hasOthers {
            for source in others { handled = servePort(source, event.events, found) || handled }
        }
        return handled
    }

    private func servePort(_ source: RunLoopPortSource, _ events: RunLoopDescriptorEvents, _ found: Int64) -> Bool {
        guard let (handler, events) = source.callback(for: events) else { return false }
        callOut(.port, source.labelStorage, wanted: LoopWait(since: found)) {
            RUNLOOP_IS_CALLING_OUT_TO_A_PORT_SOURCE(handler, source, events)
        }
        return true
    }

    /// Does what the main queue has queued.
    func serveMainQueue(_ queue: MainQueue) {
        isInMainQueue = true
        callOut(.mainQueue, ItemLabel("main queue")) { RUNLOOP_IS_SERVICING_THE_MAIN_DISPATCH_QUEUE(queue) }
        isInMainQueue = false
    }
}
