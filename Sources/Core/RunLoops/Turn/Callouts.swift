// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are meant to be found at a glance, as Apple's are.
//
// Every call into the user's code passes through one of these functions, so that a stack trace or a profile shows what
// kind of callout it is, in release builds too. They are not inlined. Each stores a number of its own after the call,
// so that the call is not its last instruction (the call would reuse its frame), and no two bodies are equal (the
// compiler would merge them).

internal import CRunLoopsKernel
internal import Synchronization

@inline(never)
func RUNLOOP_IS_CALLING_OUT_TO_AN_OBSERVER(
    _ function: (RunLoop.Observer, RunLoop.Activities) -> Void, _ observer: RunLoop.Observer,
    _ activity: RunLoop.Activities
) {
    function(observer, activity)
    rl_callout_returned(1)
}

@inline(never)
func RUNLOOP_IS_CALLING_OUT_TO_A_BLOCK(_ function: () -> Void) {
    function()
    rl_callout_returned(2)
}

@inline(never)
func RUNLOOP_IS_CALLING_OUT_TO_A_SOURCE(_ function: (RunLoop.Source) -> Void, _ source: RunLoop.Source) {
    function(source)
    rl_callout_returned(3)
}

@inline(never)
func RUNLOOP_IS_CALLING_OUT_TO_A_DESCRIPTOR_SOURCE(
    _ function: (RunLoop.DescriptorSource, RunLoop.DescriptorEvents) -> Void, _ source: RunLoop.DescriptorSource,
    _ events: RunLoop.DescriptorEvents
) {
    function(source, events)
    rl_callout_returned(4)
}

@inline(never)
func RUNLOOP_IS_CALLING_OUT_TO_A_TIMER(_ function: (RunLoop.Timer) -> Void, _ timer: RunLoop.Timer) {
    function(timer)
    rl_callout_returned(5)
}

@inline(never)
func RUNLOOP_IS_CALLING_OUT_TO_A_DELAYED_BLOCK(_ function: () -> Void) {
    function()
    rl_callout_returned(7)
}

@inline(never)
func RUNLOOP_IS_SERVICING_THE_MAIN_DISPATCH_QUEUE(_ queue: MainQueue) {
    queue.drain()
    rl_callout_returned(6)
}

// Steps 2 to 5 and 8 to 10, except timers. The loop's thread.
extension RunLoop {
    /// Makes a callout, and reports it to the tracer; this function makes every callout.
    func callOut(
        _ callee: LoopEvent.Callee, _ label: @autoclosure () -> ItemLabel, wanted: @autoclosure () -> LoopWait? = nil,
        _ call: () -> Void
    ) {
        // The callout is called directly here: if it was passed to a function for tracers, its closure would retain its
        // captures each time.
        let isTraced = tracer != nil
        if isTraced { traceBegin(callee, label(), wanted()) }
        call()
        if isTraced { traceEnd() }
        // A callout may have forked, and this may be the child.
        checkNotForked()
        knownNow = .min
    }

    @inline(never)
    private func traceBegin(_ callee: LoopEvent.Callee, _ label: ItemLabel, _ wait: LoopWait?) {
        guard let tracer else { return }
        // The tracer that receives the beginning also receives the end.
        callTracers.append(tracer)
        tracer.trace(.calls(callee, label))
        if let wait { tracer.trace(wait.event) }
    }

    @inline(never)
    private func traceEnd() { callTracers.popLast()?.trace(.returns) }

    /// Reports a part of a callout to the tracer as if it were a callout of its own: a job that was queued separately,
    /// or one of several phases.
    package func callOut(part label: ItemLabel, job: UnsafeRawPointer? = nil, _ call: () -> Void) {
        callOut(.job, label, wanted: job.flatMap { LoopWait(job: $0) }, call)
    }

    // MARK: Observers

    /// Calls the observers of the mode in ascending order.
    func callObservers(_ activity: Activities, _ mode: LoopMode) {
        if tracer != nil || mode.observes(activity) { callWanted(activity, mode) }
    }

    /// Calls the observers that ask for the activity.
    ///
    /// The list of observers is read first: an observer added in a callout is called at the next activity, an observer
    /// removed in a callout is still called this time, as in Core Foundation, and an observer invalidated in a callout
    /// is not called.
    @inline(never)
    private func callWanted(_ activity: Activities, _ mode: LoopMode) {
        report(.passes(activity))
        guard mode.observes(activity) else { return }
        let observers = withState { $0.modes[mode.number].observers }
        for observer in observers
        where !observer.activities.isDisjoint(with: activity) && observer.isValid {
            // The observer may have been moved to another loop since the list was taken: then that loop calls it.
            let call = withState { observer.beginCall(by: $0) }
            switch call {
            case .some(let handler):
                callOut(.observer, observer.labelStorage) {
                    RUNLOOP_IS_CALLING_OUT_TO_AN_OBSERVER(handler.call, observer, activity)
                }
                observer.endCall()
            case .none: break
            }
        }
    }

    // MARK: Blocks

    /// Runs the blocks that may run in the mode, first in, first out; the other blocks stay where they are in the
    /// queue.
    ///
    /// Blocks that are posted while the blocks run wait for the next call, and a nested run runs only these new blocks.
    func runBlocks(_ mode: LoopMode) {
        if !blocks.isEmpty { drainBlocks(mode) }
    }

    /// Runs the blocks in a separate function, so that a turn without blocks costs only the test for blocks.
    @inline(never)
    private func drainBlocks(_ mode: LoopMode) {
        blocks.drain(
            in: mode.name, isCommon: { mode.isCommon },
            run: { block in callOut(.block, block.label) { RUNLOOP_IS_CALLING_OUT_TO_A_BLOCK(block.body) } })
    }

    // MARK: Signalled sources

    /// Does step 5: performs the signalled sources of the mode by ascending order, or only the first if the run returns
    /// after one source; then runs blocks again if the last source was performed.
    ///
    /// Returns whether the last source that was looked at was performed. This alone decides, as in Core Foundation: if
    /// a source has invalidated the last one, the turn may sleep although it has performed a source.
    func performSources(_ run: RunState, _ mode: LoopMode) -> Bool {
        let signals = mode.signals
        if signals.isEmpty { return false }
        let handled: Bool
        if let only = signals.takeOnly() {
            handled = only.isPresent && perform(only.element)
        } else {
            handled = performSeveral(signals, onlyFirst: run.returnsAfterSource)
        }
        if handled { runBlocks(mode) }
        return handled
    }

    /// Performs several sources: collects them first, and checks each again before its callout.
    @inline(never)
    private func performSeveral(_ signals: SignalQueue<Source>, onlyFirst: Bool) -> Bool {
        var queued: [SignalQueue<Source>.Queued] = []
        swap(&queued, &signalled)
        defer {
            queued.removeAll(keepingCapacity: true)
            swap(&queued, &signalled)
        }
        signals.takeAll(into: &queued)
        // A place may be stale: its source was taken out of the mode, performed in another mode, or made invalid.
        queued.removeAll { !$0.isPresent || !$0.element.isSignalled }
        if queued.count > 1 {
            queued.sort {
                ($0.element.order, $0.element.signalNumber) < ($1.element.order, $1.element.signalNumber)
            }
            // A nested run must find the sources that are not performed yet. Sources that are performed here are
            // skipped then.
            for later in queued.dropFirst() { later.enqueue() }
        }
        var handled = false
        for one in queued {
            handled = perform(one.element)
            if handled, onlyFirst { break }
        }
        return handled
    }

    /// Releases signalled sources that have left a mode that is not being run, if there are many; any thread.
    func sweepSignals() {
        if core.hasStaleSignals.load(ordering: .relaxed) { sweepStaleSignals() }
    }

    @inline(never)
    private func sweepStaleSignals() {
        // A loop of the parent process is left alone.
        if isInherited { return }
        let waste = withState { state in
            var waste: [Source] = []
            var hasMore = false
            for mode in 0..<state.modes.count where state.modes[mode].hasManyStaleSignals {
                if state.mayTakeSignals(of: state.modes[mode].mode) {
                    waste += state.modes[mode].sweepSignals()
                } else {
                    hasMore = true
                }
            }
            core.hasStaleSignals.store(hasMore, ordering: .relaxed)
            return waste
        }
        // Sources and their closures are released here, with no lock held.
        withExtendedLifetime(waste) {}
    }

    private func perform(_ source: Source) -> Bool {
        // Read before the call, because the number is cleared with the signal.
        let signal = tracer == nil ? 0 : source.signalNumber
        return source.perform { performer in
            callOut(.source, source.labelStorage, wanted: LoopWait(signal: signal)) {
                RUNLOOP_IS_CALLING_OUT_TO_A_SOURCE(performer, source)
            }
        }
    }

    // MARK: Descriptors

    /// Calls the descriptor sources of the descriptor that has been ready longest; returns whether there was one.
    func serveDescriptor(_ mode: LoopMode) -> Bool {
        // A run that was nested in an observer's callout since then may have served the event.
        if mode.ready.isDoubtful { dropStaleEvents(mode) }
        guard let event = mode.ready.next() else { return false }
        var others: [DescriptorSource]?
        let first = withState { state -> DescriptorSource? in
            guard let first = state.modes[mode.number].descriptors.firstSource(of: event) else { return nil }
            others = state.modes[mode.number].descriptors.otherSources(of: event)
            return first
        }
        guard let first else { return false }
        let found = mode.ready.foundAt
        let handled = callIfWanted(first, event.events, found)
        guard let others else { return handled }
        return serve(others, event, mode) || handled
    }

    @inline(never)
    private func serve(_ others: [DescriptorSource], _ event: ReadyDescriptor, _ mode: LoopMode) -> Bool {
        var handled = false
        // The callout of a source may have removed another source, and added it to another loop.
        for source in others where withState({ $0.modes[mode.number].descriptors.contains(source) }) {
            handled = callIfWanted(source, event.events, mode.ready.foundAt) || handled
        }
        return handled
    }

    private func callIfWanted(_ source: DescriptorSource, _ ready: DescriptorEvents, _ found: Int64) -> Bool {
        let events = source.take(ready)
        return !events.isEmpty && call(source, events, found)
    }

    func call(_ source: DescriptorSource, _ events: DescriptorEvents, _ found: Int64) -> Bool {
        source.call { handler in
            callOut(.descriptor, source.labelStorage, wanted: LoopWait(since: found)) {
                RUNLOOP_IS_CALLING_OUT_TO_A_DESCRIPTOR_SOURCE(handler, source, events)
            }
        }
    }

    // MARK: The main queue

    private static let mainQueueLabel = ItemLabel("main queue")

    /// Does the work of the main queue.
    func serveMainQueue() {
        guard let mainQueue else { return }
        isInMainQueue = true
        callOut(.mainQueue, Self.mainQueueLabel) { RUNLOOP_IS_SERVICING_THE_MAIN_DISPATCH_QUEUE(mainQueue) }
        isInMainQueue = false
    }
}

extension GuardedState {
    /// Whether the calling thread may take the signals of the mode from their queue.
    ///
    /// The loop's thread always may. Another thread may, unless a host waits for the loop in the mode or the innermost
    /// run is in the mode. A run that sleeps is made to sweep the queue itself.
    fileprivate func mayTakeSignals(of mode: LoopMode) -> Bool {
        if SystemCalls.threadID == core.threadID { return true }
        if hosted?.mode === mode { return false }
        guard runs.last?.mode === mode else { return true }
        lookAgain()
        return false
    }
}
