// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// A result that other code delivers once, and that one task waits for.
///
/// The first result counts; it may come before the task waits. One task waits, once.
package final class Outcome<Success: Sendable>: Sendable {
    private struct State {
        /// Whether a caller has reserved the delivery of the result.
        var isClaimed = false
        var result: Result<Success, any Error>?
        var waiting: CheckedContinuation<Success, any Error>?
    }

    private let state = Guarded(State())

    package init() {}

    /// Delivers the result; returns whether this result was the first.
    ///
    /// - Parameter cleanUp: Called for the first result, before the waiting task goes on.
    @discardableResult
    package func settle(_ result: Result<Success, any Error>, after cleanUp: () -> Void = {}) -> Bool {
        guard claim() else { return false }
        cleanUp()
        deliver(result)
        return true
    }

    /// Reserves the delivery for the caller; returns whether no other caller has reserved it.
    package func claim() -> Bool {
        state.withLock { state in
            defer { state.isClaimed = true }
            return !state.isClaimed
        }
    }

    /// Delivers the result; called by the caller that has claimed the delivery.
    package func deliver(_ result: Result<Success, any Error>) {
        let waiting = state.withLock { state in
            state.result = result
            defer { state.waiting = nil }
            return state.waiting
        }
        // Without the lock: to resume is to enqueue, which may run any code.
        waiting?.resume(with: result)
    }

    /// Waits for the result.
    ///
    /// - Parameter name: What delivers the result, in words that follow "waits for"; evaluated only while a tool looks.
    package func value(
        of name: @autoclosure () -> String, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Success {
        let mark = TaskWaits.areWanted ? TaskWaits.begin(name()) : 0
        defer { if mark != 0 { TaskWaits.end(mark) } }
        return try await withCheckedThrowingContinuation { continuation in
            let known = state.withLock { state in
                if state.result == nil { state.waiting = continuation }
                return state.result
            }
            if let known { continuation.resume(with: known) }
        }
    }
}

/// The duty to settle an outcome: if the duty is released unsettled, it settles the outcome with an error.
///
/// An item of a loop holds the duty (a timer's closure, a block). The end of the loop's thread releases the item
/// without a call.
package final class Duty<Success: Sendable>: Sendable {
    package let outcome: Outcome<Success>

    package init(_ outcome: Outcome<Success>) { self.outcome = outcome }

    deinit { outcome.settle(.failure(RunLoop.ThreadEndedError())) }
}

extension RunLoop {
    /// The error of a call that a loop cannot perform, because its thread has ended.
    public struct ThreadEndedError: Error, Hashable, CustomStringConvertible {
        /// Makes the error.
        public init() {}

        /// A sentence that describes the error.
        public var description: String { "The thread of the run loop has ended." }
    }
}
