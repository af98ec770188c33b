// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import RunLoops

/// Shows the log of wake-ups: a heading, and as many of the latest lines as there is room for.
final class TurnView: View {
    /// Where points begin: after the count and the mode.
    private static let indent = 15
    private let watch: TurnWatch

    init(_ watch: TurnWatch) {
        self.watch = watch
        super.init()
        watch.whenChanged = { [weak self] in self?.setNeedsDisplay() }
    }

    override func draw(in canvas: inout Canvas) {
        watch.wasDrawn()
        let book = watch.book
        let wakeUps = book.wakeUps == 1 ? "1 wake-up" : "\(book.wakeUps) wake-ups"
        let heading = " \(book.mode.short) mode · \(wakeUps), \(book.ownWakeUps) for this log "
        canvas.fill(Rect(0, 0, canvas.size.width, 1), with: theme.usesUnicode ? "─" : "-", style: theme.border)
        canvas.write(theme.signs(heading), at: Point(1, 0), style: theme.accent)
        var rows: [(text: String, line: TurnBook.Line?)] = []
        let room = Int(canvas.size.height) - 1
        for line in book.lines.reversed() {
            let texts = wrap(line.points, width: Int(canvas.size.width) - Self.indent)
            let added = texts.enumerated().map { ($1, $0 == 0 ? line : nil) }
            if !rows.isEmpty, rows.count + added.count > room { break }
            rows.insert(contentsOf: added, at: 0)
        }
        for (index, row) in rows.prefix(room).enumerated() {
            let y = Double(index + 1)
            if let line = row.line {
                let count = line.count == 1 ? "" : theme.signs("\(line.count)×")
                canvas.write(count, at: Point(Double(5 - count.count), y), style: theme.accent)
                canvas.write(line.mode.short, at: Point(6, y), style: theme.secondary)
            }
            canvas.write(row.text, at: Point(Double(Self.indent), y), style: theme.text)
        }
    }

    /// Lines that break between callouts, and inside a callout that is longer than a line.
    private func wrap(_ points: [String], width: Int) -> [String] {
        var lines = [""]
        for part in theme.signs(points.joined(separator: " › ")).split(after: [",", ":", ">", "›"]) {
            for word in part.count > width ? part.split(after: []) : [part] {
                let last = lines[lines.count - 1]
                if last.isEmpty {
                    lines[lines.count - 1] = word
                } else if last.count + 1 + word.count <= width {
                    lines[lines.count - 1] += " \(word)"
                } else {
                    lines.append(word)
                }
            }
        }
        return lines
    }
}

extension String {
    /// The words, joined up to each that ends with one of the signs; all words if there are none.
    fileprivate func split(after signs: Set<Character>) -> [String] {
        var parts: [String] = []
        var isOpen = false
        for word in split(separator: " ") {
            if isOpen { parts[parts.count - 1] += " \(word)" } else { parts.append(String(word)) }
            isOpen = !signs.isEmpty && word.last.map(signs.contains) == false
        }
        return parts
    }
}

extension RunLoop.Mode {
    /// What the screen calls it.
    var short: String {
        switch self {
        case .default: "default"
        case .tracking: "tracking"
        case .initialization: "initial"
        default: rawValue
        }
    }
}

extension Theme {
    /// A text without signs that the display cannot show.
    func signs(_ text: String) -> String {
        if usesUnicode { return text }
        return String(
            text.map { (sign: Character) -> Character in
                switch sign {
                case "·", "›", "→": ">"
                case "×": "x"
                default: sign
                }
            })
    }
}
