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
    /// The runtime's clocks, among them the default, keep the memory of a cancelled sleep (some 700 bytes) until the
    /// sleep's date. On these clocks the call therefore sleeps in steps, each as long as all before it together: the
    /// memory is free again after a tenth of a second, or after the time that the operation took. The `RunLoop.clock`
    /// of a running loop keeps nothing.
    ///
    /// - Parameters:
    ///   - duration: How long the operation may take. A duration that is not positive cancels the operation at once; on
    ///     the runtime's clocks more than a century counts as a century.
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
                try await sleep(duration, tolerance, on: clock)
                throw TimeoutError()
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }

    private static func sleep<C: Clock>(_ duration: C.Duration, _ tolerance: C.Duration?, on clock: C) async throws {
        guard let length = duration as? Duration else {
            return try await clock.sleep(for: duration, tolerance: tolerance)
        }
        switch clock {
        case let clock as ContinuousClock: try await clock.sleepInSteps(for: length, tolerance: tolerance as? Duration)
        case let clock as SuspendingClock: try await clock.sleepInSteps(for: length, tolerance: tolerance as? Duration)
        default: try await clock.sleep(for: duration, tolerance: tolerance)
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

extension Clock where Duration == Swift.Duration {
    /// Sleeps on a clock that keeps the memory of a cancelled sleep until the sleep's date, and that traps on a date
    /// centuries away, as the runtime's clocks do.
    ///
    /// - Complexity: O(log n) sleeps in the duration.
    func sleepInSteps(for duration: Duration, tolerance: Duration?) async throws {
        let start = now
        let length = min(duration, .century)
        var step = Duration.milliseconds(100)
        while step < length {
            try await sleep(until: start.advanced(by: step), tolerance: nil)
            step *= 2
        }
        try await sleep(until: start.advanced(by: max(.zero, length)), tolerance: tolerance.map { min($0, .century) })
    }
}

extension Duration {
    fileprivate static var century: Duration { .seconds(36_525 * 86_400) }
}
