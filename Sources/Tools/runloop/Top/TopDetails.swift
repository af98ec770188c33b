// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
internal import RunLoops
import RunLoopsDiagnostics

/// Shows all details of one loop: its callouts, the causes of its wake-ups, the waits of others, and the most expensive
/// callouts.
@MainActor
final class TopDetails: View {
    /// A part of a line, with its style.
    private typealias Piece = (text: String, style: Style)

    /// The minimum width at which a graph is shown beside the figures.
    private static let wideColumns = 60
    /// The duration of a frame at 60 frames a second, in nanoseconds.
    private static let frameTime: Int64 = 16_666_667

    var loop: TopModel.Loop? { didSet { setNeedsDisplay() } }

    override func draw(in canvas: inout Canvas) {
        guard let loop else { return }
        let (columns, rows) = (Int(canvas.size.width), Int(canvas.size.height))
        // The most important sections come first; lines that do not fit are left out at the end.
        var lines: [[Piece]] = []
        for section in [now, wakings, spread, timers, callouts] where lines.count < rows {
            lines += section(loop, columns)
        }
        for (row, line) in lines.prefix(rows).enumerated() {
            var x = 0.0
            for piece in line { x += canvas.write(piece.text, at: Point(x, Double(row)), style: piece.style) }
        }
    }

    private var bold: Style { Style(.default, on: .clear, .bold) }

    private func rule(_ columns: Int) -> [Piece] {
        [(String(repeating: theme.usesUnicode ? "─" : "-", count: columns), theme.border)]
    }

    // MARK: Sections

    private func now(_ loop: TopModel.Loop, _ columns: Int) -> [[Piece]] {
        var line: [Piece] = [
            (" BUSY ", theme.accent), (Format.aligned(Format.percent(loop.busyShare), 8) + " ", bold),
        ]
        if columns >= Self.wideColumns { line.append((graph(loop.history, columns - 16), theme.accent)) }
        return [rule(columns), line]
            + loop.report.callouts.prefix(3).map { callout in
                let style = callout.since > TopColumns.noticeable ? theme.destructive : theme.text
                let place = callout.place.map { "  \(LoopWording.visible($0))" } ?? ""
                return [(" IN   ", theme.accent), (LoopWording.describe(callout), style), (place, theme.secondary)]
            }
    }

    /// Draws shares from 0 to 1 as a graph of one character each, the latest at the right.
    private func graph(_ shares: [Double], _ columns: Int) -> String {
        let steps = Array(theme.usesUnicode ? " ▁▂▃▄▅▆▇█" : " .:-=+*%@")
        let shown = shares.suffix(columns).map { share -> Character in
            // Anything at all is more than nothing.
            share <= 0 ? steps[0] : steps[min(steps.count - 1, 1 + Int(share * Double(steps.count - 1)))]
        }
        return Format.aligned(String(shown), columns)
    }

    private func wakings(_ loop: TopModel.Loop, _ columns: Int) -> [[Piece]] {
        var line: [Piece] = [(" WOKEN BY, a second ", theme.accent)]
        for cause in RunLoop.Trace.Event.Waking.Cause.allCases where cause != .limit || loop.rate(cause) > 0 {
            line.append(("  \(cause) ", theme.secondary))
            line.append((Format.rate(loop.rate(cause)), loop.rate(cause) > 0 ? bold : theme.secondary))
        }
        return [line]
    }

    private func spread(_ loop: TopModel.Loop, _ columns: Int) -> [[Piece]] {
        let counts = loop.window.counts
        let rows: [(String, RunLoop.DurationHistogram?)] = [
            ("timers, late by", counts.lateness), ("sources, waited", counts.latency[.source]),
            ("blocks, waited", counts.latency[.block]), ("descriptors, waited", counts.latency[.descriptor]),
            ("awake at a time", counts.stretches),
        ]
        return table(
            "HOW LONG", 22, ["a second", "half", "90 %", "99 %", "longest"], of: columns,
            rows.compactMap { name, histogram in
                guard let histogram, histogram.count > 0 else { return nil }
                let shares = [0.5, 0.9, 0.99].map { figure(histogram.percentile($0)) }
                let rate = (Format.rate(loop.window.rate(histogram.count)), theme.text)
                return (name, [rate] + shares + [figure(histogram.longest)])
            })
    }

    private func timers(_ loop: TopModel.Loop, _ columns: Int) -> [[Piece]] {
        guard !loop.report.timers.isEmpty else { return [] }
        var line: [Piece] = [(" NEXT TIMERS ", theme.accent)]
        for timer in loop.report.timers {
            let when =
                timer.due >= 0 ? "in \(LoopWording.time(timer.due))" : "late by \(LoopWording.time(0 &- timer.due))"
            line.append(("  \(LoopWording.visible(timer.label)) \(when)", theme.text))
        }
        return [rule(columns), line]
    }

    private func callouts(_ loop: TopModel.Loop, _ columns: Int) -> [[Piece]] {
        let counts = loop.window.counts
        let rows = counts.dearest.map { (LoopWording.name($0), $0.count, $0.total, Optional($0.longestLately)) }
        // First, so that they are seen: so much has no name here.
        let rest = counts.notAssigned > 0 ? [("(others)", counts.notAssigned, counts.timeNotAssigned, Int64?.none)] : []
        return table(
            "CALLOUTS", max(16, columns - 4 * TopColumns.figure - 2), ["a second", "share", "mean", "longest"],
            of: columns,
            (rest + rows).prefix(Int(frame.size.height)).map { name, count, total, longest in
                let share = loop.window.seconds > 0 ? Double(total) / (loop.window.seconds * 1e9) : 0
                let figures = [
                    (Format.rate(loop.window.rate(count)), theme.text),
                    (Format.percent(share), share > 0.5 ? theme.destructive : theme.text),
                    figure(total / Int64(clamping: max(count, 1))), longest.map(figure) ?? ("-", theme.text),
                ]
                return (name, figures)
            })
    }

    /// Formats names and their figures as a table with headings; returns no lines without rows.
    private func table(
        _ title: String, _ width: Int, _ headings: [String], of columns: Int,
        _ rows: [(name: String, figures: [Piece])]
    ) -> [[Piece]] {
        if rows.isEmpty { return [] }
        let heading = headings.map { Format.aligned($0, TopColumns.figure) }.joined()
        return [rule(columns), [(" " + Format.padded(title, width), theme.accent), (heading, theme.secondary)]]
            + rows.map { row in
                [("   " + Format.column(row.name, width - 2), theme.text)]
                    + row.figures.map { (Format.aligned($0.text, TopColumns.figure), $0.style) }
            }
    }

    private func figure(_ nanoseconds: Int64) -> Piece {
        (LoopWording.time(nanoseconds), nanoseconds > Self.frameTime ? theme.destructive : theme.text)
    }
}
