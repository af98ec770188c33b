// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsConcurrency

extension RunLoopThread {
    /// Runs a closure on the thread, after the closures that were posted before, and waits for what it returns.
    ///
    /// The task waits, and no thread does. If the task is cancelled before the closure has begun, the closure does not
    /// run. Once the closure has begun, the task waits for its result.
    ///
    /// - Throws: What `body` throws; `CancellationError`; `ThreadEndedError` if the thread was stopped before the call,
    ///   or ends before the closure runs.
    ///
    /// Thread safety: any thread, also this thread itself.
    public func result<Success: Sendable>(
        of body: @escaping @Sendable () throws -> Success
    ) async throws -> Success {
        try Task.checkCancellation()
        let outcome = Outcome<Success>()
        post(Duty(outcome), body)
        return try await withTaskCancellationHandler {
            try await outcome.value()
        } onCancel: {
            outcome.settle(.failure(CancellationError()))
        }
    }

    /// The task alone keeps the duty: a refused or dropped task releases the duty, which settles the outcome.
    private func post<Success: Sendable>(
        _ duty: Duty<Success>, _ body: @escaping @Sendable () throws -> Success
    ) {
        post {
            if duty.outcome.claim() { duty.outcome.deliver(Result { try body() }) }
        }
    }
}
