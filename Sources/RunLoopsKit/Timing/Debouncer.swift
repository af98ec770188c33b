public import RunLoops

extension RunLoop {
    /// Calls a closure once things have been quiet for a while.
    ///
    /// Each ``call()`` puts it off again: for what should be done once after the last of many changes, such as a search while
    /// somebody types. Nothing is in the loop while there is nothing to wait for.
    ///
    /// It is given its modes when it is made, and is at work until it is invalidated or released.
    ///
    /// Thread safety: belongs to the thread that makes it, and to its loop.
    public final class Debouncer {
        private let delay: Duration
        private let limit: Duration?
        private let action: () -> Void
        private var alarm: Alarm?
        /// When the call that waits must have been made at the latest.
        private var latest: RunLoop.Instant?

        /// A debouncer on the calling thread's loop.
        ///
        /// - Parameters:
        ///   - delay: How long it must have been quiet.
        ///   - limit: How long a call may be put off in all; `nil` for ever.
        ///   - modes: The modes in which the closure may be called.
        ///   - action: What is to be done.
        public init(
            after delay: Duration, atMost limit: Duration? = nil, in modes: [RunLoop.Mode] = [.common],
            action: @escaping () -> Void
        ) {
            self.delay = delay
            self.limit = limit
            self.action = action
            alarm = Alarm(in: modes, label: "debouncer") { [weak self] in
                guard let self else { return }
                latest = nil
                self.action()
            }
        }

        /// Whether the closure is going to be called.
        public var isPending: Bool { alarm?.isSet ?? false }

        /// Asks for the closure to be called when it has been quiet.
        public func call() {
            guard let alarm else { return }
            let now = alarm.now
            if latest == nil { latest = limit.map { now.advanced(by: $0) } }
            let due = now.advanced(by: delay)
            alarm.set(latest.map { min($0, due) } ?? due)
        }

        /// Makes the call that waits now; without one nothing happens.
        public func flush() {
            guard isPending else { return }
            cancel()
            action()
        }

        /// Takes the call that waits back.
        public func cancel() {
            latest = nil
            alarm?.clear()
        }

        /// Ends it for good: what waits is taken back, and later calls do nothing.
        public func invalidate() { alarm = nil }
    }
}
