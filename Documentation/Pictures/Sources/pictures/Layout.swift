// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

struct Size {
    var width = 0.0
    var height = 0.0
}

struct Rect: Equatable {
    var x, y, width, height: Double

    var right: Double { x + width }
    var bottom: Double { y + height }
    var midX: Double { x + width / 2 }
    var midY: Double { y + height / 2 }

    func inset(by distance: Double) -> Rect {
        Rect(x: x + distance, y: y + distance, width: width - 2 * distance, height: height - 2 * distance)
    }
    func overlaps(_ other: Rect) -> Bool {
        x < other.right && other.x < right && y < other.bottom && other.y < bottom
    }
    func contains(_ other: Rect) -> Bool {
        x <= other.x && other.right <= right && y <= other.y && other.bottom <= bottom
    }
}

/// A part of a picture, described by what it contains.
///
/// Sizes and places are computed.
indirect enum Block: Sendable {
    /// A box with a border. Arrows name it by its identifier; a number stands at its corner as the step of the turn.
    case box(String, Kind, [Line], number: Int? = nil, marked: Bool = false)
    /// Lines without a border.
    case text([Line])
    /// The meanings of the kinds, each with its colour; always of the same width, so that two stand in line.
    case legend([Kind])
    /// What happened when, a row for each thing.
    case chart(Chart)
    /// A frame with a title, such as a thread or a process. Arrows may name it.
    case lane(String, title: String, Block)
    case row([Block], gap: Double)
    case column([Block], gap: Double)
    /// Empty; `grows` makes it as wide as the boxes beside it.
    case space(width: Double = 0, height: Double = 0, grows: Bool = false)

    private static let padding = 11.0
    private static let laneInset = 14.0
    private static let titleHeight = 30.0

    /// The smallest size that its content fits into.
    var size: Size {
        switch self {
        case .box(_, _, let lines, _, _):
            return Size(width: lines.width + 2 * Self.padding, height: lines.height + 18)
        case .text(let lines):
            return Size(width: lines.width, height: lines.height)
        case .legend(let kinds):
            return Size(
                width: Kind.allCases.map { Line.note($0.meaning).width + 30 }.max() ?? 0,
                height: Double(kinds.count) * 24)
        case .chart(let chart): return chart.size
        case .lane(_, let title, let content):
            let inner = content.size
            return Size(
                width: max(inner.width, Line.title(title).width) + 2 * Self.laneInset,
                height: inner.height + 2 * Self.laneInset + Self.titleHeight)
        case .row(let blocks, let gap):
            let sizes = blocks.map(\.size)
            return Size(
                width: sizes.reduce(gap * Double(blocks.count - 1)) { $0 + $1.width },
                height: sizes.map(\.height).max() ?? 0)
        case .column(let blocks, let gap):
            let sizes = blocks.map(\.size)
            return Size(
                width: sizes.map(\.width).max() ?? 0,
                height: sizes.reduce(gap * Double(blocks.count - 1)) { $0 + $1.height })
        case .space(let width, let height, _):
            return Size(width: width, height: height)
        }
    }

    private var growsInRow: Bool {
        switch self {
        case .text, .legend: false
        case .space(_, _, let grows): grows
        case .box, .chart, .lane, .row, .column: true
        }
    }

    private var growsInColumn: Bool {
        switch self {
        case .text, .legend, .chart, .space: false
        case .box, .lane, .row, .column: true
        }
    }

    /// Gives every part its place: growing parts of a row are equally wide as far as their contents allow, and the parts of
    /// a row equally high.
    func place(in rect: Rect, into layout: inout Layout) {
        switch self {
        case .box(let id, let kind, let lines, let number, let marked):
            layout.boxes.append(
                Layout.Box(id: id, rect: rect, kind: kind, lines: lines, number: number, marked: marked))
        case .text(let lines):
            layout.texts.append(
                Layout.Text(
                    rect: Rect(
                        x: rect.midX - lines.width / 2, y: rect.midY - lines.height / 2, width: lines.width,
                        height: lines.height), lines: lines))
        case .legend(let kinds):
            let size = self.size
            for (row, kind) in kinds.enumerated() {
                layout.legend.append(
                    Layout.Entry(
                        rect: Rect(
                            x: rect.midX - size.width / 2, y: rect.midY - size.height / 2 + Double(row) * 24,
                            width: size.width, height: 24), kind: kind))
            }
        case .chart(let chart): chart.place(in: rect, into: &layout)
        case .lane(let id, let title, let content):
            layout.lanes.append(Layout.Lane(id: id, rect: rect))
            let line = Line.title(title)
            layout.texts.append(
                Layout.Text(
                    rect: Rect(
                        x: rect.x + Self.laneInset, y: rect.y + 9, width: line.width, height: line.style.lineHeight),
                    lines: [line]))
            var inner = rect.inset(by: Self.laneInset)
            inner.y += Self.titleHeight
            inner.height -= Self.titleHeight
            content.place(in: inner, into: &layout)
        case .row(let blocks, let gap):
            let shares = Self.shares(
                blocks, of: rect.width - gap * Double(blocks.count - 1), size: \.width, grows: \.growsInRow)
            var x = rect.x
            for (block, width) in zip(blocks, shares) {
                block.place(in: Rect(x: x, y: rect.y, width: width, height: rect.height), into: &layout)
                x += width + gap
            }
        case .column(let blocks, let gap):
            let extra = rect.height - self.size.height
            let growing = blocks.count { $0.growsInColumn }
            var y = rect.y
            for block in blocks {
                let height = block.size.height + (block.growsInColumn ? extra / Double(growing) : 0)
                block.place(in: Rect(x: rect.x, y: y, width: rect.width, height: height), into: &layout)
                y += height + gap
            }
        case .space: break
        }
    }

    private static func shares(
        _ blocks: [Block], of total: Double, size: (Size) -> Double, grows: (Block) -> Bool
    ) -> [Double] {
        var shares = blocks.map { size($0.size) }
        var equal = Set(blocks.indices.filter { grows(blocks[$0]) })
        // A part whose content is wider than its equal share keeps its own width; the others share the rest.
        while !equal.isEmpty {
            let rest = blocks.indices.reduce(total) { equal.contains($1) ? $0 : $0 - shares[$1] }
            let share = rest / Double(equal.count)
            let wide = equal.filter { shares[$0] > share }
            if wide.isEmpty {
                for index in equal { shares[index] = share }
                break
            }
            equal.subtract(wide)
        }
        return shares
    }
}

/// Every part of a picture with its place.
struct Layout {
    struct Box {
        var id: String
        var rect: Rect
        var kind: Kind
        var lines: [Line]
        var number: Int?
        var marked: Bool

        /// Where the number's circle stands.
        var dot: Rect? { number.map { _ in Rect(x: rect.x - 13, y: rect.y - 13, width: 28, height: 28) } }
    }
    struct Text {
        var rect: Rect
        var lines: [Line]
        var isStart = false
    }
    struct Lane {
        var id: String
        var rect: Rect
    }
    struct Entry {
        var rect: Rect
        var kind: Kind
    }

    var boxes: [Box] = []
    var texts: [Text] = []
    var lanes: [Lane] = []
    var legend: [Entry] = []
    /// The bands and marks of charts, each with its class.
    var marks: [(rect: Rect, class: String)] = []
    var routes: [Route] = []
}
