// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// How a time grows with a number, both logarithmic: flat is O(1), the diagonal is O(n).
public struct LinePlot {
    public struct Line {
        let title: String
        let points: [(count: Double, nanoseconds: Double)]

        public init(_ title: String, _ points: [(count: Double, nanoseconds: Double)]) {
            self.title = title
            self.points = points
        }
    }

    private let title: String
    private let note: String
    private let lines: [Line]

    private static let (left, right, top, bottom) = (70.0, 290.0, 66.0, 420.0)
    private static let width = 900.0

    public init(_ title: String, note: String, lines: [Line]) {
        self.title = title
        self.note = note
        self.lines = lines.filter { !$0.points.isEmpty }
    }

    public var svg: String {
        var drawing = Drawing(width: Self.width, height: Self.bottom + 50)
        let x = LogScale(
            lines.flatMap { $0.points.map(\.count) }, start: Self.left, length: Self.width - Self.left - Self.right)
        let y = LogScale(
            lines.flatMap { $0.points.map(\.nanoseconds) }, start: Self.bottom, length: Self.top - Self.bottom)
        drawing.text(title, 20, 28, "title")
        drawing.text(note, 20, 46, "small")
        for tick in x.ticks {
            drawing.line(x.place(tick), Self.top, x.place(tick), Self.bottom, "grid")
            drawing.text(countText(tick), x.place(tick), Self.bottom + 18, "small middle")
        }
        for tick in y.ticks {
            drawing.line(Self.left, y.place(tick), Self.width - Self.right, y.place(tick), "grid")
            drawing.text(timeText(tick), Self.left - 8, y.place(tick) + 4, "small end")
        }
        drawing.text("how many there are", Self.left, Self.bottom + 38, "small")
        for (index, line) in lines.enumerated() {
            let points = line.points.map { (x: x.place($0.count), y: y.place($0.nanoseconds)) }
            drawing.path(points, "k\(index) line")
            for (place, point) in points.enumerated() {
                let hint =
                    "\(line.title), \(countText(line.points[place].count)): \(timeText(line.points[place].nanoseconds))"
                drawing.dot(point.x, point.y, radius: 3, "k\(index)", hint: hint)
            }
        }
        drawNames(&drawing, y)
        return drawing.svg(title: title)
    }

    /// Beside the ends of the lines, moved apart where they would lie on each other.
    private func drawNames(_ drawing: inout Drawing, _ y: LogScale) {
        let ends = lines.indices.map { ($0, y.place(lines[$0].points[lines[$0].points.count - 1].nanoseconds)) }
        var free = Self.top
        for (index, wished) in ends.sorted(by: { $0.1 < $1.1 }) {
            let place = max(wished, free)
            drawing.dot(Self.width - Self.right + 16, place, radius: 4, "k\(index)")
            drawing.text(lines[index].title, Self.width - Self.right + 26, place + 4)
            free = place + 18
        }
    }
}

/// 1, 10, … 1,000, 10 k.
private func countText(_ count: Double) -> String {
    count >= 10_000 ? "\(Int(count / 1000)) k" : String(Int(count))
}
