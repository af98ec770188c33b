/// What one run was asked for, and what it has to remember from one turn to the next.
struct RunState {
    /// How long a run may take.
    enum Limit {
        case never
        /// An instant of the monotonic clock.
        case until(Int64)
        /// One turn, without sleeping.
        case now
        /// As many turns as there is something to do.
        case idle
        /// As many turns as there is something to do that would end a sleep: the host sleeps instead.
        case inHost
    }

    let limit: Limit
    let returnsAfterSource: Bool
    /// The main queue's work is done by this run.
    var servesMainQueue = false
    /// The last turn did work of the main queue: then others are looked at first.
    var didMainQueue = true

    var onlyPolls: Bool { if case .now = limit { true } else { false } }

    /// Whether the run ends where another one would sleep.
    var endsWhenIdle: Bool {
        switch limit {
        case .idle, .inHost: true
        case .never, .until, .now: false
        }
    }

    /// The latest instant that the run may sleep until.
    var deadline: Int64 { if case .until(let deadline) = limit { deadline } else { .max } }
}

/// A run in progress, as others see it.
struct RunInProgress {
    let number: UInt64
    let mode: ModeState
    /// It was told to stop while another one was nested in it.
    var isStopped = false
}

/// What a turn has found to do at step 9.
enum Cause {
    /// Nothing, or a wake-up, which has nothing to do but its turn.
    case nothing
    case timers
    case mainQueue
    case descriptor
}

// Specification 4 and 5: one run, and one turn. The loop's thread.
extension RunLoop {
    /// One run: Specification 4.
    func run(_ mode: Mode, _ limit: RunState.Limit, returnsAfterSource: Bool) -> RunResult {
        requireOwnThread()
        guard let mode = withLock({ isDead ? nil : existingMode(mode) }), !isEmpty(mode) else { return .finished }
        var run = RunState(limit: limit, returnsAfterSource: returnsAfterSource)
        let outer = begin(&run, in: mode)
        var result: RunResult?
        while result == nil { result = turn(&run, in: mode) }
        // SAFETY: the loop above ends with a result.
        end(result.unsafelyUnwrapped, in: mode, outer)
        if guest != nil { waitInHost() }
        return result.unsafelyUnwrapped
    }

    /// One turn: Specification 5, step by step.
    ///
    /// Returns what the run ends with; `nil` if it goes on.
    func turn(_ run: inout RunState, in mode: ModeState) -> RunResult? {
        guard beginTurn() else { return .stopped }
        tell(.beforeTimers, mode)  // 2
        tell(.beforeSources, mode)  // 3
        runBlocks(mode)  // 4
        let didPerform = performSources(run, mode)  // 5
        guard
            let cause = mainQueueGoesFirst(run)  // 6
                ?? (didPerform || run.onlyPolls ? look(run, mode) : sleep(run, mode))  // 7, 8
        else { return .timedOut }
        wakeWord.beAwake()
        let didServe = serve(cause, &run, mode)  // 9
        runBlocks(mode)  // 10
        return verdict(run, mode, handled: didPerform || didServe)
    }

    /// From here on wake-ups count; returns false if the run was told to stop since the last turn looked.
    @inline(__always)
    private func beginTurn() -> Bool {
        // A callout of the turn before may have let a host wait for the loop.
        if guest != nil { leaveHost() }
        return wakeWord.beginTurn()
    }

    /// Step 9; returns whether a source was handled, or work of the main queue done.
    @inline(__always)
    private func serve(_ cause: Cause, _ run: inout RunState, _ mode: ModeState) -> Bool {
        run.didMainQueue = false
        switch cause {
        case .nothing:
            return false
        case .timers:
            fireTimers(mode)
            return false
        case .descriptor:
            return serveDescriptor(mode)
        case .mainQueue:
            serveMainQueue()
            run.didMainQueue = true
            return true
        }
    }

    /// The end of step 10.
    @inline(__always)
    private func verdict(_ run: RunState, _ mode: ModeState, handled: Bool) -> RunResult? {
        if handled, run.returnsAfterSource { return .handledSource }
        switch run.limit {
        case .now: return .timedOut
        case .until(let deadline): if deadline <= monotonicNow() { return .timedOut }
        case .never, .idle, .inHost: break
        }
        if wakeWord.isStopped {
            wakeWord.serveStop()
            return .stopped
        }
        return isEmpty(mode) && !run.endsWhenIdle ? .finished : nil
    }

    /// Nothing that could ever fire: Specification 2.5.
    @inline(__always)
    func isEmpty(_ mode: ModeState) -> Bool {
        if !mode.hasNoItems { return false }
        if mainQueue != nil, mode.isCommon, !isInMainQueue { return false }
        return !blocks.hasBlock(in: mode.mode, isCommon: mode.isCommon)
    }

    // MARK: Beginning and ending a run

    func begin(_ run: inout RunState, in mode: ModeState) -> WakeWord.Outer {
        if guest != nil { leaveHost() }
        knownNow = .min
        // What was fetched earlier may have been taken since, in a run of another mode.
        mode.ready.doubt()
        let outer = withLock {
            runsBegun += 1
            runs.append(RunInProgress(number: runsBegun, mode: mode))
            return wakeWord.beginRun()
        }
        tracer?.trace(.runBegins(mode.mode))
        tell(.entry, mode)
        // After entry, whose observers may have marked the mode as common.
        run.servesMainQueue = servesMainQueue(mode)
        return outer
    }

    func end(_ result: RunResult, in mode: ModeState, _ outer: WakeWord.Outer) {
        tell(.exit, mode)
        tracer?.trace(.runEnds(result))
        let outerMode = withLock { () -> ModeState? in
            runs.removeLast()
            wakeWord.endRun(outer, isStopped: runs.last?.isStopped == true)
            return runs.last?.mode
        }
        outerMode?.ready.doubt()
    }
}
