public import RunLoops

extension RunLoop {
    /// Calls a closure when something has not been heard of for too long.
    ///
    /// ``feed()`` says that it is alive, and costs a look at the clock: the timer is moved when it fires, not at each feed, so
    /// that a guarded connection that is busy costs one wake-up a limit. It belongs to the loop, and so sees what stops coming,
    /// not a thread that hangs.
    ///
    /// It is given its modes when it is made, and is at work until it is invalidated or released.
    ///
    /// Thread safety: belongs to the thread that makes it, and to its loop.
    public final class WatchdogTimer {
        private let limit: Duration
        private let action: () -> Void
        private var alarm: Alarm?
        private var lastFed: RunLoop.Instant?

        /// A watchdog on the calling thread's loop; it begins with the first ``feed()``.
        ///
        /// - Parameters:
        ///   - limit: How long it may take from one feed to the next.
        ///   - modes: The modes in which the closure may be called.
        ///   - action: Called once; the next feed starts it anew.
        public init(limit: Duration, in modes: [RunLoop.Mode] = [.common], action: @escaping () -> Void) {
            self.limit = limit
            self.action = action
            alarm = Alarm(in: modes, label: "watchdog") { [weak self] in self?.look() }
        }

        /// Whether it waits for the next feed.
        public var isRunning: Bool { alarm?.isSet ?? false }

        /// Says that all is well, and starts it if it does not run.
        public func feed() {
            guard let alarm else { return }
            let now = alarm.now
            lastFed = now
            if !alarm.isSet { alarm.set(now.advanced(by: limit)) }
        }

        /// Takes the watch that is under way back; the next feed begins one.
        public func cancel() { alarm?.clear() }

        /// Ends it for good: later feeds do nothing.
        public func invalidate() { alarm = nil }

        private func look() {
            guard let alarm, let lastFed else { return }
            let due = lastFed.advanced(by: limit)
            if alarm.now < due { alarm.set(due) } else { action() }
        }
    }
}
