// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

// Specification 4 and 5: one run, and one turn. The loop's thread.
extension RunLoop {
    /// Makes one run: Specification 4.
    func run(_ mode: Mode, _ limit: RunState.Limit, returnsAfterSource: Bool) -> RunResult {
        requireOneMode(mode)
        requireOwnThread()
        guard let mode = modeToRun(mode) else { return .finished }
        var run = RunState(limit: limit, returnsAfterSource: returnsAfterSource, timesEmptied: mode.timesEmptied)
        if isEmpty(mode) { return .finished }
        let outer = begin(&run, in: mode)
        var result: RunResult?
        while result == nil { result = turn(&run, in: mode) }
        // SAFETY: the loop above ends with a result.
        end(result.unsafelyUnwrapped, in: mode, outer)
        if guest != nil { waitInHost() }
        return result.unsafelyUnwrapped
    }

    /// The mode with this name; `nil` if there is none, and after the end of the thread.
    func modeToRun(_ name: Mode) -> LoopMode? {
        withState { state in
            guard !state.isDead, let mode = state.existingMode(name) else { return nil }
            return state.modes[mode].mode
        }
    }

    /// Makes one turn: Specification 5, step by step.
    ///
    /// Returns the result if the run ends; `nil` if it continues.
    func turn(_ run: inout RunState, in mode: LoopMode) -> RunResult? {
        guard beginTurn() else { return .stopped }
        callObservers(.beforeTimers, mode)  // 2
        callObservers(.beforeSources, mode)  // 3
        runBlocks(mode)  // 4
        let didPerform = performSources(run, mode)  // 5
        guard
            let cause = mainQueueGoesFirst(run)  // 6
                ?? (didPerform || run.onlyPolls ? look(run, mode) : sleep(run, mode))  // 7, 8
        else { return .timedOut }
        core.wakeWord.beAwake()
        let didServe = serve(cause, &run, mode)  // 9
        runBlocks(mode)  // 10
        return verdict(&run, mode, handled: didPerform || didServe)
    }

    /// Begins a turn, during which wake-ups count; returns false if the run was stopped since the end of the last turn.
    private func beginTurn() -> Bool {
        // A callout of the turn before may have let a host wait for the loop.
        if guest != nil { leaveHost() }
        return core.wakeWord.beginTurn()
    }

    /// Does step 9; returns whether a source was handled, or work of the main queue was done.
    private func serve(_ cause: Cause, _ run: inout RunState, _ mode: LoopMode) -> Bool {
        run.didMainQueue = false
        if case .descriptor = cause { return serveDescriptor(mode) }
        if case .timers = cause {
            fireTimers(mode)
        } else if case .mainQueue = cause {
            serveMainQueue()
            run.didMainQueue = true
        }
        return run.didMainQueue
    }

    /// Ends step 10: returns the result if the run ends, or `nil` if it continues.
    private func verdict(_ run: inout RunState, _ mode: LoopMode, handled: Bool) -> RunResult? {
        if handled, run.returnsAfterSource { return .handledSource }
        switch run.limit {
        case .now: return .timedOut
        case .until(let deadline):
            // A turn that has called nothing keeps the time that was read before; the clock has to be read again here.
            if !handled { knownNow = .min }
            if deadline <= monotonicNow() { return .timedOut }
        case .never, .idle, .inHost: break
        }
        if core.wakeWord.isStopped {
            core.wakeWord.serveStop()
            return .stopped
        }
        // Read before the mode is looked at: an item that another thread removes afterwards counts in the next turn.
        run.timesEmptied = mode.timesEmptied
        return isEmpty(mode) && !run.endsWhenIdle ? .finished : nil
    }

    /// Whether nothing is left that could ever fire: Specification 2.5.
    func isEmpty(_ mode: LoopMode) -> Bool {
        hasNothingToAwait(mode) && !blocks.hasBlock(in: mode.name, isCommon: mode.isCommon)
    }

    /// Whether the mode has lost its last item since the turn began, so that the thread must not sleep: Specification
    /// 4.5.1.
    func hasLostItems(_ run: RunState, _ mode: LoopMode) -> Bool {
        hasNothingToAwait(mode) && run.timesEmptied != mode.timesEmptied && !sleepsWithoutItems
    }

    /// Whether neither an item nor the main queue could end a sleep in the mode.
    private func hasNothingToAwait(_ mode: LoopMode) -> Bool {
        mode.hasNoItems && (mainQueue == nil || !mode.isCommon || isInMainQueue)
    }

    // MARK: Beginning and ending a run

    func begin(_ run: inout RunState, in mode: LoopMode) -> WakeWord.Outer {
        if guest != nil { leaveHost() }
        knownNow = .min
        // Events that were fetched earlier may have been served since, in a run of another mode.
        mode.ready.doubt()
        let (outer, mustPutBack) = withState { $0.beginRun(in: mode) }
        // Due timers that an outer serving has listed may fire in this run too.
        if mustPutBack { putListedBack() }
        report(.runBegins(mode.name))
        callObservers(.entry, mode)
        // Set after the entry observers, which may have marked the mode as common.
        run.servesMainQueue = servesMainQueue(mode)
        return outer
    }

    func end(_ result: RunResult, in mode: LoopMode, _ outer: WakeWord.Outer) {
        callObservers(.exit, mode)
        report(.runEnds(result))
        let outerMode = withState { $0.endRun(outer) }
        outerMode?.ready.doubt()
    }
}

extension GuardedState {
    /// Begins a run; also returns whether an outer run has listed timers that must be put back into their queues.
    mutating func beginRun(in mode: LoopMode) -> (outer: WakeWord.Outer, mustPutBack: Bool) {
        runsBegun += 1
        runs.append(RunInProgress(number: runsBegun, mode: mode))
        return (core.wakeWord.beginRun(), dueList.hasRest)
    }

    /// Ends the innermost run; returns the mode of the run around it.
    mutating func endRun(_ outer: WakeWord.Outer) -> LoopMode? {
        runs.removeLast()
        core.wakeWord.endRun(outer, isStopped: runs.last?.isStopped == true)
        return runs.last?.mode
    }
}
