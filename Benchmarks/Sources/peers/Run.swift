// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// One way of running one workload: a process a peer and pass, and one row of the table for each figure it reports.
struct Run: Sendable {
    /// How the figures are got.
    enum Means: Sendable {
        /// The peer's program measures itself and prints them.
        case program
        /// The program is measured from outside, from spawn to exit.
        case start(isStatic: Bool)
        /// strace counts the calls of a short and a longer run; `operations` per unit of `argument`.
        case systemCalls(argument: String, short: Int, long: Int)
        /// Benchmarks/instructions counts them.
        case instructions
    }

    /// What the peer's program calls it.
    let workload: String
    /// What it is chosen by with `--only`, and what peers say they take part in.
    let kind: String
    let title: String
    /// Arguments of the program; the second list is for `--quick`, the first where there is none.
    let arguments: [String]
    let quick: [String]?
    let rows: [Row]
    var means = Means.program
    /// A figure that does not move from pass to pass is taken once.
    var isOnce = false
    /// Left out by `--quick`.
    var isOnlyFull = false
    /// Names of the peers it is for; nil for all.
    var among: Set<String>?

    init(
        _ workload: String, kind: String? = nil, _ title: String, _ arguments: [String], quick: [String]? = nil,
        _ rows: [Row]
    ) {
        self.workload = workload
        self.kind = kind ?? workload
        self.title = title
        self.arguments = arguments
        self.quick = quick
        self.rows = rows
    }

    func with(_ change: (inout Run) -> Void) -> Run {
        var run = self
        change(&run)
        return run
    }

    func arguments(isQuick: Bool) -> [String] { [workload] + (isQuick ? quick ?? arguments : arguments) }
}

/// One figure of a run.
struct Row: Sendable {
    /// What the program's output calls it.
    let metric: String
    /// What follows the run's title; empty if there is only one.
    let title: String
    let unit: Unit
    /// What a reader has to know about a peer's figure.
    var remarks: [String: Remark] = [:]
    /// Shown in the plot.
    var isPlotted = false
    /// Less is not better: shown and not compared.
    var isOnlyShown = false

    init(_ metric: String, _ title: String = "", _ unit: Unit, plotted: Bool = false, _ remarks: [String: Remark] = [:])
    {
        self.metric = metric
        self.title = title
        self.unit = unit
        self.remarks = remarks
        isPlotted = plotted
    }

    /// Fires of a timer; of all else less is better.
    var isMoreBetter: Bool { metric == "fires" }

    var onlyShown: Row {
        var row = self
        row.isOnlyShown = true
        return row
    }
}

/// What is said beside a peer's figure.
struct Remark: Sendable {
    let text: String
    /// False: the peer has not done the same work. Its figure is shown and not compared.
    let isCompared: Bool

    static func note(_ text: String) -> Remark { Remark(text: text, isCompared: true) }
    static func otherWork(_ text: String) -> Remark { Remark(text: text, isCompared: false) }
}

/// What a figure counts.
enum Unit: String, Sendable {
    case nanoseconds = "ns"
    case microseconds = "µs"
    case milliseconds = "ms"
    case megabytes = "MB"
    case bytes = "B"
    case count = ""

    /// In nanoseconds, for units of time.
    var nanoseconds: Double? {
        switch self {
        case .nanoseconds: 1
        case .microseconds: 1e3
        case .milliseconds: 1e6
        case .megabytes, .bytes, .count: nil
        }
    }
}
