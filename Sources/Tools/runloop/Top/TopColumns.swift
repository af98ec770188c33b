// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
import RunLoopsDiagnostics

/// Formats a loop as one line, with a column for each figure.
struct TopColumns: Sendable {
    /// The width of a figure in columns.
    static let figure = 10
    /// The shortest duration of a callout that people notice, in nanoseconds.
    static let noticeable: Int64 = 250_000_000

    /// Whether some columns are narrower or left out, to leave room for the loops' states.
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

    /// Whether the loop is busy for so long that others have to wait.
    static func isSlow(_ loop: TopModel.Loop) -> Bool {
        loop.busyShare > 0.5
            || loop.report.activity == .busy && loop.report.callouts.contains { $0.since > noticeable }
    }

    /// Returns a line for each loop, for output to a pipe or a file.
    static func lines(_ model: TopModel) -> [String] {
        model.loops.map { loop in
            let dearest = loop.recent.counts.dearest.first.map {
                "; \(LoopWording.name($0)) \(LoopWording.time($0.total))"
            }
            return TopColumns().line(loop) + (dearest ?? "")
        }
    }

    /// The title line above ``lines(_:)``.
    static let linesTitle = TopColumns().title + "; most time in"
}
