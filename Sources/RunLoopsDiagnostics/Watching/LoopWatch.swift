public import RunLoops

/// Tells of single callouts that took too long, and of runs that have ended.
///
/// For logs. What is told is told by the loop's thread, right after it has happened: a callout that does not return is not.
///
/// ```swift
/// let watch = LoopWatch(limits: [.timer: .milliseconds(5), .block: .milliseconds(50)]) { event in … }
/// watch.add(RunLoop.current)
/// ```
///
/// Thread safety: all members may be used by any thread, except where they say otherwise.
public final class LoopWatch: Sendable {
    /// What is told.
    public enum Event: Sendable {
        /// A callout has returned that took longer than its kind may.
        case slowCallout(SlowCallout)
        /// A run has ended.
        case runEnded(EndedRun)
    }

    /// A callout that took longer than its kind may.
    public struct SlowCallout: Sendable, CustomStringConvertible {
        /// Which loop called it.
        public var loop: LoopIdentity
        /// The kind.
        public var callee: TraceEvent.Callee
        /// The item's label, or the place where a block was posted.
        public var label: String
        /// Where it was made, as `Module/File.swift:12`; `nil` where the library has made it.
        public var place: String?
        /// How long it took, without the sleeps of runs inside it.
        public var length: Duration
        /// How long it may take.
        public var limit: Duration
        /// How long it had been wanted before; `nil` where nobody knows.
        public var waited: Duration?
        /// How many runs it was inside of.
        public var depth: Int
        /// How many of the same kind and label have not been told of since the last that was.
        public var leftOut: Int

        /// One line.
        public var description: String {
            let made = place.flatMap { $0 == label ? nil : ", made at \($0)" } ?? ""
            let more = leftOut > 0 ? "; \(leftOut) more since the last" : ""
            return "slow \(callee) \(label)\(made): \(length.inMilliseconds), limit \(limit.inMilliseconds)\(more)"
        }
    }

    /// A run that has ended.
    public struct EndedRun: Sendable {
        /// Which loop ran.
        public var loop: LoopIdentity
        /// The mode.
        public var mode: RunLoop.Mode
        /// What it ended with.
        public var result: RunLoop.RunResult
        /// How long it took, sleeps included.
        public var length: Duration
        /// How many runs it was inside of; itself counts as one.
        public var depth: Int
    }

    /// What is told of one event; called by the loop's thread.
    public typealias Handler = @Sendable (Event) -> Void

    private let group: ListenerGroup<WatchedCallouts>

    /// Watches no loop at first.
    ///
    /// - Parameters:
    ///   - limits: How long callouts of each kind may take; those of kinds that are not named may take any time.
    ///   - pause: For how long slow callouts of one kind and label are only counted after one was told of.
    ///   - watchesRuns: Whether the ends of runs are told.
    ///   - handler: Called by the loop's thread, with no lock held. As long as it takes, the loop waits; that counts for a callout
    ///     that the event was inside of.
    public init(
        limits: [TraceEvent.Callee: Duration], pause: Duration = .zero, watchesRuns: Bool = true,
        handler: @escaping Handler
    ) {
        let limits = TraceEvent.Callee.allCases.map { limits[$0]?.clampedNanoseconds ?? .max }
        let pause = pause.clampedNanoseconds
        group = ListenerGroup(
            { WatchedCallouts($0, limits: limits, pause: pause, watchesRuns: watchesRuns, handler) },
            whenOver: { _ in })
    }

    deinit { stop() }

    /// Watches a loop from here on.
    ///
    /// Whether it does: not after ``stop()``, not while a `TraceRecorder` has the loop. Adding twice is once.
    ///
    /// Precondition: called on the loop's own thread.
    @discardableResult
    public func add(_ loop: RunLoop) -> Bool { group.add(loop) }

    /// Watches every loop that is made from here on.
    public func addNewLoops() { group.addNewLoops() }

    /// Watches no more.
    ///
    /// A second call does nothing. Ends by itself with the watch's life. An event on another thread may still be told while this returns.
    public func stop() { _ = group.stop() }
}
