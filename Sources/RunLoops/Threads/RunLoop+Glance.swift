/// What somebody on another thread sees of a loop without waiting long.
package struct LoopGlance: Sendable {
    /// A timer that waits in the current mode.
    package struct Timer: Sendable {
        package var label: String
        /// Nanoseconds from now; negative for one that is overdue.
        package var due: Int64
        /// Nanoseconds between fires; 0 for one that fires once.
        package var interval: Int64
        /// Nanoseconds.
        package var tolerance: Int64
    }

    /// The innermost run's mode.
    package var mode: String?
    /// The next ones in that mode, soonest first.
    package var timers: [Timer] = []
}

extension RunLoop {
    /// A look at the loop; `nil` when the loop's lock cannot be had for `patience` nanoseconds.
    ///
    /// Nobody holds the lock during a callout, so that a loop that hangs can be looked at.
    /// Thread safety: any thread. Complexity: O(n) in the timers, when some are asked for.
    package func glance(timers most: Int = 0, patience: Int64) -> LoopGlance? {
        guard engine.lock.lock(until: SystemCalls.now(.monotonic) + patience) else { return nil }
        defer { engine.lock.unlock() }
        guard let current = engine.current else { return LoopGlance() }
        return LoopGlance(mode: current.mode.rawValue, timers: most > 0 ? engine.nextTimers(most, in: current) : [])
    }
}

extension Engine {
    /// With the lock held.
    fileprivate func nextTimers(_ most: Int, in state: ModeState) -> [LoopGlance.Timer] {
        var next: [(due: Int64, timer: RunLoopTimer)] = []
        for bucket in state.timerBuckets {
            let now = kernel.now(bucket.base)
            for timer in bucket.queue.all.map(\.timer) {
                let due = timer.fire.clampedAdding(-now)
                // A handful is kept in order: a loop may have a hundred thousand.
                if next.count == most, let last = next.last, last.due <= due { continue }
                next.insert((due, timer), at: next.firstIndex { $0.due > due } ?? next.count)
                if next.count > most { next.removeLast() }
            }
        }
        return next.map { due, timer in
            LoopGlance.Timer(
                label: timer.label, due: due, interval: timer.intervalNanoseconds,
                tolerance: timer.toleranceNanoseconds)
        }
    }
}
