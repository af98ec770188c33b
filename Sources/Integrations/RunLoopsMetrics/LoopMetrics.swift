// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Metrics
public import CoreMetrics
public import RunLoops
public import RunLoopsDiagnostics

/// Reports the activity of run loops as metrics of swift-metrics.
///
/// ```swift
/// let metrics = LoopMetrics(every: .seconds(10))
/// metrics.add(RunLoop.main)
/// metrics.addNewLoops()
/// let watch = try RunLoop.HangWatch { report in metrics.count(report) }
/// ```
///
/// A loop reports when it is about to sleep, at most once an interval, and once more at ``stop()``. Reports need no
/// timer, and wake no sleeping loop: a loop that sleeps for an hour reports after that hour. If an endpoint is asked
/// for metrics, give no interval, and call ``report()`` when the endpoint is asked.
///
/// All names begin with `run_loop_`, all times are in seconds, and each metric has the dimension `loop`: `main`, the
/// name of the loop's thread, or its number. Name your threads, so that the dimension has few values.
///
/// | Metric | Kind | Other dimensions | |
/// |---|---|---|---|
/// | `turns` | counter | | turns begun |
/// | `wake_ups` | counter | `cause` | sleeps ended: `wake_up`, `timer`, `descriptor`, `main_queue`, `limit` |
/// | `callouts` | counter | `kind` | `observer`, `block`, `source`, `descriptor`, `timer`, `main_queue` |
/// | `busy_seconds`, `sleeping_seconds` | counter | | time awake in runs, and asleep |
/// | `busy_share` | meter | | the share of that time awake, since the last report |
/// | `pending` | meter | | blocks and signals that wait to be looked at |
/// | `timer_lateness_seconds` | meter | `quantile` | of timers, after their tolerances, since the last report |
/// | `latency_seconds` | meter | `kind`, `quantile` | how long sources, blocks and descriptors had waited |
/// | `awake_seconds` | meter | `quantile` | stretches from a sleep's end to the next sleep |
/// | `hangs` | counter | `cause` | hangs that have ended: `computing`, `waiting`, `congestion`, `starvation`; see ``count(_:)`` |
/// | `hang_seconds` | timer | `cause` | how long these hangs were |
///
/// The quantiles are 0.5, 0.9, 0.99 and 1, at most an eighth too high; 0 where there was nothing.
///
/// Thread safety: all members may be used by any thread, except where they say otherwise.
public final class LoopMetrics: Sendable {
    private let metering: RunLoop.Metering
    private let factory: any MetricsFactory

    /// Makes metrics, of no loop at first.
    ///
    /// - Parameters:
    ///   - interval: The shortest time between two reports of one loop; `nil` to report only when ``report()`` is
    ///     called.
    ///   - factory: The factory of the metrics. Its handlers are called by the loop's thread, which waits meanwhile, or
    ///     by the caller of ``report()`` or ``stop()``.
    ///
    /// - Precondition: the interval is positive.
    public init(every interval: Duration?, factory: any MetricsFactory = MetricsSystem.factory) {
        self.factory = factory
        metering = RunLoop.Metering(every: interval) { loop in
            let metrics = MetricsOfLoop(loop, factory)
            return { metrics.tell($0) }
        }
    }

    deinit { stop() }

    /// Reports the activity of a loop from now on.
    ///
    /// Returns whether the loop is reported. It is not reported after ``stop()``, or while a `TraceRecorder` traces it.
    /// Adding a loop twice is the same as adding it once.
    ///
    /// - Precondition: called on the loop's own thread.
    @discardableResult
    public func add(_ loop: RunLoop) -> Bool { metering.add(loop) }

    /// Reports the activity of every loop that is made from now on.
    public func addNewLoops() { metering.addNewLoops() }

    /// Reports all loops now, on the calling thread.
    public func report() { metering.report() }

    /// Reports all loops a last time, and ends the metrics.
    ///
    /// A second call does nothing. Metrics that are released end by themselves.
    public func stop() { metering.stop() }

    /// Counts a hang and its duration when the hang has ended.
    ///
    /// Call this with each report of a `HangWatch`.
    public func count(_ hang: RunLoop.HangWatch.Report) {
        guard hang.stage == .ended else { return }
        let dimensions = [("loop", hang.loop.description), ("cause", hang.cause.name)]
        Counter(label: "run_loop_hangs", dimensions: dimensions, factory: factory).increment()
        CoreMetrics.Timer(label: "run_loop_hang_seconds", dimensions: dimensions, factory: factory)
            .recordNanoseconds(Int64(hang.duration / .nanoseconds(1)))
    }
}

extension RunLoop.HangWatch.Cause {
    /// The cause as the value of a dimension, without spaces and details.
    fileprivate var name: String {
        switch self {
        case .computing: "computing"
        case .waiting: "waiting"
        case .congestion: "congestion"
        case .starvation: "starvation"
        case .tasksInRing: "tasks_in_ring"
        }
    }
}
#else
public import RunLoops
public import RunLoopsDiagnostics

// With the members of the real one: without them type checking would fail first, with an error that does not name the
// trait. What only the missing package could name is generic.
/// Reports the activity of loops to swift-metrics; with the trait `Metrics` alone.
@available(
    *, unavailable,
    message: "Enable the trait Metrics of swift-run-loops: .package(url: …, traits: [\"Metrics\"])"
)
public final class LoopMetrics: Sendable {
    /// Unavailable without the package trait `Metrics`.
    public init(every interval: Duration?) { isNotCalled() }

    /// Unavailable without the package trait `Metrics`.
    public init<Factory>(every interval: Duration?, factory: Factory) { isNotCalled() }

    /// Unavailable without the package trait `Metrics`.
    @discardableResult
    public func add(_ loop: RunLoop) -> Bool { isNotCalled() }

    /// Unavailable without the package trait `Metrics`.
    public func addNewLoops() { isNotCalled() }

    /// Unavailable without the package trait `Metrics`.
    public func report() { isNotCalled() }

    /// Unavailable without the package trait `Metrics`.
    public func stop() { isNotCalled() }

    /// Unavailable without the package trait `Metrics`.
    public func count(_ hang: RunLoop.HangWatch.Report) { isNotCalled() }
}

private func isNotCalled() -> Never { fatalError("The compiler refuses each call of this.") }
#endif
