// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
import RunLoopsDiagnostics

/// Lays the figures out as a frame of text.
///
/// Pure: model and size in, lines out.
struct TopScreen: Sendable {
    let model: TopModel
    let size: Screen.Size
    let theme: Theme
    /// Which loop is shown in full.
    let selected: Int
    /// Why there are no newer figures, if there are none.
    let notice: String?

    static let keys = [("tab", "next loop"), ("q", "quit")]
    /// From here on there is room for a graph beside the figures.
    private static let wideColumns = 60
    private static let figureColumns = 9

    /// Exactly as many lines as the size has rows, each as wide as it has columns.
    func frame() -> [StyledLine] {
        guard size.columns > 0, size.rows > 0 else { return [] }
        var lines = [header()] + loopList()
        if model.loops.indices.contains(selected) {
            let loop = model.loops[selected]
            for section in [now(loop), wakings(loop), spread(loop), timers(loop), callouts(loop)] {
                // What does not fit is left out from the end: what is most telling comes first.
                if lines.count + 1 < size.rows { lines += section }
            }
        }
        lines = Array(lines.prefix(max(0, size.rows - 1)))
        while lines.count < size.rows - 1 { lines.append(StyledLine()) }
        lines.append(keyBar())
        return lines.map { $0.fitted(to: size.columns) }
    }

    private func header() -> StyledLine {
        var line = StyledLine(" runloop top ", .bar)
        line.add(" \(model.process) \(cut(LoopWording.visible(model.program), 24))", .bar)
        // Before what is of less use, where there is little room.
        if let notice { line.add("  \(notice)", .bar) }
        line.add("  \(Format.count(model.loops.count, "loop"))", .bar)
        return line.fitted(to: size.columns, filling: .bar)
    }

    // MARK: The loops

    /// A line each, as many as leave room for the rest.
    private func loopList() -> [StyledLine] {
        if model.count == 0 { return [StyledLine(" asking", .dim)] }
        if model.loops.isEmpty { return [StyledLine(" no loops yet", .dim)] }
        let room = max(1, size.rows / 4)
        let first = min(max(0, selected - room + 1), max(0, model.loops.count - room))
        let shown = model.loops.indices.dropFirst(first).prefix(room)
        var title = StyledLine("   " + Format.padded("LOOP", loopColumns) + " " + Format.padded("MODE", 10), .title)
        title.add(Format.aligned("turns/s", 9) + Format.aligned("wakes/s", 9) + Format.aligned("busy", 9), .title)
        title.add("  STATE", .title)
        return [title] + shown.map { loopLine(model.loops[$0], isSelected: $0 == selected) }
    }

    /// What the loops are about wants the room where there is little.
    private var loopColumns: Int { size.columns < 100 ? 14 : 20 }

    private func loopLine(_ loop: TopModel.Loop, isSelected: Bool) -> StyledLine {
        let style: Style = isSelected ? .current : .plain
        var line = StyledLine(" \(isSelected ? theme.currentMark : " ") ", style)
        line.add(column(LoopWording.thread(loop.report), loopColumns) + " ", style)
        line.add(column(LoopWording.mode(loop.report), 10))
        line.add(Format.aligned(Self.rate(loop.turnRate), 9))
        line.add(Format.aligned(Self.rate(loop.wakeRate), 9))
        line.add(Format.aligned(Format.percent(loop.busyShare), 9), loop.busyShare > 0.5 ? .warning : .plain)
        // A callout that takes longer than people wait without noticing.
        let isSlow = loop.report.callouts.contains { $0.since > 250_000_000 } && loop.report.activity == .busy
        let nesting = loop.report.depth > 1 ? ", \(loop.report.depth) runs deep" : ""
        line.add("  " + LoopWording.state(loop.report) + nesting, isSlow ? .warning : .dim)
        return line
    }

    // MARK: The selected one

    private func now(_ loop: TopModel.Loop) -> [StyledLine] {
        var lines = [rule()]
        var line = StyledLine(" BUSY ", .title)
        line.add(Format.aligned(Format.percent(loop.busyShare), 8) + " ", .bold)
        if size.columns >= Self.wideColumns {
            line.add(graph(loop.history, columns: size.columns - line.width - 1), .good)
        }
        lines.append(line)
        for callout in loop.report.callouts.prefix(3) {
            var line = StyledLine(" IN   ", .title)
            line.add(LoopWording.describe(callout), callout.since > 250_000_000 ? .warning : .plain)
            if let place = callout.place { line.add("  \(LoopWording.visible(place))", .dim) }
            lines.append(line)
        }
        return lines
    }

    private func wakings(_ loop: TopModel.Loop) -> [StyledLine] {
        var line = StyledLine(" WOKEN BY, a second ", .title)
        for cause in RunLoop.Trace.Event.Waking.Cause.allCases where cause != .limit || loop.rate(cause) > 0 {
            line.add("  \(cause) ", .dim)
            line.add(Self.rate(loop.rate(cause)), loop.rate(cause) > 0 ? .bold : .dim)
        }
        return [line]
    }

    private func spread(_ loop: TopModel.Loop) -> [StyledLine] {
        var title = StyledLine(" " + Format.padded("HOW LONG", 22), .title)
        for name in ["a second", "half", "90 %", "99 %", "longest"] {
            title.add(Format.aligned(name, Self.figureColumns + 1), .dim)
        }
        let rows: [(String, RunLoop.DurationHistogram?)] = [
            ("timers, late by", loop.window.lateness),
            ("sources, waited", loop.window.latency[.source]),
            ("blocks, waited", loop.window.latency[.block]),
            ("descriptors, waited", loop.window.latency[.descriptor]),
            ("awake at a time", loop.window.stretches),
        ]
        let lines = rows.compactMap { name, histogram -> StyledLine? in
            guard let histogram, histogram.count > 0 else { return nil }
            var line = StyledLine("   " + Format.padded(name, 20))
            line.add(Format.aligned(Self.rate(loop.windowRate(histogram.count)), Self.figureColumns + 1))
            for share in [0.5, 0.9, 0.99] { line.add(figure(histogram.percentile(share))) }
            line.add(figure(histogram.longest))
            return line
        }
        return lines.isEmpty ? [] : [rule(), title] + lines
    }

    private func figure(_ nanoseconds: Int64) -> StyledLine {
        // A frame's time at 60 a second.
        let style: Style = nanoseconds > 16_666_667 ? .warning : .plain
        return StyledLine(Format.aligned(LoopWording.time(nanoseconds), Self.figureColumns + 1), style)
    }

    private func timers(_ loop: TopModel.Loop) -> [StyledLine] {
        guard !loop.report.timers.isEmpty else { return [] }
        var line = StyledLine(" NEXT TIMERS ", .title)
        for timer in loop.report.timers {
            let when = timer.due >= 0 ? "in \(LoopWording.time(timer.due))" : "late by \(LoopWording.time(-timer.due))"
            let text = "  \(LoopWording.visible(timer.label)) \(when)"
            if line.width + text.count > size.columns { break }
            line.add(text)
        }
        return [rule(), line]
    }

    private func callouts(_ loop: TopModel.Loop) -> [StyledLine] {
        if loop.window.dearest.isEmpty { return [] }
        let name = max(16, size.columns - 4 * (Self.figureColumns + 1) - 2)
        var title = StyledLine(" " + Format.padded("CALLOUTS", name), .title)
        for heading in ["a second", "share", "mean", "longest"] {
            title.add(Format.aligned(heading, Self.figureColumns + 1), .dim)
        }
        return [rule(), title]
            + loop.window.dearest.prefix(max(0, size.rows)).map { entry in
                var line = StyledLine("   " + column(LoopWording.name(entry), name - 2))
                let share = loop.windowSeconds > 0 ? Double(entry.total) / (loop.windowSeconds * 1e9) : 0
                line.add(Format.aligned(Self.rate(loop.windowRate(entry.count)), Self.figureColumns + 1))
                line.add(Format.aligned(Format.percent(share), Self.figureColumns + 1), share > 0.5 ? .warning : .plain)
                line.add(figure(entry.total / Int64(clamping: max(entry.count, 1))))
                line.add(figure(entry.longest))
                return line
            }
    }

    // MARK: Pieces

    /// A number a second, with a decimal where it is small.
    static func rate(_ rate: Double) -> String {
        if rate >= 99.95 || rate == 0 { return String(Int(min(rate.rounded(), 1e9))) }
        let tenths = Int((rate * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// Shares from 0 to 1, the latest at the right, each a column.
    private func graph(_ shares: [Double], columns: Int) -> String {
        let steps = theme.heights
        let shown = shares.suffix(max(0, columns)).map { share -> Character in
            // Anything at all is more than nothing.
            share <= 0 ? steps[0] : steps[min(steps.count - 1, 1 + Int(share * Double(steps.count - 1)))]
        }
        return String(repeating: " ", count: max(0, columns - shown.count)) + String(shown)
    }

    private func column(_ text: String, _ columns: Int) -> String {
        Format.padded(cut(text, columns), columns)
    }

    private func cut(_ text: String, _ columns: Int) -> String {
        text.count <= columns ? text : String(text.prefix(columns - 1)) + theme.ellipsis
    }

    private func rule() -> StyledLine { StyledLine(String(repeating: theme.rule, count: size.columns), .dim) }

    private func keyBar() -> StyledLine {
        var line = StyledLine()
        for (key, what) in Self.keys where key != "tab" || model.loops.count > 1 {
            line.add(" \(key)", .title)
            line.add(" \(what) ")
        }
        return line
    }
}
