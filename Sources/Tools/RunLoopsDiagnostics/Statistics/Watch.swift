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

        private let subscription: Subscription<WatchedCallouts>

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
            subscription = Subscription {
                WatchedCallouts($0, $1, limits: limits, pause: pause, watchesRuns: watchesRuns, handler)
            }
        }

        deinit { stop() }

        /// Watches a loop from here on.
        ///
        /// Returns whether the loop is watched: not after ``stop()``, not while a `TraceRecorder` has the loop. Adding
        /// a loop twice is the same as adding it once.
        ///
        /// - Precondition: called on the loop's own thread.
        @discardableResult
        public func add(_ loop: RunLoop) -> Bool { subscription.add(loop) }

        /// Watches every loop that is made from here on.
        public func addNewLoops() { subscription.addNewLoops() }

        /// Ends the watch.
        ///
        /// A second call does nothing. The watch ends by itself with its life. An event on another thread may still be
        /// reported while this returns.
        public func stop() { _ = subscription.stop() }
    }
}

extension RunLoop.Watch {
    /// An event that a ``Watch`` reports.
    ///
    /// Thread safety: a value; any thread.
    public enum Event: Sendable {
        /// A callout that took longer than its kind may has returned.
        case slowCallout(SlowCallout)
        /// A run has ended.
        case runEnded(EndedRun)
    }

    /// A callout that took longer than its kind may.
    ///
    /// Thread safety: a value; any thread.
    public struct SlowCallout: Sendable, CustomStringConvertible {
        /// The loop that made the callout.
        public var loop: RunLoop.Identity
        /// The kind.
        public var callee: RunLoop.Trace.Event.Callee
        /// The item's label, or the place where a block was posted.
        public var label: String
        /// Where the item was made, as `Module/File.swift:12`; `nil` where the library has made the item.
        public var place: String?
        /// How long the callout took, without the sleeps of runs inside it.
        public var length: Duration
        /// How long the callout may take.
        public var limit: Duration
        /// How long the callout had been wanted before; `nil` where this is not known.
        public var waited: Duration?
        /// How many runs it was inside of.
        public var depth: Int
        /// How many callouts of the same kind and label were left out since the last report of such a callout.
        public var leftOut: Int

        /// One line.
        public var description: String {
            let made = place.flatMap { $0 == label ? nil : ", made at \($0)" } ?? ""
            let more = leftOut > 0 ? "; \(leftOut) more since the last" : ""
            return "slow \(callee) \(label)\(made): \(length.inMilliseconds), limit \(limit.inMilliseconds)\(more)"
        }
    }

    /// A run that has ended.
    ///
    /// Thread safety: a value; any thread.
    public struct EndedRun: Sendable {
        /// The loop that ran.
        public var loop: RunLoop.Identity
        /// The mode.
        public var mode: RunLoop.Mode
        /// The result of the run.
        public var result: RunLoop.RunResult
        /// How long the run took, sleeps included.
        public var length: Duration
        /// How many runs were in progress, with this run itself.
        public var depth: Int
    }
}

/// Looks at the length of each callout and run of one loop.
// Unchecked: what changes belongs to the loop's thread.
final class WatchedCallouts: LoopSubscriber, @unchecked Sendable {
    /// The reports of one kind and label.
    private struct Told {
        var at: Int64
        var leftOut = 0
    }

    /// More labels than this are forgotten all at once.
    private static let mostLabels = 256

    private let identity: RunLoop.Identity
    private let state: LoopState
    /// In nanoseconds, by kind.
    private let limits: [Int64]
    private let pause: Int64
    private let watchesRuns: Bool
    private let handler: RunLoop.Watch.Handler

    // The loop's thread.
    /// The runs in progress that began while they were watched.
    @exclusivity(unchecked) private var runs: [(mode: RunLoop.Mode, since: Int64)] = []
    @exclusivity(unchecked) private var told: [String: Told] = [:]

    init(
        _ loop: RunLoop, _ state: LoopState, limits: [Int64], pause: Int64, watchesRuns: Bool,
        _ handler: @escaping RunLoop.Watch.Handler
    ) {
        identity = RunLoop.Identity(thread: loop.threadID)
        self.state = state
        self.limits = limits
        self.pause = pause
        self.watchesRuns = watchesRuns
        self.handler = handler
        runs.reserveCapacity(16)
    }

    func hear(_ event: LoopEvent, at time: Int64, depth: UInt16) {
        switch event {
        case .runBegins(let mode): runs.append((mode, time))
        case .returns:
            // The watch may have come in the middle of a callout.
            guard let frame = state.innermost else { return }
            let length = state.length(of: frame, at: time)
            if length > limits[Int(frame.callee.rawValue)] { tell(frame, length, time, depth) }
        case .runEnds(let result):
            guard let (mode, since) = runs.popLast(), watchesRuns else { return }
            let ended = RunLoop.Watch.EndedRun(
                loop: identity, mode: mode, result: result, length: .nanoseconds(time - since), depth: Int(depth))
            handler(.runEnded(ended))
        case .passes, .calls, .wanted, .sleeps, .wakes: break
        }
    }

    @inline(never)
    private func tell(_ frame: LoopState.Frame, _ length: Int64, _ time: Int64, _ depth: UInt16) {
        let label = frame.label?.text ?? ""
        guard let leftOut = leftOut("\(frame.callee) \(label)", time) else { return }
        let slow = RunLoop.Watch.SlowCallout(
            loop: identity, callee: frame.callee, label: label, place: frame.label?.location,
            length: .nanoseconds(length),
            limit: .nanoseconds(limits[Int(frame.callee.rawValue)]),
            waited: frame.wanted == 0 ? nil : .nanoseconds(max(0, frame.since - frame.wanted)), depth: Int(depth),
            leftOut: leftOut)
        handler(.slowCallout(slow))
    }

    /// How many callouts of its kind were left out since the last reported callout; `nil` if this one is left out too.
    private func leftOut(_ name: String, _ time: Int64) -> Int? {
        if pause == 0 { return 0 }
        if let last = told[name], time - last.at < pause {
            told[name]?.leftOut += 1
            return nil
        }
        if told.count >= Self.mostLabels { told = [:] }
        return told.updateValue(Told(at: time), forKey: name)?.leftOut ?? 0
    }
}
