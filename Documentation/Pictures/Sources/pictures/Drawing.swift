// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Writes a layout as SVG.
struct Drawing {
    let palette: Palette
    let layout: Layout

    func svg(size: Size, title: String, description: String) -> String {
        var lines: [String] = [
            #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(n(size.width)) \#(n(size.height))" width="\#(n(size.width))" height="\#(n(size.height))" role="img" aria-labelledby="title desc">"#,
            #"<title id="title">\#(escaped(title))</title>"#,
            #"<desc id="desc">\#(escaped(description))</desc>"#,
            "<style>\(style)</style>",
            #"<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>"#,
            #"<rect class="ground" x="0.5" y="0.5" width="\#(n(size.width - 1))" height="\#(n(size.height - 1))" rx="6"/>"#,
        ]
        lines += layout.lanes.map { rectangle($0.rect, "lane", radius: 10) }
        lines += layout.marks.map { rectangle($0.rect, $0.class, radius: 2) }
        lines += layout.routes.map(route)
        lines += layout.boxes.flatMap(box)
        lines += (layout.texts + layout.routes.flatMap(\.labels)).flatMap(text)
        lines += layout.legend.flatMap(entry)
        return (lines + ["</svg>", ""]).joined(separator: "\n")
    }

    /// The colours of everything, by class.
    private var style: String {
        var rules = [
            "text{font-family:system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif;fill:\(palette.note.hex)}",
            ".name,.title{font-weight:600;fill:\(palette.text.hex)}",
            ".code{font-family:ui-monospace,\"DejaVu Sans Mono\",monospace}",
            ".middle{text-anchor:middle}",
            ".ground{fill:\(palette.ground.hex);stroke:\(palette.frame.hex)}",
            ".lane{fill:\(palette.lane.hex);stroke:\(palette.frame.hex);stroke-width:1.5}",
            ".box{stroke-width:1.5}",
            ".stripe{fill:\(palette.lane.hex)}",
            ".flow{fill:none;stroke:\(palette.line.hex);stroke-width:1.8;stroke-linejoin:round}",
            ".dashed{stroke-dasharray:5 4}",
            ".tip{fill:\(palette.line.hex)}",
            ".number{font-size:14px;font-weight:700}",
            ".inverse{fill:\(palette.ground.hex)}",
        ]
        rules += Style.allCases.map { ".\($0){font-size:\(n($0.size))px}" }
        for kind in Kind.allCases {
            let (fill, stroke) = (palette.fills[kind]!.hex, palette.strokes[kind]!.hex)
            rules += [".\(kind){fill:\(fill);stroke:\(stroke)}", ".\(kind)-full{fill:\(stroke);stroke:\(stroke)}"]
        }
        return "\n" + rules.joined(separator: "\n") + "\n"
    }

    private func box(_ box: Layout.Box) -> [String] {
        var lines = [rectangle(box.rect, "box \(box.kind)\(box.marked ? "-full" : "")", radius: 10)]
        lines += self.lines(
            box.lines, in: box.rect, classes: box.marked ? "middle inverse" : "middle", x: box.rect.midX)
        if let number = box.number, let dot = box.dot {
            let (x, y) = (dot.midX, dot.midY)
            lines.append(#"<circle class="\#(box.kind)-full" cx="\#(n(x))" cy="\#(n(y))" r="14"/>"#)
            lines.append(#"<text class="number middle inverse" x="\#(n(x))" y="\#(n(y + 5))">\#(number)</text>"#)
        }
        return lines
    }

    private func text(_ text: Layout.Text) -> [String] {
        text.isStart
            ? lines(text.lines, in: text.rect, classes: "", x: text.rect.x)
            : lines(text.lines, in: text.rect, classes: "middle", x: text.rect.midX)
    }

    private func entry(_ entry: Layout.Entry) -> [String] {
        let swatch = Rect(x: entry.rect.x, y: entry.rect.midY - 8, width: 22, height: 16)
        let line = Line.note(entry.kind.meaning)
        let place = Rect(x: entry.rect.x + 30, y: entry.rect.y + 2, width: line.width, height: line.style.lineHeight)
        return [rectangle(swatch, "box \(entry.kind)", radius: 4)] + lines([line], in: place, classes: "", x: place.x)
    }

    /// Lines one below the other, centred from top to bottom.
    private func lines(_ lines: [Line], in rect: Rect, classes: String, x: Double) -> [String] {
        var y = rect.midY - lines.height / 2
        return lines.map { line in
            y += line.style.lineHeight
            let both = classes.isEmpty ? "\(line.style)" : "\(line.style) \(classes)"
            return #"<text class="\#(both)" x="\#(n(x))" y="\#(n(y - 5))">\#(escaped(line.text))</text>"#
        }
    }

    private func route(_ route: Route) -> String {
        let points = route.points.map { "\(n($0.x)) \(n($0.y))" }.joined(separator: "L")
        let tip = route.arrow.hasTip ? #" marker-end="url(#tip)""# : ""
        return #"<path class="flow\#(route.arrow.isDashed ? " dashed" : "")" d="M\#(points)"\#(tip)/>"#
    }

    private func rectangle(_ rect: Rect, _ classes: String, radius: Double) -> String {
        #"<rect class="\#(classes)" x="\#(n(rect.x))" y="\#(n(rect.y))" width="\#(n(rect.width))" height="\#(n(rect.height))" rx="\#(n(radius))"/>"#
    }

    /// A number with at most one decimal, so that the file is the same on every machine.
    private func n(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
    }

    private func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.append(character)
            }
        }
    }
}
