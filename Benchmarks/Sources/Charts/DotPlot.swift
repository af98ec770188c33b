// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// One line for each workload, on it a dot for each loop, on a common axis of time: the further left the better.
public struct DotPlot {
    public struct Dot {
        let series: String
        let nanoseconds: Double
        /// The same work as the others.
        let isCompared: Bool

        public init(_ series: String, _ nanoseconds: Double, isCompared: Bool) {
            self.series = series
            self.nanoseconds = nanoseconds
            self.isCompared = isCompared
        }
    }

    public struct Line {
        let title: String
        let ours: Double?
        let limit: (name: String, nanoseconds: Double)?
        let peers: [Dot]

        public init(_ title: String, ours: Double?, limit: (name: String, nanoseconds: Double)?, peers: [Dot]) {
            self.title = title
            self.ours = ours
            self.limit = limit
            self.peers = peers
        }

        var values: [Double] { peers.map(\.nanoseconds) + [ours, limit?.nanoseconds].compactMap { $0 } }
    }

    private let title: String
    private let note: String
    private let lines: [Line]
    /// The peers in the order of the legend.
    private let series: [String]

    private static let left = 280.0
    private static let right = 40.0
    private static let top = 92.0
    private static let step = 26.0
    private static let width = 920.0

    public init(_ title: String, note: String, series: [String], lines: [Line]) {
        self.title = title
        self.note = note
        self.series = series
        self.lines = lines.filter { !$0.values.isEmpty }
    }

    public var svg: String {
        let bottom = Self.top + Double(lines.count) * Self.step
        var drawing = Drawing(width: Self.width, height: bottom + 50)
        let scale = LogScale(
            lines.flatMap(\.values), start: Self.left, length: Self.width - Self.left - Self.right)
        drawing.text(title, 20, 28, "title")
        drawing.text(note, 20, 46, "small")
        drawLegend(&drawing)
        for index in lines.indices where index % 2 == 0 {
            drawing.box(10, Self.top + Double(index) * Self.step, Self.width - 20, Self.step, "band")
        }
        for tick in scale.ticks {
            drawing.line(scale.place(tick), Self.top, scale.place(tick), bottom, "grid")
            drawing.text(timeText(tick), scale.place(tick), bottom + 18, "small middle")
        }
        for (index, line) in lines.enumerated() {
            draw(line, at: Self.top + (Double(index) + 0.5) * Self.step, scale, &drawing)
        }
        drawing.text("time, logarithmic: further left is better", Self.left, bottom + 38, "small")
        return drawing.svg(title: title)
    }

    private func draw(_ line: Line, at y: Double, _ scale: LogScale, _ drawing: inout Drawing) {
        drawing.text(line.title, Self.left - 14, y + 4, "end")
        if let least = line.values.min(), let greatest = line.values.max() {
            drawing.line(scale.place(least), y, scale.place(greatest), y, "span")
        }
        for dot in line.peers {
            let classes = "k\(colour(dot.series))" + (dot.isCompared ? "" : " hollow")
            let hint = "\(line.title), \(dot.series): \(timeText(dot.nanoseconds))"
            drawing.dot(scale.place(dot.nanoseconds), y, radius: 4, classes, hint: hint)
        }
        if let limit = line.limit {
            let x = scale.place(limit.nanoseconds)
            drawing.line(
                x, y - 9, x, y + 9, "limit", hint: "\(line.title), \(limit.name): \(timeText(limit.nanoseconds))")
        }
        if let ours = line.ours {
            drawing.dot(scale.place(ours), y, radius: 6.5, "k0", hint: "\(line.title), RunLoops: \(timeText(ours))")
        }
    }

    private func drawLegend(_ drawing: inout Drawing) {
        var x = 26.0
        let y = 70.0
        drawing.dot(x, y, radius: 6.5, "k0")
        drawing.text("RunLoops", x + 11, y + 4)
        x += 88
        drawing.line(x, y - 9, x, y + 9, "limit")
        drawing.text("by hand", x + 8, y + 4)
        x += 70
        for name in series {
            drawing.dot(x, y, radius: 4, "k\(colour(name))")
            drawing.text(name, x + 8, y + 4)
            x += 26 + Double(name.count) * 6.6
        }
        drawing.dot(x, y, radius: 4, "k6 hollow")
        drawing.text("not the same work", x + 8, y + 4)
    }

    private func colour(_ name: String) -> Int { (series.firstIndex(of: name) ?? 0) + 1 }
}
