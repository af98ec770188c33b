internal import RunLoops
internal import RunLoopsConcurrency

extension RunLoopThread {
    /// Runs a closure on the thread, after those that were posted before, and waits for what it returns.
    ///
    /// The task waits, and no thread does. If the task is cancelled before the closure has begun, it is not run; once it has
    /// begun, its result is waited for.
    ///
    /// - Throws: What `body` throws; `CancellationError`; `ThreadEndedError` when the thread was told to stop, or ends before.
    ///
    /// Thread safety: any thread, this one's own too.
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

    /// The task alone keeps the duty: refused or dropped, it goes, and says so.
    private func post<Success: Sendable>(
        _ duty: Duty<Success>, _ body: @escaping @Sendable () throws -> Success
    ) {
        post {
            if duty.outcome.claim() { duty.outcome.deliver(Result { try body() }) }
        }
    }
}
