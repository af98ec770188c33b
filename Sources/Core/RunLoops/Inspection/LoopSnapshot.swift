// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The state of a loop that another thread can read without a long wait.
package struct LoopSnapshot: Sendable {
    /// A timer that waits in the current mode.
    package struct Timer: Sendable {
        package var label: String
        /// Nanoseconds from now; negative for a timer that is overdue.
        package var due: Int64
        /// Nanoseconds between fires; 0 for a timer that fires once.
        package var interval: Int64
        /// Nanoseconds.
        package var tolerance: Int64
    }

    /// The modes of the runs in progress, the innermost last.
    package var modes: [RunLoop.Mode] = []
    /// The next timers in that mode, soonest first.
    package var timers: [Timer] = []
}

extension RunLoop {
    /// A look at the loop; `nil` when the loop's lock is not free for `patience` nanoseconds.
    ///
    /// The lock is never held during a callout, so that a hanging loop can be inspected. Thread safety: any thread.
    /// - Complexity: O(n) in the timers, when some are asked for.
    package func snapshot(timers maxCount: Int = 0, patience: Int64) -> LoopSnapshot? {
        guard state.lockPointer.pointee.take(until: SystemCalls.now(.monotonic) + patience) else { return nil }
        defer { unlock() }
        guard let current = state.runs.last?.mode else { return LoopSnapshot() }
        return LoopSnapshot(
            modes: state.runs.map(\.mode.mode), timers: maxCount > 0 ? nextTimers(maxCount, in: current) : [])
    }

    /// With the lock held.
    private func nextTimers(_ maxCount: Int, in mode: ModeState) -> [LoopSnapshot.Timer] {
        var next: [LoopSnapshot.Timer] = []
        mode.forEachBucket { bucket in
            let now = now(bucket.base)
            bucket.queue.visit(state.dueList) { entry, timer, label in
                let due = entry.date.clampedSubtracting(now)
                // The few next ones are kept in order: a loop may have a hundred thousand timers.
                if next.count == maxCount, let last = next.last, last.due <= due { return }
                let snapshot = LoopSnapshot.Timer(
                    label: timer?.label ?? label?.text ?? "", due: due, interval: timer?.intervalNanoseconds ?? 0,
                    tolerance: timer?.toleranceNanoseconds ?? 0)
                next.insert(snapshot, at: next.firstIndex { $0.due > due } ?? next.count)
                if next.count > maxCount { next.removeLast() }
            }
        }
        return next
    }
}
