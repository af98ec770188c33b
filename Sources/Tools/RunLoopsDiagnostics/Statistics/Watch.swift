// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Reports each callout that took too long, and the ends of runs.
    ///
    /// The reports are meant for logs. The loop's thread reports an event right after it has happened. A callout that
    /// never returns is not reported.
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

        /// Makes a watch that has no loops yet.
        ///
        /// - Parameters:
        ///   - limits: The longest time that callouts of each kind may take; kinds without a limit are not reported.
        ///   - pause: The time after a report in which slow callouts of the same kind and label are counted, but not
        ///     reported.
        ///   - watchesRuns: Whether the ends of runs are reported.
        ///   - handler: Called by the loop's thread, with no lock held. The loop waits until the handler returns. If
        ///     the event happened inside a callout, this time counts as time of that callout.
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

        /// Watches a loop from now on.
        ///
        /// Returns whether the loop is watched. It is not watched after ``stop()``, or while a `TraceRecorder` traces
        /// it. Adding a loop twice is the same as adding it once.
        ///
        /// - Precondition: called on the loop's own thread.
        @discardableResult
        public func add(_ loop: RunLoop) -> Bool { subscription.add(loop) }

        /// Watches every loop that is made from now on.
        public func addNewLoops() { subscription.addNewLoops() }

        /// Ends the watch.
        ///
        /// A second call does nothing. The release of the watch stops it too. An event on another thread may still be
        /// reported while this call returns.
        public func stop() { _ = subscription.stop() }
    }
}

extension RunLoop.Watch {
    /// An event that a ``Watch`` reports.
    ///
    /// Thread safety: a value; any thread.
    public enum Event: Sendable {
        /// A callout that took longer than the limit of its kind has returned.
        case slowCallout(SlowCallout)
        /// A run has ended.
        case runEnded(EndedRun)
    }

    /// A callout that took longer than the limit of its kind.
    ///
    /// Thread safety: a value; any thread.
    public struct SlowCallout: Sendable, CustomStringConvertible {
        /// The loop that made the callout.
        public var loop: RunLoop.Identity
        /// The kind.
        public var callee: RunLoop.Trace.Event.Callee
        /// The item's label, or the place where a block was posted.
        public var label: String
        /// Where the item was made, as `Module/File.swift:12`; `nil` for an item of the library itself.
        public var place: String?
        /// How long the callout took, without the sleeps of runs inside it.
        public var length: Duration
        /// The limit of callouts of this kind.
        public var limit: Duration
        /// How long the callout had been ready before it began; `nil` if that is not known.
        public var waited: Duration?
        /// The number of runs that contain the callout.
        public var depth: Int
        /// How many callouts of the same kind and label were left out since the last report of such a callout.
        public var leftOut: Int

        /// The callout in one line of text.
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
        /// The number of runs in progress, including this one.
        public var depth: Int
    }
}

/// Measures each callout and run of one loop.
// Unchecked: what changes belongs to the loop's thread.
final class WatchedCallouts: LoopSubscriber, @unchecked Sendable {
    /// The last report of one kind and label.
    private struct Told {
        var at: Int64
        var leftOut = 0
    }

    /// The maximum number of labels with a report; when it is reached, all are forgotten.
    private static let maxLabels = 256

    private let identity: RunLoop.Identity
    private let state: LoopState
    /// The limits in nanoseconds, by kind.
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
        if told.count >= Self.maxLabels { told = [:] }
        return told.updateValue(Told(at: time), forKey: name)?.leftOut ?? 0
    }
}
