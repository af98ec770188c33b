// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsConcurrency

extension RunLoopThread {
    /// Runs a closure on the thread, after the closures that were posted before, and waits for its result.
    ///
    /// The task waits, and no thread does. If the task is cancelled before the closure has begun, the closure does not
    /// run. Once the closure has begun, the task waits for its result.
    ///
    /// - Throws: The error of `body`; `CancellationError`; `ThreadEndedError` if the thread was stopped before the
    ///   call, or ends before the closure runs.
    ///
    /// Thread safety: any thread, also this thread itself.
    public func result<Success: Sendable>(
        of body: @escaping @Sendable () throws -> Success
    ) async throws -> Success {
        try Task.checkCancellation()
        let outcome = Outcome<Success>()
        post(Duty(outcome), body)
        return try await withTaskCancellationHandler {
            try await outcome.value(of: "a closure on \(identity)")
        } onCancel: {
            outcome.settle(.failure(CancellationError()))
        }
    }

    /// Waits until the thread has ended, and its loop is torn down.
    ///
    /// The task waits, and no thread does. The call does not stop the thread: ``stop(_:)`` does. If the thread has
    /// ended already, the call returns at once, in a cancelled task too. Any number of tasks may wait, and wait again.
    ///
    /// If the task is cancelled during the wait, the wait ends, and the thread goes on. To wait regardless of
    /// cancellation, wait in a separate task: `await Task { try await thread.ended() }.value`.
    ///
    /// - Throws: `CancellationError`.
    ///
    /// - Precondition: the task does not run on the executor of this thread's loop, which accepts no job after the end.
    ///
    /// Thread safety: any thread. The asynchronous counterpart of ``join()``.
    public func ended() async throws {
        let outcome = Outcome<Void>()
        waiters.add(outcome)
        try await withTaskCancellationHandler {
            try await outcome.value(of: "the end of \(identity)")
        } onCancel: { [waiters] in
            waiters.remove(outcome)
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

/// The tasks that wait for the end of a thread.
final class EndWaiters: Sendable {
    private struct State {
        var hasEnded = false
        var outcomes: [Outcome<Void>] = []
    }

    private let state = Guarded(State())

    /// Settles the outcome when the thread has ended, now if it has.
    func add(_ outcome: Outcome<Void>) {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.outcomes.append(outcome) }
            return state.hasEnded
        }
        if hasEnded { outcome.settle(.success(())) }
    }

    /// Forgets an outcome.
    ///
    /// - Complexity: O(n) in the tasks that wait.
    func remove(_ outcome: Outcome<Void>) {
        state.withLock { state in state.outcomes.removeAll { $0 === outcome } }
    }

    fileprivate func threadHasEnded() {
        let outcomes = state.withLock { state in
            state.hasEnded = true
            defer { state.outcomes = [] }
            return state.outcomes
        }
        // Without the lock: to resume a task is to enqueue it, which may run any code.
        for outcome in outcomes { outcome.settle(.success(())) }
    }
}

/// What a thread releases last, and with it the tasks that wait for its end.
final class EndMark: Sendable {
    private let waiters: EndWaiters

    init(_ waiters: EndWaiters) { self.waiters = waiters }

    deinit { waiters.threadHasEnded() }
}
