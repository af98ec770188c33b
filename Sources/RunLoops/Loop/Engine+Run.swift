/// The result of a run, with the numbers of `CFRunLoopRunResult`.
public enum RunLoopRunResult: Int, Sendable, CustomStringConvertible {
    /// The mode was empty or unknown, or became empty.
    case finished = 1
    /// `stop()` was called.
    case stopped = 2
    /// The time was over.
    case timedOut = 3
    /// A source was handled, and the run was asked to return after one.
    case handledSource = 4

    /// The name of the case.
    public var description: String {
        switch self {
        case .finished: "finished"
        case .stopped: "stopped"
        case .timedOut: "timedOut"
        case .handledSource: "handledSource"
        }
    }
}

/// What one run was asked for, and what it has to remember from one turn to the next.
struct Run {
    let state: ModeState
    /// On the monotonic clock: `Int64.max` for none, `Int64.min` for one that only polls.
    let limit: Int64
    let returnsAfterSource: Bool
    /// The main queue's work is done by this run.
    var servesMainQueue: Bool
    /// The last turn did work of the main queue: then others are looked at first.
    var didMainQueue = true
    /// The thread sleeps in the loop's host: the time is over where the run would sleep, and not when the mode is empty.
    var sleepsInHost = false

    var onlyPolls: Bool { limit == .min }
}

/// What a turn has found to do at step 9, and taken: a nested run that is begun before step 9 does not find it again.
enum Cause {
    /// Nothing, or a wake-up, which has nothing to do but its turn.
    case nothing
    case timers
    case mainQueue
    case port(ReadyDescriptor)
}

extension Engine {
    /// One run: SEMANTICS 4.
    package func run(
        _ mode: RunLoopMode, until limit: Int64, returnAfterSourceHandled: Bool
    ) -> RunLoopRunResult {
        requireOwnThread()
        guard let state = lock.withLock({ isDead ? nil : existingMode(mode) }), !isEmpty(state) else {
            return .finished
        }
        knownNow = .min
        let outerMode = enter(state)
        let outer = wakeWord.beginRun()
        defer {
            wakeWord.endRun(outer)
            leave(to: outerMode)
            if guest != nil { waitInHost() }
        }
        var run = Run(
            state: state, limit: limit, returnsAfterSource: returnAfterSourceHandled, servesMainQueue: false)
        tracer?.trace(.runBegins(mode))
        tell(.entry, state)
        // After entry, whose observers may have marked the mode as common.
        run.servesMainQueue = servesMainQueue(state)
        var result: RunLoopRunResult?
        while result == nil { result = turn(&run) }
        tell(.exit, state)
        let final = result.unsafelyUnwrapped
        tracer?.trace(.runEnds(final))
        return final
    }

    /// One turn: SEMANTICS 5, step by step.
    func turn(_ run: inout Run) -> RunLoopRunResult? {
        let state = run.state
        guard wakeWord.beginTurn() else { return .stopped }
        // In general nobody wants to know of either, which one question finds out.
        if tells(of: [.beforeTimers, .beforeSources], state) {
            tell(.beforeTimers, state)  // 2
            tell(.beforeSources, state)  // 3
        }
        runBlocks(state)  // 4
        var handled = performSources(state, onlyOne: run.returnsAfterSource)  // 5
        if handled { runBlocks(state) }
        var cause = mainQueueGoesFirst(run) ? Cause.mainQueue : nil  // 6
        if cause == nil, handled || run.onlyPolls { cause = poll(run) }
        if cause == nil, run.sleepsInHost {
            guard let ready = findReady(run) else { return .timedOut }
            cause = ready
        }
        if cause == nil {
            cause = tells(of: .beforeWaiting, state) ? tellAndSleep(run) : sleep(run)  // 7
            wakeWord.enter(.ignoring)
            tell(.afterWaiting, state)  // 8
        }
        wakeWord.enter(.ignoring)
        run.didMainQueue = false
        switch cause.unsafelyUnwrapped {  // 9
        case .nothing: break
        case .timers: fireTimers(state)
        case .port(let event): handled = servePort(state, event) || handled
        case .mainQueue:
            if let mainQueue {
                serveMainQueue(mainQueue)
                handled = true
                run.didMainQueue = true
            }
        }
        runBlocks(state)  // 10
        return verdict(run, handled: handled)
    }

    /// The end of step 10.
    private func verdict(_ run: Run, handled: Bool) -> RunLoopRunResult? {
        if handled, run.returnsAfterSource { return .handledSource }
        if run.limit != .max, run.onlyPolls || run.limit <= monotonicNow() { return .timedOut }
        if takeStop() { return .stopped }
        return isEmpty(run.state) && !run.sleepsInHost ? .finished : nil
    }

    func requireOwnThread() {
        checkNotForked()
        require(
            SystemCalls.threadID == threadID,
            "A run loop can only be run by its own thread: thread \(SystemCalls.threadID) tried to run that of thread \(threadID). Use perform, signal or stop to reach it from elsewhere."
        )
    }

    func takeStop() -> Bool {
        guard wakeWord.isStopped else { return false }
        wakeWord.serveStop()
        return true
    }

    /// Nothing that could ever fire: SEMANTICS 2.5.
    func isEmpty(_ state: ModeState) -> Bool {
        if !state.hasNoItems { return false }
        if mainQueue != nil, state.isCommon, !isInMainQueue { return false }
        return !hasBlock(for: state)
    }

    // MARK: Entering and leaving

    func enter(_ state: ModeState) -> ModeState? {
        // What was fetched earlier may have been taken since, in a run of another mode.
        state.ready.doubt()
        return lock.withLock {
            defer { current = state }
            return current
        }
    }

    func leave(to outer: ModeState?) {
        outer?.ready.doubt()
        lock.withLock { current = outer }
    }
}
