// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
import RunLoopsDiagnostics

/// What `runloop top` knows of a process: the last answers, and what follows from two of them.
///
/// Pure: answers in, figures out.
struct TopModel: Sendable {
    /// What a loop has counted between two answers.
    struct Stretch: Sendable {
        var counts = RunLoop.Statistics()
        var seconds = 0.0

        /// A second.
        func rate(_ count: UInt64) -> Double {
            // What a loop that died and came back has counted less is no rate.
            seconds > 0 && count < 1 << 48 ? Double(count) / seconds : 0
        }
    }

    struct Loop: Sendable {
        var report: LoopReport
        /// Between the last two answers.
        var recent: Stretch
        /// Over the last answers that are kept: percentiles need many events.
        var window: Stretch
        /// Shares of the time awake, oldest first.
        var history: [Double]

        var busyShare: Double { history.last ?? 0 }
        var turnRate: Double { recent.rate(recent.counts.turns) }
        var wakeRate: Double { recent.rate(recent.counts.wakings.values.reduce(0, &+)) }
        func rate(_ cause: RunLoop.Trace.Event.Waking.Cause) -> Double {
            recent.rate(recent.counts.wakings[cause] ?? 0)
        }
    }

    /// One answer, with its loops by their threads.
    private struct Answer {
        let report: ProcessReport
        private let places: [Int32: Int]

        init(_ report: ProcessReport) {
            self.report = report
            places = Dictionary(report.loops.enumerated().map { ($1.thread, $0) }) { first, _ in first }
        }

        /// What the same loop had counted by then, if it is the same: the number of a thread is used again.
        func statistics(of loop: LoopReport) -> RunLoop.Statistics? {
            guard let earlier = places[loop.thread].map({ report.loops[$0] }), earlier.turns <= loop.turns,
                let statistics = earlier.statistics, statistics.turns <= loop.statistics?.turns ?? 0
            else { return nil }
            return statistics
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
    /// Makes each as long as the longest of the same kind and label in `others`.
    fileprivate mutating func lengthen(by others: Self) {
        for index in indices {
            let other = others.first { $0.callee == self[index].callee && $0.label == self[index].label }
            self[index].longestLately = Swift.max(self[index].longestLately, other?.longestLately ?? 0)
        }
    }
}
