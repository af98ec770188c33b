// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// What happened when: a row for each thing, with a mark for each time.
struct Chart: Sendable {
    struct Row: Sendable {
        var label: String
        var kind: Kind
        /// From 0, the beginning, to 1, the end.
        var marks: [Double]
    }
    /// A stretch of the whole chart, with a name at its top.
    struct Band: Sendable {
        var from: Double
        var to: Double
        var name: String
        /// The band's colour; without it every second one is shaded.
        var kind: Kind?
    }

    var rows: [Row]
    var bands: [Band]
    /// Names of instants, below the rows.
    var axis: [(at: Double, name: String)] = []

    private static let rowHeight = 26.0
    private static let markWidth = 4.0

    private var labelWidth: Double { (rows.map { Line.note($0.label).width }.max() ?? 0) + 12 }
    private var plotHeight: Double { Double(rows.count + 1) * Self.rowHeight }

    var size: Size {
        Size(width: labelWidth + 240, height: plotHeight + (axis.isEmpty ? 0 : Self.rowHeight))
    }

    func place(in rect: Rect, into layout: inout Layout) {
        let plot = Rect(
            x: rect.x + labelWidth, y: rect.y, width: rect.width - labelWidth - 8, height: plotHeight)
        func x(_ at: Double) -> Double { plot.x + at * plot.width }
        for (index, band) in bands.enumerated() {
            let stretch = Rect(x: x(band.from), y: plot.y, width: x(band.to) - x(band.from), height: plot.height)
            if band.kind != nil || index % 2 == 0 {
                layout.marks.append((stretch, band.kind.map { "\($0)" } ?? "stripe"))
            }
            let line = Line.note(band.name)
            guard line.width <= stretch.width else { continue }
            layout.texts.append(
                Layout.Text(
                    rect: Rect(
                        x: stretch.midX - line.width / 2, y: plot.y + 3, width: line.width,
                        height: line.style.lineHeight), lines: [line]))
        }
        for (index, row) in rows.enumerated() {
            let top = plot.y + Double(index + 1) * Self.rowHeight
            let line = Line.note(row.label)
            layout.texts.append(
                Layout.Text(
                    rect: Rect(x: rect.x, y: top + 3, width: line.width, height: line.style.lineHeight), lines: [line],
                    isStart: true))
            for mark in row.marks {
                layout.marks.append(
                    (
                        Rect(x: x(mark) - Self.markWidth / 2, y: top + 5, width: Self.markWidth, height: 16),
                        "\(row.kind)-full"
                    ))
            }
        }
        for (at, name) in axis {
            let line = Line.note(name)
            layout.texts.append(
                Layout.Text(
                    rect: Rect(
                        x: x(at) - line.width / 2, y: plot.bottom + 4, width: line.width, height: line.style.lineHeight),
                    lines: [line]))
        }
    }
}
