public import RunLoops

/// Tells of each callout that has taken longer than the limit of its kind, as soon as it has returned.
///
/// ```swift
/// let watch = SlowCalloutWatch { callout in print(callout) }
/// watch.add(.current)
/// ```
///
/// Cheap enough to be always on: two reads of the clock a callout, and no lock. What callouts with the same label do is told
/// once in a while, and counted in between.
///
/// Thread safety: all members may be used by any thread, except where they say otherwise.
public final class SlowCalloutWatch: Sendable {
    /// How long callouts of each kind may take.
    public struct Limits: Sendable {
        // By the kinds' numbers; `Int64.max` for none.
        var nanoseconds: [Int64]

        /// The same limit for all kinds; `nil` for none.
        public init(_ limit: Duration? = .milliseconds(100)) {
            nanoseconds = Array(
                repeating: limit?.clampedNanoseconds ?? .max, count: TraceEvent.Callee.allCases.count)
        }

        /// The limit of one kind; `nil` for none.
        public subscript(kind: TraceEvent.Callee) -> Duration? {
            get {
                let limit = nanoseconds[Int(kind.rawValue)]
                return limit == .max ? nil : .nanoseconds(limit)
            }
            set { nanoseconds[Int(kind.rawValue)] = newValue?.clampedNanoseconds ?? .max }
        }
    }

    private let limits: Limits
    private let pause: Int64
    private let handler: @Sendable (SlowCallout) -> Void
    private let state = State()

    /// Guarded by its lock.
    private final class State: @unchecked Sendable {
        let lock = Lock()
        @exclusivity(unchecked) var watched: [(announcer: LoopAnnouncer, listener: SlowCalloutListener)] = []
    }

    /// Makes a watch, of no loop at first.
    ///
    /// - Parameters:
    ///   - limits: How long callouts may take. What a run inside one sleeps does not count.
    ///   - pause: For how long callouts with the same label are only counted after one was told of.
    ///   - handler: Is told on the loop's thread, right after the callout has returned.
    public init(
        limits: Limits = Limits(), pause: Duration = .seconds(1),
        handler: @escaping @Sendable (SlowCallout) -> Void
    ) {
        self.limits = limits
        self.pause = pause.clampedNanoseconds
        self.handler = handler
    }

    deinit { stop() }

    /// Watches a loop from here on.
    ///
    /// Whether it is watched: not while a `TraceRecorder` has the loop.
    ///
    /// Precondition: called on the loop's own thread.
    @discardableResult
    public func add(_ loop: RunLoop) -> Bool {
        require(
            loop.engine.threadID == SystemCalls.threadID,
            "A watch was given the loop of another thread: call add(_:) on the loop's own thread.")
        let listener = SlowCalloutListener(limits, pause, handler)
        guard let announcer = LoopAnnouncer.add(listener, to: loop.engine) else { return false }
        state.lock.withLock { state.watched.append((announcer, listener)) }
        return true
    }

    /// Ends the watch of all its loops.
    ///
    /// A second call does nothing. Ends by itself with the watch's life.
    public func stop() {
        let watched = state.lock.withLock {
            defer { state.watched = [] }
            return state.watched
        }
        for (announcer, listener) in watched { announcer.remove(listener) }
    }
}

/// A callout that has taken too long.
///
/// Thread safety: a value; any thread.
public struct SlowCallout: Sendable, Equatable, CustomStringConvertible {
    /// Its kind.
    public var kind: TraceEvent.Callee
    /// The item's label; the place where it was made, if it has none.
    public var label: String
    /// Where it was made, as `Module/File.swift:12`.
    public var place: String?
    /// How long it took, without what runs inside it slept.
    public var duration: Duration
    /// The limit that was passed.
    public var limit: Duration
    /// How many runs it was inside of.
    public var depth: Int
    /// How many with the same label have not been told of since the last that was.
    public var leftOut: Int

    /// One line.
    public var description: String {
        let made = place.flatMap { $0 == label ? nil : ", made at \($0)" } ?? ""
        let more = leftOut > 0 ? "; \(leftOut) more since the last" : ""
        return "slow \(kind) \(label)\(made): \(duration.inMilliseconds), limit \(limit.inMilliseconds)\(more)"
    }
}
