// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
import RunLoopsDiagnostics

/// What `runloop top` knows of a process: the last answers, and what follows from two of them.
///
/// Pure: answers in, figures out.
struct TopModel: Sendable {
    /// Of one loop, between two answers.
    struct Loop: Sendable {
        var report: LoopReport
        /// Seconds between the two answers.
        var seconds: Double
        /// What was counted between them.
        var recent: RunLoop.Statistics
        /// The same over the last answers that are kept: percentiles need many events.
        var window: RunLoop.Statistics
        /// Seconds of those.
        var windowSeconds: Double
        /// Shares of the time awake, oldest first.
        var history: [Double]

        var busyShare: Double { history.last ?? 0 }

        func rate(_ cause: RunLoop.Trace.Event.Waking.Cause) -> Double { per(seconds, recent.wakings[cause] ?? 0) }
        var turnRate: Double { per(seconds, recent.turns) }
        var wakeRate: Double { per(seconds, recent.wakings.values.reduce(0, &+)) }
        func windowRate(_ count: UInt64) -> Double { per(windowSeconds, count) }

        private func per(_ seconds: Double, _ count: UInt64) -> Double {
            // What a loop that died and came back has counted less is no rate.
            seconds > 0 && count < 1 << 48 ? Double(count) / seconds : 0
        }
    }

    /// Percentiles are of so many answers.
    private static let windowLength = 10
    /// As wide as a graph becomes.
    private static let historyLength = 120

    private(set) var program = ""
    private(set) var process: Int32 = 0
    private(set) var loops: [Loop] = []
    /// How many answers there were.
    private(set) var count = 0
    private var answers: [ProcessReport] = []
    private var histories: [Int32: [Double]] = [:]

    mutating func take(_ report: ProcessReport) {
        program = report.program
        process = report.process
        count += 1
        let last = answers.last
        answers.append(report)
        if answers.count > Self.windowLength + 1 { answers.removeFirst() }
        var histories: [Int32: [Double]] = [:]
        loops = report.loops.map { loop in
            let now = loop.statistics ?? RunLoop.Statistics()
            let before = Self.statistics(of: loop, in: last)
            let recent = before.map { now.since($0) } ?? RunLoop.Statistics()
            let seconds = before == nil ? 0 : Self.seconds(from: last, to: report)
            let oldest = answers.first { Self.statistics(of: loop, in: $0) != nil }
            let window = Self.statistics(of: loop, in: oldest).map { now.since($0) } ?? RunLoop.Statistics()
            var history = self.histories[loop.thread] ?? []
            if seconds > 0 {
                // The stretch under way is counted in each answer: between them it may seem to shrink.
                history.append(min(max(Double(recent.busy) / (seconds * 1e9), 0), 1))
                if history.count > Self.historyLength { history.removeFirst() }
            }
            histories[loop.thread] = history
            return Loop(
                report: loop, seconds: seconds, recent: recent, window: window,
                windowSeconds: Self.seconds(from: oldest, to: report), history: history)
        }
        self.histories = histories
    }

    /// The same loop in an earlier answer, if it is the same: the number of a thread is used again.
    private static func statistics(of loop: LoopReport, in report: ProcessReport?) -> RunLoop.Statistics? {
        guard let earlier = report?.loops.first(where: { $0.thread == loop.thread }), earlier.turns <= loop.turns,
            let statistics = earlier.statistics, statistics.turns <= loop.statistics?.turns ?? 0
        else { return nil }
        return statistics
    }

    private static func seconds(from: ProcessReport?, to: ProcessReport) -> Double {
        from.map { Double(max(0, to.time - $0.time)) / 1e9 } ?? 0
    }
}
