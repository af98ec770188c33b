// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Runs an async operation, and cancels it when it has taken too long.
    ///
    /// The operation and the sleep are child tasks. The task that ends first decides. The other task is cancelled, and
    /// the call waits for its end, so that no work goes on after it: the call does not return before an operation that
    /// ignores cancellation. `await task.value` is such an operation: it ignores the cancellation of the task that
    /// waits. A result after the timeout is dropped.
    ///
    /// A cancelled wait for an element does not end the sequences of files, such as `lines(of:)` of `RunLoopsEvents`:
    /// the next element can be read afterwards. An `AsyncStream` and an ``EventSequence`` end when the task that waits
    /// for an element is cancelled.
    ///
    /// The runtime's clocks, among them the default, keep the memory of a cancelled sleep (some 700 bytes) until its
    /// date. If operations usually end long before their timeouts, pass `RunLoop.clock` of a running loop, which keeps
    /// nothing.
    ///
    /// - Parameters:
    ///   - duration: How long the operation may take.
    ///   - tolerance: How much later than `duration` the operation may be cancelled.
    ///   - clock: The clock of the timeout, such as `RunLoop.clock`, which is virtual in tests. The default goes on
    ///     while the machine is suspended.
    ///   - operation: The operation.
    /// - Returns: The result of the operation.
    /// - Throws: ``TimeoutError`` when the time was over first; the error of the operation; `CancellationError` when
    ///   the caller is cancelled.
    public static func withTimeout<Success: Sendable, C: Clock>(
        _ duration: C.Duration, tolerance: C.Duration? = nil, clock: C = ContinuousClock(),
        _ operation: @escaping @Sendable () async throws -> Success
    ) async throws -> Success {
        try await withThrowingTaskGroup(of: Success.self) { group in
            group.addTask(operation: operation)
            group.addTask {
                try await clock.sleep(for: duration, tolerance: tolerance)
                throw TimeoutError()
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }

    /// The error of an operation that did not end within its time limit.
    public struct TimeoutError: Error, Hashable, CustomStringConvertible {
        /// Makes the error.
        public init() {}

        /// A sentence that describes the error.
        public var description: String { "The time for the operation was over before it was done." }
    }
}
