// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension RunLoop {
    /// Returns the modes of the runs in progress, the innermost last, and the next timers in the innermost mode,
    /// soonest first; `nil` if the loop's lock cannot be taken within `patience` nanoseconds.
    ///
    /// A timer's date is in nanoseconds from now, negative if the timer is overdue; its interval is 0 if it fires once.
    /// The lock is never held during a callout, so that a hanging loop can be inspected. Thread safety: any thread.
    /// - Complexity: O(n) in the timers, when some are asked for.
    package func snapshot(timers maxCount: Int = 0, patience: Int64) -> (
        modes: [Mode], timers: [(label: String, due: Int64, interval: Int64, tolerance: Int64)]
    )? {
        memory.withState(by: SystemCalls.now(.monotonic) + patience) { state in
            guard let current = state.runs.last?.mode else { return ([], []) }
            return (state.runs.map(\.mode.name), maxCount > 0 ? state.nextTimers(maxCount, in: current.number) : [])
        }
    }
}

extension GuardedState {
    /// Returns the first `maxCount` timers of a mode, soonest first.
    fileprivate func nextTimers(
        _ maxCount: Int, in mode: Int
    ) -> [(label: String, due: Int64, interval: Int64, tolerance: Int64)] {
        var next: [(label: String, due: Int64, interval: Int64, tolerance: Int64)] = []
        var now = WaitLimit()
        for clock in RunLoop.ClockID.allCases { now[clock] = core.now(clock) }
        visitTimers(in: mode) { clock, entry, timer, label in
            let due = entry.date.clampedSubtracting(now[clock])
            // Only the first timers are kept in order, because a loop may have a hundred thousand timers.
            if next.count == maxCount, let last = next.last, last.due <= due { return }
            let snapshot = (
                timer?.label ?? label?.text ?? "", due, timer?.intervalNanoseconds ?? 0,
                timer?.toleranceNanoseconds ?? 0
            )
            next.insert(snapshot, at: next.firstIndex { $0.due > due } ?? next.count)
            if next.count > maxCount { next.removeLast() }
        }
        return next
    }
}
