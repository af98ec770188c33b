// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The goals for this package's loop, as the project's plan puts them; the table has the figures.
struct Goal: Sendable {
    enum Measure: Sendable {
        /// At most so many times what these loops took (the best of them).
        case times(Double, [String])
        case atMost(Double)
        /// Not fewer fires than grid points, except for one at the end.
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

    private static let libraries = Peer.all.filter { !$0.isLimit && $0.name != Peer.ours.name }.map(\.name)
    /// Dispatch's two queues may share a thread, which is no wake-up.
    private static let wakers = libraries.filter { $0 != "dispatch" }

    static let all: [Goal] = [
        Goal("W1 round trip, one CPU", "ns", .times(0.85, wakers)),
        Goal("W2 post", "ns", .times(1.3, ["libuv"])),
        Goal("W2b post to itself", "ns", .times(1, ["libuv"])),
        Goal("W2b of one object", "ns", .times(1, ["libuv"])),
        Goal("W3 turn", "ns", .times(1, ["libuv"])),
        Goal("W3 with a descriptor", "ns", .times(1.1, ["libuv"])),
        Goal("W4 10,000 out,", "churn_ns", .times(2.2, ["libuv"])),
        Goal("W4 100,000 out,", "churn_ns", .times(1.2, ["libuv"])),
        Goal("W4 re-arm 10,000 out", "restart_ns", .times(1.2, ["libuv"])),
        Goal("W4 re-arm 100,000 out", "restart_ns", .times(0.8, ["libuv"])),
        Goal("W4 as written 10,000 out", "churn_ns", .times(1, libraries)),
        Goal("W4 as written 100,000 out", "churn_ns", .times(1, libraries)),
        Goal("W5 10,000,", "cpu_ns", .times(1.1, ["raw slack"])),
        Goal("W5 10,000,", "late_p99_us", .times(1.5, ["raw slack"])),
        Goal("W5 10,000, 1 ms tolerance,", "cpu_ns", .times(1.8, ["libev"])),
        Goal("W5 100,000,", "cpu_ns", .times(1.1, ["raw slack"])),
        Goal("W5 100,000,", "late_p99_us", .atMost(20)),
        Goal("W5 100,000,", "late_p99_us", .times(1, libraries)),
        Goal("W5 100,000,", "late_max_us", .atMost(300)),
        Goal("W5 100,000,", "late_max_us", .times(1, libraries)),
        Goal("W5 100,000,", "after_us", .atMost(60)),
        Goal("W5 100,000, 1 ms tolerance,", "cpu_ns", .times(1.8, ["libev"])),
        Goal("W6 1 ms repeat,", "fires", .allGridPoints),
        Goal("W6 1 ms repeat,", "error_p50_us", .times(1, ["raw"])),
        Goal("W6 1 ms repeat,", "cpu_ns", .times(1.05, ["raw"])),
        Goal("W6b chain,", "late_p50_us", .times(1, ["NIO"])),
        Goal("W7 100 descriptors", "ns", .times(1, ["libuv"])),
        Goal("W7 1,000 descriptors", "ns", .times(1, ["libuv"])),
        Goal("W7b chain of 1,000", "ns", .times(1.05, ["libuv"])),
        Goal("W8 idle,", "wakeups", .atMost(0)),
        Goal("W8 idle,", "cpu_us", .atMost(0)),
        Goal("W9 a timer", "bytes", .atMost(150)),
        Goal("W9 a descriptor", "bytes", .atMost(180)),
        Goal("W10 start,", "wall_ms", .times(1.2, ["empty Swift"])),
        Goal("W10 start,", "wall_ms", .times(1.2, ["empty Swift + 1 ms"])),
        Goal("W10 start, static,", "wall_ms", .times(1.2, ["empty Swift"])),
        Goal("W10 start, static,", "wall_ms", .times(1.2, ["empty Swift + 1 ms"])),
        Goal("S wake-up round trip", "calls", .atMost(4)),
        Goal("S descriptor event", "calls", .atMost(3)),
        Goal("S 1 ms timer", "calls", .atMost(1)),
        Goal("instructions of", "fire", .atMost(900)),
        Goal("instructions of", "cancel", .atMost(1200)),
        Goal("instructions of", "turn", .atMost(650)),
    ]

    /// What was asked for and what came out; nil if there are no figures for it.
    func judge(_ comparisons: [Comparison]) -> (asked: String, got: String, isReached: Bool)? {
        guard let own = find(comparisons, run, metric), let ours = own.ours?.value else { return nil }
        switch measure {
        case .atMost(let most):
            // As exact as it is shown: what is differenced has a remainder.
            return ("≤ \(Figure.short(most))", Figure.short(ours), (ours * 100).rounded() <= most * 100)
        case .times(let factor, let names):
            let others = own.figures.filter { names.contains($0.peer.name) }
            guard let best = others.min(by: { $0.figure.value < $1.figure.value }) else { return nil }
            let asked =
                "≤ \(Figure.short(factor)) × \(names.count > 1 ? "every peer (\(best.peer.name))" : best.peer.name)"
            return (asked, "\(Figure.ratio(ours, best.figure.value)) ×", ours <= factor * best.figure.value)
        case .allGridPoints:
            guard let points = find(comparisons, run, "points")?.ours?.value else { return nil }
            return ("all of \(Figure.short(points)) served or skipped", Figure.short(ours), ours >= points * 0.99)
        }
    }

    func isFor(_ comparison: Comparison) -> Bool { comparison.run.title == run && comparison.row.metric == metric }

    private func find(_ comparisons: [Comparison], _ run: String, _ metric: String) -> Comparison? {
        comparisons.first { $0.run.title == run && $0.row.metric == metric }
    }
}
