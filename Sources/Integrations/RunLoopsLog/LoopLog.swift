// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Log
public import Logging
public import RunLoops
public import RunLoopsDiagnostics

/// Logs slow callouts, ends of runs and hangs of run loops with swift-log, with metadata.
///
/// ```swift
/// let log = LoopLog(Logger(label: "loops"), limits: .frame)
/// log.add(RunLoop.main)
/// log.addNewLoops()
/// ```
///
/// Callouts that took longer than the limit of their kind are logged as warnings, the ends of runs as debug messages.
/// The loop's thread writes each line, right after the event that the line reports.
///
/// Log hangs in the handler of the watch:
///
/// ```swift
/// let watch = try RunLoop.HangWatch { report in log.log(report) }
/// ```
///
/// | Key | In | |
/// |---|---|---|
/// | `loop` | all | `main`, the name of the loop's thread, or its number |
/// | `thread` | all | the kernel's number of the thread |
/// | `kind` | callouts, hangs | `observer`, `block`, `source`, `descriptor`, `timer`, `main queue`, `job` |
/// | `label`, `place` | callouts, hangs | the item's label; where it was made, as `Module/File.swift:12` |
/// | `duration_ms` | all | how long, in milliseconds; of callouts without the sleeps of runs inside them |
/// | `limit_ms` | callouts, hangs | how long the callout or the stretch may take |
/// | `left_out` | callouts, hangs | how many of the same kind and label, or stack, had no line since the last line |
/// | `waited_ms` | callouts | how long the callout had been wanted before, where that is known |
/// | `depth`, `mode` | all, runs and hangs | how many runs it was inside of; the innermost run's mode |
/// | `result` | runs | what the run ended with |
/// | `hang`, `cause`, `stack` | hangs | the hang's number, which its two lines share; why; where, innermost first |
///
/// Thread safety: all members may be used by any thread, except where they say otherwise.
public final class LoopLog: Sendable {
    /// The longest time that callouts of each kind may take; kinds without a limit are not logged.
    public struct Limits: Sendable, ExpressibleByDictionaryLiteral {
        /// The limit of each kind.
        public var byKind: [RunLoop.Trace.Event.Callee: Duration]

        /// Makes limits from a dictionary literal.
        public init(dictionaryLiteral limits: (RunLoop.Trace.Event.Callee, Duration)...) {
            byKind = Dictionary(limits) { $1 }
        }

        /// Returns the same limit for all kinds.
        public static func all(_ limit: Duration) -> Limits {
            var limits: Limits = [:]
            for kind in RunLoop.Trace.Event.Callee.allCases { limits.byKind[kind] = limit }
            return limits
        }

        /// A limit of 100 ms for all kinds: longer delays are noticed by users.
        public static var noticeable: Limits { .all(.milliseconds(100)) }
        /// A limit of 16.7 ms for all kinds: the duration of a frame of a display.
        public static var frame: Limits { .all(.microseconds(16_667)) }
    }

    private let logger: Logger
    private let watch: RunLoop.Watch

    /// Makes a log, of no loop at first.
    ///
    /// - Parameters:
    ///   - logger: The logger for the lines. Lines below the logger's level are not created.
    ///   - limits: The longest time that callouts may take.
    ///   - pause: The time after a line in which slow callouts of the same kind and label are counted, but not logged.
    ///   - slowLevel: The level of lines about slow callouts.
    ///   - runLevel: The level of lines about ends of runs; `nil` for no such lines.
    public init(
        _ logger: Logger, limits: Limits = .noticeable, pause: Duration = .seconds(1),
        slowLevel: Logger.Level = .warning, runLevel: Logger.Level? = .debug
    ) {
        self.logger = logger
        // The lines that the logger leaves out now it always leaves out: its level is part of a value.
        let watchesRuns = runLevel.map { $0 >= logger.logLevel } ?? false
        let limits = slowLevel >= logger.logLevel ? limits.byKind : [:]
        watch = RunLoop.Watch(limits: limits, pause: pause, watchesRuns: watchesRuns) { event in
            switch event {
            case .slowCallout(let callout):
                logger.log(level: slowLevel, "A callout took long", metadata: callout.metadata)
            case .runEnded(let run):
                logger.log(level: runLevel ?? .debug, "A run has ended", metadata: run.metadata)
            }
        }
    }

    deinit { stop() }

    /// Logs the events of a loop from now on.
    ///
    /// Returns whether the loop is logged. It is not logged after ``stop()``, or while a `TraceRecorder` traces it.
    /// Adding a loop twice is the same as adding it once.
    ///
    /// - Precondition: called on the loop's own thread.
    @discardableResult
    public func add(_ loop: RunLoop) -> Bool { watch.add(loop) }

    /// Logs the events of every loop that is made from now on.
    public func addNewLoops() { watch.addNewLoops() }

    /// Ends the log.
    ///
    /// A second call does nothing. A log that is released ends by itself.
    public func stop() { watch.stop() }

    /// Logs a hang: a warning when it begins, an error when it has ended.
    ///
    /// Call this with each report of a `HangWatch`.
    public func log(_ hang: RunLoop.HangWatch.Report) {
        switch hang.stage {
        case .began: logger.warning("A run loop hangs", metadata: hang.metadata)
        case .ended: logger.error("A run loop hung", metadata: hang.metadata)
        }
    }
}

extension RunLoop.HangWatch.Report {
    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "loop": "\(loop)", "thread": "\(loop.thread)", "hang": "\(number)", "cause": "\(cause)",
            "duration_ms": duration.milliseconds, "limit_ms": limit.milliseconds, "depth": "\(depth)",
        ]
        if let mode { metadata["mode"] = "\(mode)" }
        if let callout {
            metadata["kind"] = "\(callout.kind)"
            metadata["label"] = "\(callout.label)"
            if let place = callout.place { metadata["place"] = "\(place)" }
        }
        if !stack.isEmpty { metadata["stack"] = .array(stack.map { "\($0)" }) }
        if leftOut > 0 { metadata["left_out"] = "\(leftOut)" }
        return metadata
    }
}

extension RunLoop.Watch.SlowCallout {
    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "loop": "\(loop)", "thread": "\(loop.thread)", "kind": "\(callee)", "label": "\(label)",
            "duration_ms": length.milliseconds, "limit_ms": limit.milliseconds, "depth": "\(depth)",
        ]
        if let place { metadata["place"] = "\(place)" }
        if leftOut > 0 { metadata["left_out"] = "\(leftOut)" }
        if let waited { metadata["waited_ms"] = waited.milliseconds }
        return metadata
    }
}

extension RunLoop.Watch.EndedRun {
    fileprivate var metadata: Logger.Metadata {
        [
            "loop": "\(loop)", "thread": "\(loop.thread)", "mode": "\(mode)", "result": "\(result)",
            "duration_ms": length.milliseconds, "depth": "\(depth)",
        ]
    }
}

extension Duration {
    /// The duration in milliseconds with three decimals.
    fileprivate var milliseconds: Logger.MetadataValue {
        let microseconds = Int64(self / .microseconds(1))
        let fraction = String(microseconds.magnitude % 1000)
        let zeros = String(repeating: "0", count: 3 - fraction.count)
        return "\(microseconds < 0 ? "-" : "")\(microseconds.magnitude / 1000).\(zeros)\(fraction)"
    }
}
#else
public import RunLoops
public import RunLoopsDiagnostics

// With the members of the real one: without them type checking would fail first, with an error that does not name the
// trait. What only the missing package could name is generic.
/// Writes the activity of loops to swift-log; with the trait `Log` alone.
@available(
    *, unavailable,
    message: "Enable the trait Log of swift-run-loops: .package(url: …, traits: [\"Log\"])"
)
public final class LoopLog: Sendable {
    /// Unavailable without the package trait `Log`.
    public struct Limits: Sendable, ExpressibleByDictionaryLiteral {
        /// Unavailable without the package trait `Log`.
        public var byKind: [RunLoop.Trace.Event.Callee: Duration]

        /// Unavailable without the package trait `Log`.
        public init(dictionaryLiteral limits: (RunLoop.Trace.Event.Callee, Duration)...) { isNotCalled() }

        /// Unavailable without the package trait `Log`.
        public static func all(_ limit: Duration) -> Limits { isNotCalled() }
        /// Unavailable without the package trait `Log`.
        public static var noticeable: Limits { isNotCalled() }
        /// Unavailable without the package trait `Log`.
        public static var frame: Limits { isNotCalled() }
    }

    /// The levels of swift-log's `Logger`.
    public enum Level: Sendable {
        /// As in swift-log.
        case trace, debug, info, notice, warning, error, critical
    }

    /// Unavailable without the package trait `Log`.
    public init<Logger>(
        _ logger: Logger, limits: Limits = .noticeable, pause: Duration = .seconds(1), slowLevel: Level = .warning,
        runLevel: Level? = .debug
    ) { isNotCalled() }

    /// Unavailable without the package trait `Log`.
    @discardableResult
    public func add(_ loop: RunLoop) -> Bool { isNotCalled() }

    /// Unavailable without the package trait `Log`.
    public func addNewLoops() { isNotCalled() }

    /// Unavailable without the package trait `Log`.
    public func stop() { isNotCalled() }

    /// Unavailable without the package trait `Log`.
    public func log(_ hang: RunLoop.HangWatch.Report) { isNotCalled() }
}

private func isNotCalled() -> Never { fatalError("The compiler refuses each call of this.") }
#endif
