// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Calls a closure when ``call()`` has not been called for a while.
    ///
    /// Each ``call()`` postpones the closure again. Use it for work that should be done once after the last of many
    /// changes, such as a search while somebody types. While nothing is pending, nothing is in the loop.
    ///
    /// It receives its modes when it is made. It works until it is invalidated or released. A pending call keeps the
    /// debouncer: a debouncer that is released with a pending call makes the call first.
    ///
    /// Thread safety: belongs to the thread that makes it, and to its loop.
    public final class Debouncer {
        private let delay: Duration
        private let limit: Duration?
        private let action: () -> Void
        private var alarm: Alarm?
        /// The latest instant of the pending call.
        private var latest: RunLoop.Instant?

        /// Makes a debouncer on the calling thread's loop.
        ///
        /// - Parameters:
        ///   - delay: The time without a call after which the closure is called.
        ///   - limit: The maximum time that a call may be postponed; `nil` for no limit.
        ///   - modes: The modes in which the closure may be called.
        ///   - action: The closure.
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

        /// Whether a call of the closure is pending.
        public var isPending: Bool { alarm?.isSet ?? false }

        /// Postpones the closure until no call has followed for the delay.
        public func call() {
            guard let alarm else { return }
            alarm.requireOwn()
            let now = alarm.now
            if latest == nil { latest = limit.map { now.advanced(by: $0) } }
            let due = now.advanced(by: delay)
            alarm.set(latest.map { min($0, due) } ?? due, keeping: self)
        }

        /// Makes the pending call now; without a pending call nothing happens.
        public func flush() {
            alarm?.requireOwn()
            guard isPending else { return }
            cancel()
            action()
        }

        /// Cancels the pending call.
        public func cancel() {
            alarm?.requireOwn()
            latest = nil
            alarm?.clear()
        }

        /// Ends the debouncer permanently: a pending call is cancelled, and later calls do nothing.
        public func invalidate() {
            alarm?.requireOwn()
            alarm = nil
        }
    }
}
