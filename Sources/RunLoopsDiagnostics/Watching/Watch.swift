// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Reports single callouts that took too long, and runs that have ended.
    ///
    /// For logs. The loop's thread reports an event right after it has happened. A callout that does not return is not
    /// reported.
    ///
    /// ```swift
    /// let watch = RunLoop.Watch(limits: [.timer: .milliseconds(5), .block: .milliseconds(50)]) { event in … }
    /// watch.add(RunLoop.current)
    /// ```
    ///
    /// Thread safety: all members may be used by any thread, except where they say otherwise.
    public final class Watch: Sendable {
        /// Receives one event; called by the loop's thread.
        public typealias Handler = @Sendable (Event) -> Void

        private let group: ListenerGroup<WatchedCallouts>

        /// Watches no loop at first.
        ///
        /// - Parameters:
        ///   - limits: How long callouts of each kind may take; callouts of kinds that are not named may take any time.
        ///   - pause: For how long slow callouts of one kind and label are only counted after one was reported.
        ///   - watchesRuns: Whether the ends of runs are reported.
        ///   - handler: Called by the loop's thread, with no lock held. The loop waits until it returns. That time
        ///     counts for a callout that the event was inside of.
        public init(
            limits: [Trace.Event.Callee: Duration], pause: Duration = .zero, watchesRuns: Bool = true,
            handler: @escaping Handler
        ) {
            let limits = Trace.Event.Callee.allCases.map { limits[$0]?.clampedNanoseconds ?? .max }
            let pause = pause.clampedNanoseconds
            group = ListenerGroup(
                { WatchedCallouts($0, limits: limits, pause: pause, watchesRuns: watchesRuns, handler) },
                whenOver: { _ in })
        }

        deinit { stop() }

        /// Watches a loop from here on.
        ///
        /// Returns whether the loop is watched: not after ``stop()``, not while a `TraceRecorder` has the loop. Adding
        /// a loop twice is the same as adding it once.
        ///
        /// - Precondition: called on the loop's own thread.
        @discardableResult
        public func add(_ loop: RunLoop) -> Bool { group.add(loop) }

        /// Watches every loop that is made from here on.
        public func addNewLoops() { group.addNewLoops() }

        /// Ends the watch.
        ///
        /// A second call does nothing. The watch ends by itself with its life. An event on another thread may still be
        /// reported while this returns.
        public func stop() { _ = group.stop() }
    }
}
