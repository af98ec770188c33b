// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension RunLoop {
    /// Runs the loop in the default mode repeatedly, until a run is stopped or the mode is empty.
    ///
    /// - Returns: ``RunResult/stopped`` or ``RunResult/finished``.
    ///
    /// Corresponds to `CFRunLoopRun`, which returns no result.
    /// - Precondition: called on the loop's own thread; any other traps.
    @available(
        *, noasync,
        message: "A run blocks a thread of Swift's pool: run the loop in a synchronous function."
    )
    @discardableResult
    public func run() -> RunResult {
        var result: RunResult
        repeat {
            result = run(in: .default, until: nil)
        } while result != .stopped && result != .finished
        return result
    }

    /// Runs the loop in `mode`, turn after turn, until there is a result.
    ///
    /// Runs nest: a run that is begun in a callout of another run has its own mode, limit and stop mark.
    ///
    /// - Parameters:
    ///   - mode: The mode. In an empty or unknown mode the run returns `finished` at once, and no observer is called.
    ///   - instant: The limit of the run; `nil` for none. If the instant has passed, the loop makes one turn without
    ///     sleeping.
    ///   - returnsAfterSource: Whether the run ends after one source (or work of the main queue) was handled.
    /// - Returns: Why the run ended.
    ///
    /// Corresponds to `CFRunLoopRunInMode`. The limit needs neither a timer nor a thread.
    /// - Precondition: called on the loop's own thread; `mode` is not `.common`, in which no loop can run; `instant` is on
    ///   the monotonic clock.
    /// - Complexity: to begin, O(n) in the modes of the loop, except the default mode; a turn is O(1) in them.
    @available(
        *, noasync,
        message: "A run blocks a thread of Swift's pool: run the loop in a synchronous function."
    )
    @discardableResult
    public func run(in mode: Mode, until instant: Instant?, returnsAfterSource: Bool = false) -> RunResult {
        guard let instant else { return run(mode, .never, returnsAfterSource: returnsAfterSource) }
        require(
            instant.clock == .monotonic,
            "A run ends at an instant of the monotonic clock, and was given one of the \(instant.clock) clock: give instant.converted(to: .monotonic)."
        )
        let isPast = instant.nanoseconds <= now(.monotonic)
        let limit = isPast ? RunState.Limit.now : .until(instant.nanoseconds)
        return run(mode, limit, returnsAfterSource: returnsAfterSource)
    }

    /// Runs in `mode` for `duration` at most; with a duration that is not positive, for one turn without a sleep.
    ///
    /// The parameters and the result are those of ``run(in:until:returnsAfterSource:)``.
    @available(
        *, noasync,
        message: "A run blocks a thread of Swift's pool: run the loop in a synchronous function."
    )
    @discardableResult
    public func run(in mode: Mode, for duration: Duration, returnsAfterSource: Bool = false) -> RunResult {
        let nanoseconds = duration.clampedNanoseconds
        let limit = nanoseconds <= 0 ? RunState.Limit.now : .until(now(.monotonic).clampedAdding(nanoseconds))
        return run(mode, limit, returnsAfterSource: returnsAfterSource)
    }

    /// Makes one turn in `mode` without a sleep: serves what is ready, once, and returns.
    ///
    /// The result is `timedOut` unless another result applies. Of several ready descriptors the turn serves one.
    ///
    /// Corresponds to `CFRunLoopRunInMode` with a time of 0 seconds.
    @available(
        *, noasync,
        message: "A run blocks a thread of Swift's pool: run the loop in a synchronous function."
    )
    @discardableResult
    public func runTurn(in mode: Mode = .default, returnsAfterSource: Bool = false) -> RunResult {
        run(mode, .now, returnsAfterSource: returnsAfterSource)
    }

    /// Serves everything that is ready in `mode`, in as many turns as that takes, and returns where a run would sleep.
    ///
    /// For observers this is one run. Since the thread does not sleep, they are called neither with
    /// ``Activities/beforeWaiting`` nor with ``Activities/afterWaiting``. An item that makes itself ready again at
    /// once, such as a source that signals itself, keeps the run from ending until ``stop()``.
    ///
    /// - Returns: `stopped` after ``stop()``; `finished` if nothing is left that could ever become ready; `timedOut`
    ///   otherwise.
    ///
    /// Core Foundation has no such function: a program has to run for 0 seconds repeatedly.
    /// - Precondition: called on the loop's own thread; any other traps.
    @available(
        *, noasync,
        message: "A run blocks a thread of Swift's pool: run the loop in a synchronous function."
    )
    @discardableResult
    public func runUntilIdle(in mode: Mode = .default) -> RunResult {
        let result = run(mode, .idle, returnsAfterSource: false)
        return result == .timedOut && isEmpty(in: mode) ? .finished : result
    }

    // MARK: Stopping a given run

    /// The identity of a run in progress, with which ``RunLoop/stop(_:)`` ends this run and no other.
    ///
    /// Thread safety: a value; any thread.
    public struct RunID: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// The innermost run in progress; `nil` if there is none.
    ///
    /// Core Foundation has no such property. Thread safety: any thread.
    public var currentRun: RunID? { withState { $0.runs.last.map { RunID(number: $0.number) } } }

    /// Ends a given run in progress, which need not be the innermost run.
    ///
    /// The innermost run ends as with ``stop()``. Any other run ends at the end of its turn: the runs that are nested
    /// in it go on, and have ended normally by then. The call has no effect on a run that has ended.
    ///
    /// Corresponds to `g_main_loop_quit` of GLib; Core Foundation has nothing like it. Thread safety: any thread.
    /// - Complexity: O(n) in the nested runs.
    public func stop(_ run: RunID) {
        checkNotForked()
        withState { state in
            guard let index = state.runs.lastIndex(where: { $0.number == run.number }) else { return }
            if index < state.runs.count - 1 {
                state.runs[index].isStopped = true
            } else if let phase = core.wakeWord.stop(now: { now(.monotonic) }) {
                // Inside withState, so that the run neither ends nor gets a nested run before the wake-up.
                core.kernel.wake(core.wakeWord, phase)
            }
        }
    }

    /// The run that the loop's thread begins next, unless that run is in an empty mode; called on the loop's thread.
    ///
    /// With this name the code that begins a run can end this very run later, from a run that is nested in it.
    package var nextRun: RunID { withState { RunID(number: $0.runsBegun + 1) } }

    /// Ends a given run in progress at once: the run itself, and all runs that are nested in it.
    ///
    /// A nested run without a limit would keep the given run from ending. Thread safety: any thread.
    /// - Complexity: O(n) in the nested runs.
    package func stop(through run: RunID) {
        checkNotForked()
        withState { state in
            guard let index = state.runs.lastIndex(where: { $0.number == run.number }) else { return }
            for outer in index..<state.runs.count - 1 { state.runs[outer].isStopped = true }
            // Inside withState, as in stop(_:).
            if let phase = core.wakeWord.stop(now: { now(.monotonic) }) { core.kernel.wake(core.wakeWord, phase) }
        }
    }
}
