// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// The clock of a run loop: a task that sleeps on it is a timer of the loop.
///
/// One wake-up of the loop's thread serves all sleepers whose dates and tolerances allow it, with the loop's other
/// timers. With the manual loop of `RunLoopsTesting` the clock is virtual: a test of async code that sleeps for hours
/// takes no time.
///
/// ```swift
/// try await Task.sleep(for: .seconds(1), tolerance: .milliseconds(100), clock: loop.clock)
/// ```
///
/// Thread safety: a value; any thread.
public struct RunLoopClock: Clock {
    /// An instant of the clock.
    public typealias Instant = RunLoop.Instant
    /// The time between two instants.
    public typealias Duration = Swift.Duration

    /// The loop.
    public let loop: RunLoop
    /// The mode that sleepers are woken in; `.common` for all common modes.
    public let mode: RunLoop.Mode
    /// The system clock that this clock reads.
    public let clockID: RunLoop.ClockID

    /// The present instant of the loop's clock, which is virtual in a manual loop.
    public var now: Instant { Instant(nanoseconds: loop.now(clockID), clock: clockID) }

    /// The resolution of the clock: one nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Sleeps until `deadline`, or until the task is cancelled.
    ///
    /// The sleeper is a timer that fires once. It is taken out of the loop at cancellation, before this throws. While
    /// the loop does not run, no sleep ends: it ends when the loop runs again in the clock's mode.
    ///
    /// - Parameters:
    ///   - deadline: When to wake up, on this clock.
    ///   - tolerance: How much later the sleep may end, never earlier; none if `nil`.
    /// - Throws: `CancellationError`; ``RunLoops/RunLoop/ThreadEndedError`` if the loop's thread has ended or ends
    ///   meanwhile.
    ///
    /// - Precondition: `deadline` is on the clock with the identity ``clockID``.
    /// - Complexity: O(log n) in the timers of the loop.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        require(
            deadline.clock == clockID,
            "A task was to sleep on the \(clockID) clock until an instant of the \(deadline.clock) clock: give deadline.converted(to: .\(clockID))."
        )
        try Task.checkCancellation()
        let outcome = Outcome<Void>()
        let sleeper = startTimer(deadline, tolerance ?? .zero, outcome)
        try await withTaskCancellationHandler {
            try await outcome.value(of: "a timer in mode \(mode.rawValue) of \(loop.nameInWaits)")
        } onCancel: {
            outcome.settle(.failure(CancellationError())) { sleeper.item?.invalidate() }
        }
    }

    /// Only the loop holds the timer: if the loop's thread ends, the timer is released, and with it the duty.
    private func startTimer(_ deadline: Instant, _ tolerance: Duration, _ outcome: Outcome<Void>) -> WeakItem {
        let duty = Duty(outcome)
        let timer = RunLoop.Timer.starting(at: deadline, tolerance: tolerance, label: "sleep") { _ in
            duty.outcome.settle(.success(()))
        }
        loop.add(timer, in: mode)
        return WeakItem(timer)
    }
}

extension RunLoop {
    /// The loop's clock: monotonic, and sleepers are woken in all common modes.
    public var clock: RunLoopClock { clock() }

    /// Returns a clock of the loop that reads the given system clock and wakes sleepers in the given mode.
    ///
    /// - Parameters:
    ///   - clockID: The system clock to read.
    ///   - mode: The mode that sleepers are woken in; `.common` for all common modes.
    public func clock(_ clockID: ClockID = .monotonic, in mode: Mode = .common) -> RunLoopClock {
        RunLoopClock(loop: self, mode: mode, clockID: clockID)
    }
}
