extension RunLoopTimer {
    /// A timer that fires once, at a date of the clock of the loop it will be added to.
    ///
    /// The public ways ask the clock of the thread that makes the timer, which may be another one where time is virtual.
    package static func once(
        at date: RunLoopInstant, tolerance: Duration, label: String, handler: @escaping @Sendable (RunLoopTimer) -> Void
    ) -> RunLoopTimer {
        let timer = sendable(.after(.zero, clock: date.base), tolerance: tolerance, label: label, handler: handler)
        // Nobody else knows the timer yet.
        timer.fire = date.nanoseconds
        return timer
    }

    /// A timer that fires again and again, first at a date of the clock of the loop it will be added to.
    package static func every(
        _ interval: Duration, from date: RunLoopInstant, tolerance: Duration, label: String,
        handler: @escaping @Sendable (RunLoopTimer) -> Void
    ) -> RunLoopTimer {
        let timer = sendable(
            .every(interval, clock: date.base), tolerance: tolerance, label: label, handler: handler)
        timer.fire = date.nanoseconds
        return timer
    }
}
