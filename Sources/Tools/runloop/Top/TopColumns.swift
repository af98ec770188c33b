// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
import RunLoopsDiagnostics

/// A loop in one line, with a column for each figure.
struct TopColumns: Sendable {
    /// The width of a figure.
    static let figure = 10
    /// A callout that takes longer than people wait without noticing.
    static let noticeable: Int64 = 250_000_000

    /// Whether what the loops are about wants the room.
    var isNarrow = false

    private var loop: Int { isNarrow ? 14 : 20 }

    var title: String {
        let figures = ["turns/s", "wakes/s", "busy"] + (isNarrow ? [] : ["late 99 %"])
        return "   " + Format.padded("LOOP", loop) + " " + Format.padded("MODE", 10)
            + figures.map { Format.aligned($0, Self.figure) }.joined() + "  STATE"
    }

    func line(_ loop: TopModel.Loop) -> String {
        let lateness = loop.window.counts.lateness
        let late = lateness.count > 0 ? LoopWording.time(lateness.percentile(0.99)) : "-"
        let figures = [Format.rate(loop.turnRate), Format.rate(loop.wakeRate), Format.percent(loop.busyShare), late]
        let nesting = loop.report.depth > 1 ? ", \(loop.report.depth) runs deep" : ""
        return "   " + Format.column(LoopWording.thread(loop.report), self.loop) + " "
            + Format.column(LoopWording.mode(loop.report), 10)
            + figures.prefix(isNarrow ? 3 : 4).map { Format.aligned($0, Self.figure) }.joined()
            + "  " + LoopWording.state(loop.report) + nesting
    }

    /// Whether the loop keeps others waiting.
    static func isSlow(_ loop: TopModel.Loop) -> Bool {
        loop.busyShare > 0.5
            || loop.report.activity == .busy && loop.report.callouts.contains { $0.since > noticeable }
    }

    /// For a pipe or a file: a line for each loop.
    static func lines(_ model: TopModel) -> [String] {
        model.loops.map { loop in
            let dearest = loop.recent.counts.dearest.first.map {
                "; \(LoopWording.name($0)) \(LoopWording.time($0.total))"
            }
            return TopColumns().line(loop) + (dearest ?? "")
        }
    }

    /// What stands above these lines.
    static let linesTitle = TopColumns().title + "; most time in"
}
