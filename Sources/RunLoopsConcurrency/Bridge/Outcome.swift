public import RunLoops

/// What a task waits for and somebody else brings: a result, once.
///
/// The first who brings one is heard; it may come before the task waits. One task waits, once.
package final class Outcome<Success: Sendable>: Sendable {
    private struct State {
        /// Somebody is about to bring the result.
        var isClaimed = false
        var result: Result<Success, any Error>?
        var waiting: CheckedContinuation<Success, any Error>?
    }

    private let state = Guarded(State())

    package init() {}

    /// Brings the result; whether it was the first.
    ///
    /// - Parameter cleanUp: Done by the first, before the waiting task goes on.
    @discardableResult
    package func settle(_ result: Result<Success, any Error>, after cleanUp: () -> Void = {}) -> Bool {
        guard claim() else { return false }
        cleanUp()
        deliver(result)
        return true
    }

    /// Takes it upon the caller to deliver; whether nobody else has.
    package func claim() -> Bool {
        state.withLock { state in
            defer { state.isClaimed = true }
            return !state.isClaimed
        }
    }

    /// Brings the result, by who has claimed that.
    package func deliver(_ result: Result<Success, any Error>) {
        let waiting = state.withLock { state in
            state.result = result
            defer { state.waiting = nil }
            return state.waiting
        }
        // Without the lock: to resume is to enqueue, which may be anybody's code.
        waiting?.resume(with: result)
    }

    /// Waits for the result.
    package func value(isolation: isolated (any Actor)? = #isolation) async throws -> Success {
        try await withCheckedThrowingContinuation { continuation in
            let known = state.withLock { state in
                if state.result == nil { state.waiting = continuation }
                return state.result
            }
            if let known { continuation.resume(with: known) }
        }
    }
}

/// The duty to settle an outcome: whoever lets go of it unsettled has settled it with an error.
///
/// Held by what a loop keeps (a timer's closure, a block), which the end of its thread releases uncalled.
package final class Duty<Success: Sendable>: Sendable {
    package let outcome: Outcome<Success>

    package init(_ outcome: Outcome<Success>) { self.outcome = outcome }

    deinit { outcome.settle(.failure(RunLoop.ThreadEndedError())) }
}

extension RunLoop {
    /// The thread of a loop has ended, and what was asked of the loop will not happen.
    public struct ThreadEndedError: Error, Hashable, CustomStringConvertible {
        /// The error.
        public init() {}

        /// What happened, in words.
        public var description: String { "The thread of the run loop has ended." }
    }
}
