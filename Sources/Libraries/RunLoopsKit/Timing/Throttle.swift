// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Calls a closure at once, and then at most once an interval.
    ///
    /// Further calls during the interval are collapsed into one at its end: the last state is always seen. While no
    /// call is pending, nothing is in the loop.
    ///
    /// It receives its modes when it is made. It works until it is invalidated or released. A pending call keeps the
    /// throttle: a throttle that is released with a pending call makes the call first.
    ///
    /// Thread safety: belongs to the thread that makes it, and to its loop.
    public final class Throttle {
        private let interval: Duration
        private let isTrailing: Bool
        private let action: () -> Void
        private var alarm: Alarm?
        /// When the next call may be made.
        private var free: RunLoop.Instant?

        /// Makes a throttle on the calling thread's loop.
        ///
        /// - Parameters:
        ///   - interval: The minimum time between two calls.
        ///   - isTrailing: Whether further calls during the interval lead to one call at its end, or are dropped.
        ///   - modes: The modes in which the call at the end may be made.
        ///   - action: The closure.
        public init(
            every interval: Duration, isTrailing: Bool = true, in modes: [RunLoop.Mode] = [.common],
            action: @escaping () -> Void
        ) {
            self.interval = interval
            self.isTrailing = isTrailing
            self.action = action
            alarm = Alarm(in: modes, label: "throttle") { [weak self] in self?.run() }
        }

        /// Whether a call waits for the end of the interval.
        public var isPending: Bool { alarm?.isSet ?? false }

        /// Calls the closure now, or at the end of the interval that is under way.
        public func call() {
            alarm?.requireOwn()
            guard let alarm, !alarm.isSet else { return }
            guard let free, alarm.now < free else { return run() }
            if isTrailing { alarm.set(free, keeping: self) }
        }

        /// Cancels the pending call.
        public func cancel() { alarm?.clear() }

        /// Ends the throttle permanently: a pending call is cancelled, and later calls do nothing.
        public func invalidate() {
            alarm?.requireOwn()
            alarm = nil
        }

        private func run() {
            guard let alarm else { return }
            free = alarm.now.advanced(by: interval)
            action()
        }
    }
}
