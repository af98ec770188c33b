// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Calls a closure when ``feed()`` has not been called for too long.
    ///
    /// ``feed()`` reports that the watched activity is alive, and costs one read of the clock: the timer is moved when
    /// it fires, not at each feed. So a busy connection that is watched costs one wake-up for each limit. The watchdog
    /// belongs to the loop: it notices that feeds stop coming, but not that its own thread hangs.
    ///
    /// It receives its modes when it is made. It works until it is invalidated or released: keep it in a property of
    /// the object that it watches. Its release ends the watch; `runloop doctor` reports a watchdog that is released right
    /// after its first feed.
    ///
    /// Thread safety: belongs to the thread that makes it, and to its loop.
    public final class WatchdogTimer {
        private let limit: Duration
        private let action: () -> Void
        private var alarm: Alarm?
        private var lastFed: RunLoop.Instant?
        /// The instant of the first feed, at which the watch began.
        private var firstFed: RunLoop.Instant?

        /// Makes a watchdog on the calling thread's loop; the watch begins with the first ``feed()``.
        ///
        /// - Parameters:
        ///   - limit: The maximum time between two feeds.
        ///   - modes: The modes in which the closure may be called.
        ///   - action: Called once; the next feed starts the watch anew.
        public init(limit: Duration, in modes: [RunLoop.Mode] = [.common], action: @escaping () -> Void) {
            self.limit = limit
            self.action = action
            alarm = Alarm(in: modes, label: "watchdog") { [weak self] in self?.look() }
        }

        deinit {
            guard let alarm, alarm.isSet, let firstFed, firstFed == lastFed else { return }
            if firstFed.duration(to: alarm.now) < .milliseconds(1) { alarm.reportRelease(of: "watchdog timer") }
        }

        /// Whether the watchdog waits for the next feed.
        public var isRunning: Bool { alarm?.isSet ?? false }

        /// Reports that the activity is alive, and starts the watch if none is under way.
        public func feed() {
            guard let alarm else { return }
            alarm.requireOwn()
            let now = alarm.now
            lastFed = now
            if alarm.isSet { return }
            firstFed = now
            alarm.set(now.advanced(by: limit))
        }

        /// Ends the watch that is under way; the next feed begins a new one.
        public func cancel() { alarm?.clear() }

        /// Ends the watchdog permanently: later feeds do nothing.
        public func invalidate() {
            alarm?.requireOwn()
            alarm = nil
        }

        private func look() {
            guard let alarm, let lastFed else { return }
            let due = lastFed.advanced(by: limit)
            if alarm.now < due { alarm.set(due) } else { action() }
        }
    }
}
