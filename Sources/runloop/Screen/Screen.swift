// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Lays the model out as a frame of text.
///
/// Pure: model and size in, lines out.
struct Screen: Sendable {
    /// A terminal's size in characters.
    struct Size: Equatable, Sendable {
        var columns: Int
        var rows: Int
    }

    let model: DemoModel
    let size: Size
    let theme: Theme
    /// The keys and what they do, in the order of the bar at the bottom.
    let keys: [(key: String, what: String)]
    /// The interval of the two clock timers.
    let interval: Duration
    let isSlow: Bool

    /// From here on there is room for the turn and the figures side by side.
    private static let wideColumns = 66
    /// From here on the turn has a line for each step.
    private static let tallRows = 17
    /// The widest the turn's half becomes: beyond that, space goes to the figures and the log.
    private static let turnColumns = 52

    /// Exactly as many lines as the size has rows, each as wide as it has columns.
    func frame() -> [StyledLine] {
        guard size.columns > 0, size.rows > 0 else { return [] }
        var lines = [header()]
        if size.rows < Self.tallRows {
            lines += short()
        } else if size.columns < Self.wideColumns {
            lines += narrow()
        } else {
            lines += wide()
        }
        let logRows = size.rows - lines.count - 1
        if logRows >= 2 { lines += log(rows: logRows) }
        // The keys are always the last line: a user who sees nothing else must see how to leave.
        lines = lines.prefix(max(0, size.rows - 1)) + []
        while lines.count < size.rows - 1 { lines.append(StyledLine()) }
        lines.append(keyBar())
        return lines.map { $0.fitted(to: size.columns) }
    }

    // MARK: Layouts

    private func wide() -> [StyledLine] {
        let left = min(Self.turnColumns, size.columns - 28)
        let right = size.columns - left - 1
        let turn = [turnTitle(left)] + Step.allCases.map { stepLine($0, columns: left) }
        let figures = figures()
        let body = turn.indices.map { row in
            var line = turn[row].fitted(to: left)
            line.add(theme.column, .dim)
            line.add((row < figures.count ? figures[row] : StyledLine()).fitted(to: right))
            return line
        }
        return [rule(at: left, theme.junction)] + body + [rule(at: left, theme.junctionUp), inputLine()]
    }

    private func narrow() -> [StyledLine] {
        let steps = Step.allCases.map { stepLine($0, columns: size.columns) }
        return [rule()] + steps + [timerStrip(), inputLine()]
    }

    private func short() -> [StyledLine] {
        var strip = StyledLine(" ")
        for step in Step.allCases {
            strip.add(mark(step) + "\(step.rawValue)", style(step))
            strip.add(" ")
        }
        return [strip, timerStrip(), sleepLine(), countsLine(), inputLine()]
    }

    // MARK: The turn

    private func header() -> StyledLine {
        var line = StyledLine(" runloop demo ", .bar)
        line.add("  mode \(model.modeName)", .bar)
        line.add("  depth \(model.depth)", .bar)
        line.add("  turns \(model.turns)  wake-ups \(model.wakeUps)", .bar)
        if isSlow { line.add("  SLOW", .bar) }
        let time = Format.seconds(model.elapsed, decimals: 1) + " s "
        let gap = size.columns - line.width - time.count
        if gap > 0 {
            line.add(String(repeating: " ", count: gap), .bar)
            line.add(time, .bar)
        }
        return line.fitted(to: size.columns, filling: .bar)
    }

    private func turnTitle(_ columns: Int) -> StyledLine {
        var line = StyledLine(" ONE TURN", .title)
        line.add(Format.aligned("times", 25), .dim)
        if columns > 40 { line.add("  last", .dim) }
        return line
    }

    private func stepLine(_ step: Step, columns: Int) -> StyledLine {
        let style = style(step)
        var line = StyledLine(" " + mark(step) + Format.aligned("\(step.rawValue)", 3) + " ", style)
        line.add(Format.padded(step.title, 21), style)
        line.add(Format.aligned("\(model.reached[step] ?? 0)", 7), style)
        if let detail = model.details[step], columns > line.width + 4 {
            line.add("  " + cut(detail, to: columns - line.width - 3), model.lit.contains(step) ? .plain : .dim)
        }
        return line
    }

    private func mark(_ step: Step) -> String {
        if step == model.current { return theme.currentMark }
        return model.lit.contains(step) ? theme.litMark : theme.darkMark
    }

    private func style(_ step: Step) -> Style {
        if step == model.current { return .current }
        return model.lit.contains(step) ? .lit : .dim
    }

    // MARK: The figures

    private func figures() -> [StyledLine] {
        [
            StyledLine(" TIMERS, every \(Format.asked(interval))", .title),
            timerLine("default alone", model.fires.defaultOnly, standsStill: model.modeName != "default"),
            timerLine("common modes", model.fires.common, standsStill: false),
            StyledLine(
                standsStill ? " default stands still here" : " apart by \(apart)", standsStill ? .warning : .dim),
            StyledLine(" SLEEP", .title),
            StyledLine(" asleep \(Format.percent(model.asleepShare))"),
            StyledLine(" last   \(model.lastSleep.map(Format.short) ?? "-")"),
            StyledLine(" woken by \(model.lastWake)"),
            StyledLine(" CALLED", .title),
            pair("blocks", model.blocks, "sources", model.signals),
            pair("queue", model.mainQueueBlocks, "actor", model.mainActorTasks),
            pair("runs", model.runs, "deepest", model.deepest),
        ]
    }

    private var apart: Int { model.fires.common - model.fires.defaultOnly }

    private var standsStill: Bool { model.modeName != "default" }

    private func timerLine(_ name: String, _ fires: Int, standsStill: Bool) -> StyledLine {
        var line = StyledLine(" " + Format.padded(name, 14))
        line.add(Format.aligned("\(fires)", 6), standsStill ? .warning : .good)
        return line
    }

    private func pair(_ first: String, _ one: Int, _ second: String, _ two: Int) -> StyledLine {
        var line = StyledLine(" " + Format.padded(first, 6))
        line.add(Format.aligned("\(one)", 6), .bold)
        line.add("   " + Format.padded(second, 7))
        line.add(Format.aligned("\(two)", 4), .bold)
        return line
    }

    private func timerStrip() -> StyledLine {
        var line = StyledLine(" timers: default ")
        line.add("\(model.fires.defaultOnly)", standsStill ? .warning : .good)
        line.add("  common ")
        line.add("\(model.fires.common)", .good)
        if standsStill { line.add("  default stands still", .warning) }
        return line
    }

    private func sleepLine() -> StyledLine {
        StyledLine(" asleep \(Format.percent(model.asleepShare))  woken by \(model.lastWake)")
    }

    private func countsLine() -> StyledLine {
        StyledLine(
            " blocks \(model.blocks)  sources \(model.signals)  queue \(model.mainQueueBlocks)  "
                + "actor \(model.mainActorTasks)")
    }

    // MARK: Input, log, keys

    private func inputLine() -> StyledLine {
        var line = StyledLine(" INPUT ", .title)
        // The newest is what one looks for: the oldest give way.
        var shown: [String] = []
        var room = size.columns - line.width - 1
        for input in model.lastInput.reversed() {
            room -= input.count + 1
            if room < 0 { break }
            shown.insert(input, at: 0)
        }
        line.add(shown.isEmpty ? "none yet" : shown.joined(separator: " "), shown.isEmpty ? .dim : .plain)
        return line
    }

    private func log(rows: Int) -> [StyledLine] {
        let lines = model.log.suffix(rows - 1).map { entry in
            var line = StyledLine(Format.aligned(Format.seconds(entry.time), 9) + " ", .dim)
            let indent = String(repeating: "  ", count: max(0, entry.depth - 1))
            line.add(indent + Format.aligned(entry.step.map { "[\($0.rawValue)]" } ?? "", 4) + " ", .lit)
            line.add(cut(entry.text, to: size.columns - line.width))
            return line
        }
        return [rule()] + lines
    }

    private func keyBar() -> StyledLine {
        var line = StyledLine()
        for (key, what) in keys {
            let width = key.count + 1 + what.count + 2
            // Room is kept for the last one, which is how to leave.
            let kept = key == keys.last?.key ? 0 : 8
            guard line.width + width + kept <= size.columns + 1 else { continue }
            line.add(" " + key, .title)
            line.add(" " + what, .plain)
        }
        return line
    }

    private func rule() -> StyledLine { StyledLine(String(repeating: theme.rule, count: size.columns), .dim) }

    private func rule(at column: Int, _ junction: String) -> StyledLine {
        let before = String(repeating: theme.rule, count: column)
        let after = String(repeating: theme.rule, count: max(0, size.columns - column - 1))
        return StyledLine(before + junction + after, .dim)
    }

    private func cut(_ text: String, to columns: Int) -> String {
        guard columns > 1 else { return "" }
        return text.count <= columns ? text : String(text.prefix(columns - 1)) + theme.ellipsis
    }
}
