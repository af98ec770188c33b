// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Metrics
internal import CoreMetrics
internal import RunLoops
internal import RunLoopsDiagnostics

/// The metrics of one loop, made once.
struct MetricsOfLoop: Sendable {
    private typealias Cause = RunLoop.Trace.Event.Waking.Cause
    private typealias Kind = RunLoop.Trace.Event.Callee

    private let turns: Counter
    private let wakeUps: [(cause: Cause, counter: Counter)]
    private let callouts: [(kind: Kind, counter: Counter)]
    private let busy: FloatingPointCounter
    private let sleeping: FloatingPointCounter
    private let busyShare: Meter
    private let pending: Meter
    private let lateness: Quantiles
    private let latency: [(kind: Kind, quantiles: Quantiles)]
    private let awake: Quantiles

    init(_ loop: RunLoop.Identity, _ factory: any MetricsFactory) {
        let own = [("loop", loop.description)]
        func counter(_ name: String, _ dimensions: [(String, String)] = []) -> Counter {
            Counter(label: "run_loop_\(name)", dimensions: own + dimensions, factory: factory)
        }
        turns = counter("turns")
        wakeUps = Cause.allCases.map { ($0, counter("wake_ups", [("cause", $0.dimension)])) }
        callouts = Kind.allCases.map { ($0, counter("callouts", [("kind", $0.dimension)])) }
        busy = FloatingPointCounter(label: "run_loop_busy_seconds", dimensions: own, factory: factory)
        sleeping = FloatingPointCounter(label: "run_loop_sleeping_seconds", dimensions: own, factory: factory)
        busyShare = Meter(label: "run_loop_busy_share", dimensions: own, factory: factory)
        pending = Meter(label: "run_loop_pending", dimensions: own, factory: factory)
        lateness = Quantiles("timer_lateness_seconds", own, factory)
        latency = [Kind.source, .block, .descriptor].map { kind in
            (kind, Quantiles("latency_seconds", own + [("kind", kind.dimension)], factory))
        }
        awake = Quantiles("awake_seconds", own, factory)
    }

    func tell(_ report: RunLoop.Metering.Report) {
        let change = report.change
        turns.increment(by: change.turns)
        for (cause, counter) in wakeUps { counter.increment(by: change.wakings[cause] ?? 0) }
        for (kind, counter) in callouts { counter.increment(by: change.callouts[kind] ?? 0) }
        busy.increment(by: max(0, Double(change.busy)) / 1e9)
        sleeping.increment(by: max(0, Double(change.asleep)) / 1e9)
        busyShare.set(change.busyShare)
        pending.set(report.pending)
        lateness.set(change.lateness)
        for (kind, quantiles) in latency { quantiles.set(change.latency[kind] ?? RunLoop.DurationHistogram()) }
        awake.set(change.stretches)
    }
}

/// The quantiles of a histogram, with a meter for each.
///
/// The counts are a histogram already: to replay them into a recorder would take a call for each duration.
private struct Quantiles: Sendable {
    private static let shares = [0.5, 0.9, 0.99, 1]

    private let meters: [(share: Double, meter: Meter)]

    init(_ name: String, _ dimensions: [(String, String)], _ factory: any MetricsFactory) {
        meters = Self.shares.map { share in
            let text = share == 1 ? "1" : "\(share)"
            return (
                share, Meter(label: "run_loop_\(name)", dimensions: dimensions + [("quantile", text)], factory: factory)
            )
        }
    }

    func set(_ histogram: RunLoop.DurationHistogram) {
        for (share, meter) in meters { meter.set(Double(histogram.percentile(share)) / 1e9) }
    }
}

extension RunLoop.Trace.Event.Waking.Cause {
    fileprivate var dimension: String {
        switch self {
        case .wakeUp: "wake_up"
        case .timer: "timer"
        case .descriptor: "descriptor"
        case .mainQueue: "main_queue"
        case .limit: "limit"
        }
    }
}

extension RunLoop.Trace.Event.Callee {
    fileprivate var dimension: String { self == .mainQueue ? "main_queue" : description }
}
#endif
