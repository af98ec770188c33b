// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
import RunLoopsDiagnostics

/// The figures that `runloop top` shows, computed from the latest answers of a process.
struct TopModel: Sendable {
    /// The counts of a loop between two answers.
    struct Stretch: Sendable {
        var counts = RunLoop.Statistics()
        var seconds = 0.0

        /// Returns a count as a rate per second.
        func rate(_ count: UInt64) -> Double {
            // A count that has wrapped below zero, because a loop died and another took its number, is no rate.
            seconds > 0 && count < 1 << 48 ? Double(count) / seconds : 0
        }
    }

    struct Loop: Sendable {
        var report: LoopReport
        /// The counts between the last two answers.
        var recent: Stretch
        /// The counts over all answers that are kept, because percentiles need many events.
        var window: Stretch
        /// The share of the time awake between two answers, from 0 to 1, oldest first.
        var history: [Double]

        var busyShare: Double { history.last ?? 0 }
        var turnRate: Double { recent.rate(recent.counts.turns) }
        var wakeRate: Double { recent.rate(recent.counts.wakings.values.reduce(0, &+)) }
        func rate(_ cause: RunLoop.Trace.Event.Waking.Cause) -> Double {
            recent.rate(recent.counts.wakings[cause] ?? 0)
        }
    }

    /// An answer, with an index of its loops by thread.
    private struct Answer {
        let report: ProcessReport
        private let places: [Int32: Int]

        init(_ report: ProcessReport) {
            self.report = report
            places = Dictionary(report.loops.enumerated().map { ($1.thread, $0) }) { first, _ in first }
        }

        /// Returns the statistics of the same loop in this answer; `nil` if it is another loop, since the system reuses
        /// the numbers of threads.
        func statistics(of loop: LoopReport) -> RunLoop.Statistics? {
            guard let earlier = places[loop.thread].map({ report.loops[$0] }), earlier.turns <= loop.turns,
                let statistics = earlier.statistics, statistics.turns <= loop.statistics?.turns ?? 0
            else { return nil }
            return statistics
        }
    }

    /// The number of intervals that percentiles are computed from.
    private static let windowLength = 10
    /// The number of shares that are kept, which is the maximum width of a graph.
    private static let historyLength = 120

    private(set) var program = ""
    private(set) var process: Int32 = 0
    private(set) var loops: [Loop] = []
    /// The number of answers so far.
    private(set) var count = 0
    private var answers: [Answer] = []
    private var histories: [Int32: [Double]] = [:]

    mutating func take(_ report: ProcessReport) {
        program = report.program
        process = report.process
        count += 1
        let last = answers.last
        let answer = Answer(report)
        answers.append(answer)
        if answers.count > Self.windowLength + 1 { answers.removeFirst() }
        var histories: [Int32: [Double]] = [:]
        loops = report.loops.map { loop in
            let recent = Self.stretch(of: loop, from: last, to: answer)
            let oldest = answers.first { $0.statistics(of: loop) != nil }
            var history = self.histories[loop.thread] ?? []
            if recent.seconds > 0 {
                // The stretch under way is counted in each answer: between them it may seem to shrink.
                history.append(min(max(Double(recent.counts.busy) / (recent.seconds * 1e9), 0), 1))
                if history.count > Self.historyLength { history.removeFirst() }
            }
            histories[loop.thread] = history
            var window = Self.stretch(of: loop, from: oldest, to: answer)
            // Each answer but the first of the window knows the longest callouts since the answer before it.
            for counts in answers.dropFirst().compactMap({ $0.statistics(of: loop) }) {
                window.counts.dearest.lengthen(by: counts.dearest)
            }
            return Loop(report: loop, recent: recent, window: window, history: history)
        }
        self.histories = histories
    }

    private static func stretch(of loop: LoopReport, from: Answer?, to: Answer) -> Stretch {
        guard let from, let before = from.statistics(of: loop), let now = loop.statistics else { return Stretch() }
        let seconds = Double(max(0, to.report.time &- from.report.time)) / 1e9
        return Stretch(counts: now.since(before), seconds: seconds)
    }
}

extension [RunLoop.Statistics.Callouts] {
    /// Raises the longest recent duration of each entry to that in `others` for the same kind and label.
    fileprivate mutating func lengthen(by others: Self) {
        for index in indices {
            let other = others.first { $0.callee == self[index].callee && $0.label == self[index].label }
            self[index].longestLately = Swift.max(self[index].longestLately, other?.longestLately ?? 0)
        }
    }
}
