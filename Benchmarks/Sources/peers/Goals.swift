/// What ours is to reach, as the project's plan puts it; the figures are those of the table.
struct Goal: Sendable {
    enum Measure: Sendable {
        /// At most so many times what these loops took (the best of them).
        case times(Double, [String])
        /// At most so many times what ours took in another run.
        case timesOwn(Double, String)
        case atMost(Double)
        /// Not fewer fires than grid points, but for one at the end.
        case allGridPoints
    }

    let run: String
    let metric: String
    let measure: Measure

    init(_ run: String, _ metric: String, _ measure: Measure) {
        self.run = run
        self.metric = metric
        self.measure = measure
    }

    static let all: [Goal] = [
        Goal("W1 round trip, one CPU", "ns", .times(1, ["raw"])),
        Goal("W1 round trip, one CPU", "ns", .times(1, ["libuv", "libev", "libevent", "GLib", "NIO", "CFRunLoop"])),
        Goal("W2 post", "ns", .times(0.9, ["raw"])),
        Goal("W2 post", "ns", .times(0.9, ["libuv"])),
        Goal("W2b post to itself", "ns", .times(1, ["libuv"])),
        Goal("W3 turn", "ns", .times(1.1, ["raw"])),
        Goal("W4 100,000 out,", "churn_ns", .times(1, ["raw"])),
        Goal("W4 100,000 out,", "churn_ns", .times(1, ["libev"])),
        Goal("W4 100,000 out,", "add_ns", .times(2, ["libev"])),
        Goal("W4 100,000 out,", "cancel_ns", .times(2, ["libev"])),
        Goal("W4 100,000 out,", "churn_ns", .timesOwn(3, "W4 1,000 out,")),
        Goal("W5 10,000,", "cpu_ns", .times(1, ["raw"])),
        Goal("W5 10,000,", "late_p99_us", .times(1, ["NIO"])),
        Goal("W5 10,000, 1 ms tolerance,", "cpu_ns", .times(1.1, ["libev"])),
        Goal("W5 100,000,", "late_p99_us", .times(1.2, ["raw"])),
        Goal("W6 1 ms repeat,", "fires", .allGridPoints),
        Goal("W6 1 ms repeat,", "error_p50_us", .times(1, ["raw"])),
        Goal("W6 1 ms repeat,", "cpu_ns", .times(1.05, ["raw"])),
        Goal("W6b chain,", "late_p50_us", .times(1, ["NIO"])),
        Goal("W7 100 descriptors", "ns", .times(1, ["libuv"])),
        Goal("W7 1,000 descriptors", "ns", .times(1, ["libuv"])),
        Goal("W8 idle,", "wakeups", .atMost(0)),
        Goal("W8 idle,", "cpu_us", .atMost(0)),
        Goal("W9 a timer", "bytes", .atMost(160)),
        Goal("W9 a descriptor", "bytes", .atMost(200)),
        Goal("W10 start,", "wall_ms", .times(1.2, ["empty Swift"])),
        Goal("W10 start,", "wall_ms", .times(1.2, ["empty Swift + 1 ms"])),
        Goal("W10 start, static,", "wall_ms", .times(1.2, ["empty Swift"])),
        Goal("W10 start, static,", "wall_ms", .times(1.2, ["empty Swift + 1 ms"])),
        Goal("S wake-up round trip", "calls", .atMost(4)),
        Goal("S descriptor event", "calls", .atMost(3)),
        Goal("S 1 ms timer", "calls", .atMost(1)),
    ]

    /// What was asked for and what came out; nil if there are no figures for it.
    func judge(_ comparisons: [Comparison]) -> (asked: String, got: String, isReached: Bool)? {
        guard let own = find(comparisons, run, metric), let ours = own.ours?.value else { return nil }
        switch measure {
        case .atMost(let most):
            return ("≤ \(Figure.short(most))", Figure.short(ours), ours <= most * 1.01)
        case .times(let factor, let names):
            let others = own.figures.filter { names.contains($0.peer.name) }
            guard let best = others.min(by: { $0.figure.value < $1.figure.value }) else { return nil }
            let asked =
                "≤ \(Figure.short(factor)) × \(names.count > 1 ? "every peer (\(best.peer.name))" : best.peer.name)"
            return (asked, "\(Figure.ratio(ours, best.figure.value)) ×", ours <= factor * best.figure.value)
        case .timesOwn(let factor, let run):
            guard let other = find(comparisons, run, metric)?.ours?.value else { return nil }
            return (
                "≤ \(Figure.short(factor)) × ours, \(run)", "\(Figure.ratio(ours, other)) ×", ours <= factor * other
            )
        case .allGridPoints:
            guard let points = find(comparisons, run, "points")?.ours?.value else { return nil }
            return ("all of \(Figure.short(points)) served or skipped", Figure.short(ours), ours >= points * 0.99)
        }
    }

    private func find(_ comparisons: [Comparison], _ run: String, _ metric: String) -> Comparison? {
        comparisons.first { $0.run.title == run && $0.row.metric == metric }
    }
}
