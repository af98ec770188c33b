// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Runs a closure on the loop's thread, and waits for its result.
    ///
    /// The closure runs in the next turn of a run in `mode`; the call wakes the loop. If the task is cancelled before
    /// the closure has begun, the closure does not run. Once the closure has begun, the task waits for its result.
    ///
    /// - Parameters:
    ///   - mode: The mode; `.common` for all common modes.
    ///   - body: The closure, which must not use another thread's state.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`; `CancellationError`; ``ThreadEndedError`` when the loop's thread has ended or
    ///   ends before.
    ///
    /// Thread safety: any thread, also the loop's own: the task waits, not the thread.
    public func result<Success: Sendable>(
        in mode: Mode = .common, of body: @escaping @Sendable () throws -> Success
    ) async throws -> Success {
        try Task.checkCancellation()
        let outcome = Outcome<Success>()
        post(Duty(outcome), mode, body)
        return try await withTaskCancellationHandler {
            try await outcome.value(of: "a closure in mode \(mode.rawValue) of \(nameInWaits)")
        } onCancel: {
            outcome.settle(.failure(CancellationError()))
        }
    }

    /// The loop, as the waits of tasks name it.
    package var nameInWaits: String {
        threadID == SystemCalls.mainThreadID ? "the main loop" : "the loop of thread \(threadID)"
    }

    /// The block alone keeps the duty.
    private func post<Success: Sendable>(
        _ duty: Duty<Success>, _ mode: Mode, _ body: @escaping @Sendable () throws -> Success
    ) {
        perform(in: mode) {
            if duty.outcome.claim() { duty.outcome.deliver(Result { try body() }) }
        }
    }

    /// Makes the loop's thread run the loop, nested in the run that is in progress there, and waits for the run's
    /// result.
    ///
    /// The nested run begins in the next turn of a run in `outer`. When the task is cancelled, that run is stopped, and
    /// no other: runs that are nested in that run end by themselves first.
    ///
    /// - Parameters:
    ///   - mode: The mode to run in.
    ///   - duration: The time limit; `nil` for none. With a duration that is not positive the run makes one turn without a sleep.
    ///   - returnsAfterSource: Whether the run ends after one source (or work of the main queue) was handled.
    ///   - outer: The mode of the run that the new run is nested in; `.common` for all common modes.
    /// - Returns: Why the run ended; `stopped` also when it was stopped by cancellation.
    /// - Throws: `CancellationError` when the task was cancelled before the run began; ``ThreadEndedError`` when the
    ///   loop's thread has ended or ends before.
    ///
    /// If the run is nested in a job of the task's own executor, that executor's jobs do not run meanwhile; see
    /// ``RunLoop/Executor``.
    public func run(
        in mode: Mode, for duration: Duration? = nil, returnsAfterSource: Bool = false, nestedIn outer: Mode = .common
    ) async throws -> RunResult {
        let steered = SteeredRun(self, mode)
        return try await withTaskCancellationHandler {
            try await result(in: outer) { [self] in
                steered.steer {
                    guard let duration else {
                        return run(in: mode, until: nil, returnsAfterSource: returnsAfterSource)
                    }
                    return run(in: mode, for: duration, returnsAfterSource: returnsAfterSource)
                }
            }
        } onCancel: {
            steered.end()
        }
    }
}
