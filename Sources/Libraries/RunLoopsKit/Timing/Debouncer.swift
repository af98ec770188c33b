// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Calls a closure once things have been quiet for a while.
    ///
    /// Each ``call()`` puts the closure off again. Use it for work that should be done once after the last of many
    /// changes, such as a search while somebody types. While nothing is pending, nothing is in the loop.
    ///
    /// It receives its modes when it is made. It works until it is invalidated or released.
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

        /// Makes the pending call now; without a pending call nothing happens.
        public func flush() {
            guard isPending else { return }
            cancel()
            action()
        }

        /// Takes the pending call back.
        public func cancel() {
            latest = nil
            alarm?.clear()
        }

        /// Ends it for good: a pending call is taken back, and later calls do nothing.
        public func invalidate() { alarm = nil }
    }
}
