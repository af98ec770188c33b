// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import RunLoops
public import RunLoopsConcurrency

extension RunLoop {
    /// Adds a calendar timer to `mode`, or to all common modes, also to modes that are marked as common later.
    ///
    /// A timer is in one loop at most, in any number of its modes. Adding a timer twice is the same as adding it once.
    /// A timer that was removed from all modes and is added again serves the dates after that moment.
    ///
    /// - Returns: Whether the timer is in `mode` now: `false` if the timer is invalid, or if the loop's thread has ended.
    /// - Throws: The error with which the system refused the descriptor that the rule
    ///   ``CalendarSchedule/ClockSetBack/again(ifBehindBy:)`` needs: `EMFILE`, `ENFILE`, `ENOMEM`, `ENOSPC`. The timer
    ///   is then not in `mode`. With the other rule the call does not throw.
    ///
    /// Thread safety: any thread.
    /// - Precondition: the timer is in no mode of another loop, and its closure may run on this loop's thread.
    /// - Complexity: O(log n) in the timers of the mode.
    @discardableResult
    public func add(_ timer: CalendarTimer, in mode: Mode) throws(SystemCallError) -> Bool {
        try timer.add(to: self, in: mode)
    }

    /// Removes a calendar timer from `mode`, or, with `.common`, from all common modes if it was added to them.
    ///
    /// The timer stays as it is and can be added again, to this loop or to another.
    /// Thread safety: any thread.
    public func remove(_ timer: CalendarTimer, from mode: Mode) { timer.remove(from: self, in: mode) }

    /// Whether `timer` is in `mode`, or, for `.common`, was added to the common modes.
    ///
    /// Thread safety: any thread.
    public func contains(_ timer: CalendarTimer, in mode: Mode) -> Bool { timer.isIn(self, mode) }

    /// The dates of a schedule, as a sequence: each date is delivered when a ``CalendarTimer`` would call its closure.
    ///
    /// - Parameters:
    ///   - schedule: The dates, and the rules.
    ///   - tolerance: How much later than its date the loop may serve a date.
    ///   - mode: The mode that the timer is in; `.common` for all common modes.
    ///   - buffering: Which dates are kept while no task waits.
    /// - Throws: What ``add(_:in:)-(CalendarTimer,_)`` throws.
    public func dates(
        of schedule: CalendarSchedule, tolerance: Duration = .zero, in mode: Mode = .common,
        buffering: EventSequence<Date>.Buffering = .unbounded
    ) throws(SystemCallError) -> EventSequence<Date> {
        try EventSequence(buffering: buffering) { emitter throws(SystemCallError) in
            let timer = CalendarTimer.sendable(schedule, tolerance: tolerance, label: "dates") { emitter.emit($1) }
            try add(timer, in: mode)
            // The loop alone keeps the timer.
            return EventSequence.Stop { [weak timer] in timer?.invalidate() }
        }
    }
}
