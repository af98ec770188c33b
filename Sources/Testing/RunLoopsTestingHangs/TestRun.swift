// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsDiagnostics
internal import RunLoopsLibC

/// One run of a test, which ends or is left alone.
final class TestRun: Sendable {
    private typealias Outcome = Result<TestHang?, any Error>

    private enum State {
        case waiting(UnsafeContinuation<Outcome, Never>?)
        case early(Outcome)
        case over
    }

    private let name: String
    private let limit: TestWatch.Limit
    private let state = Guarded(State.waiting(nil))
    private let watched = Guarded<TestWatch.Test?>(nil)

    /// - Parameter name: The name of the test's task, which no other task has.
    init(_ name: String, _ limit: TestWatch.Limit) { (self.name, self.limit) = (name, limit) }

    /// Runs the body in a task of its own.
    ///
    /// - Returns: How the body hangs; `nil` if it has ended. A body that hangs is cancelled and left alone.
    /// - Throws: the body's error.
    func perform(_ body: @escaping @Sendable (TestWatch.Test) async throws -> Void) async throws -> TestHang? {
        let task = Task(name: name, executorPreference: TestExecutor.shared, priority: Task.currentPriority) {
            await self.watch(body)
        }
        let outcome = await withTaskCancellationHandler {
            await withUnsafeContinuation { self.wait($0) }
        } onCancel: {
            task.cancel()
        }
        watched.withLock { $0 }?.acknowledge()
        let hang = try outcome.get()
        if hang != nil { task.cancel() }
        return hang
    }

    private func watch(_ body: @Sendable (TestWatch.Test) async throws -> Void) async {
        do {
            let test = try TestWatch.shared.begin(limit, task: name, whenStuck: Self.endProcess) { hang in
                SystemCalls.writeToStandardError("\(self.name): \(hang.text)\n\(hang.isRepeated ? "" : hang.report)")
                self.finish(.success(hang))
            }
            watched.withLock { $0 = test }
            defer { TestWatch.shared.end(test) }
            try await body(test)
            finish(.success(nil))
        } catch {
            finish(.failure(error))
        }
    }

    private func wait(_ continuation: UnsafeContinuation<Outcome, Never>) {
        let outcome = state.withLock { state -> Outcome? in
            if case .early(let outcome) = state { return outcome }
            state = .waiting(continuation)
            return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    /// Ends the run; the first call counts.
    private func finish(_ outcome: Outcome) {
        let continuation = state.withLock { state -> UnsafeContinuation<Outcome, Never>? in
            guard case .waiting(let continuation) = state else { return nil }
            state = continuation == nil ? .early(outcome) : .over
            return continuation
        }
        continuation?.resume(returning: outcome)
    }

    /// Called when no task of Swift's pool has gone on after a report.
    private static func endProcess(_ report: String) {
        SystemCalls.writeToStandardError(
            """
            The tests cannot go on: a test that hangs was reported, and no thread of Swift's pool has taken the next one up. \
            Code in an unstructured task of a test blocks its thread; the threads in the report show where. The process ends.

            """)
        // Not exit(), whose handlers could wait for a lock that a blocked thread has.
        _exit(EXIT_FAILURE)
    }
}
