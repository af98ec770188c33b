// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// An arrow between two boxes or lanes, named by their identifiers.
struct Arrow: Sendable {
    /// Which way an arrow takes that does not lead straight on: out of that side of both boxes.
    enum Detour { case left, right, above, below }

    var from: String
    var to: String
    /// Above a horizontal arrow, to the right of a vertical one.
    var label: [String] = []
    /// Below a horizontal arrow, to the left of a vertical one.
    var under: [String] = []
    var isDashed = false
    var hasTip = true
    /// Where a straight arrow lies between the two ends of the sides that face each other.
    var at = 0.5
    var detour: Detour?
}

/// An arrow with its corners and its labels.
struct Route {
    var arrow: Arrow
    var points: [(x: Double, y: Double)]
    var labels: [Layout.Text]

    private static let gap = 3.0
    private static let detour = 22.0

    init(_ arrow: Arrow, from a: Rect, to b: Rect) throws {
        let gap = Self.gap
        self.arrow = arrow
        let across = (max(a.x, b.x), min(a.right, b.right))
        let along = (max(a.y, b.y), min(a.bottom, b.bottom))
        func between(_ range: (Double, Double)) -> Double { range.0 + (range.1 - range.0) * arrow.at }
        switch arrow.detour {
        case .left:
            let x = min(a.x, b.x) - Self.detour
            points = [(a.x - gap, a.midY), (x, a.midY), (x, b.midY), (b.x - gap, b.midY)]
        case .right:
            let x = max(a.right, b.right) + Self.detour
            points = [(a.right + gap, a.midY), (x, a.midY), (x, b.midY), (b.right + gap, b.midY)]
        case .above:
            let y = min(a.y, b.y) - Self.detour
            points = [(a.midX, a.y - gap), (a.midX, y), (b.midX, y), (b.midX, b.y - gap)]
        case .below:
            let y = max(a.bottom, b.bottom) + Self.detour
            points = [(a.midX, a.bottom + gap), (a.midX, y), (b.midX, y), (b.midX, b.bottom + gap)]
        case nil:
            if along.1 - along.0 > 12 {
                let y = between(along)
                points = a.x < b.x ? [(a.right + gap, y), (b.x - gap, y)] : [(a.x - gap, y), (b.right + gap, y)]
            } else if across.1 - across.0 > 12 {
                let x = between(across)
                points = a.y < b.y ? [(x, a.bottom + gap), (x, b.y - gap)] : [(x, a.y - gap), (x, b.bottom + gap)]
            } else {
                throw Complaint("\(arrow.from) and \(arrow.to) do not face each other: say which detour")
            }
        }
        // The labels stand at the longest piece.
        let pieces = zip(points, points.dropFirst())
        let (start, end) = pieces.max { Self.length($0) < Self.length($1) }!
        let (x, y) = ((start.x + end.x) / 2, (start.y + end.y) / 2)
        labels = []
        for (lines, isUnder) in [(arrow.label.map(Line.note), false), (arrow.under.map(Line.note), true)]
        where !lines.isEmpty {
            let rect: Rect
            if start.y == end.y {
                let top = isUnder ? y + 6 : y - 6 - lines.height
                rect = Rect(x: x - lines.width / 2, y: top, width: lines.width, height: lines.height)
            } else {
                let left = isUnder ? x - 9 - lines.width : x + 9
                rect = Rect(x: left, y: y - lines.height / 2, width: lines.width, height: lines.height)
            }
            labels.append(Layout.Text(rect: rect, lines: lines, isStart: start.x == end.x))
        }
    }

    private static func length(_ piece: ((x: Double, y: Double), (x: Double, y: Double))) -> Double {
        abs(piece.0.x - piece.1.x) + abs(piece.0.y - piece.1.y)
    }

    /// The pieces as thin rectangles.
    var pieces: [Rect] {
        zip(points, points.dropFirst()).map { a, b in
            Rect(x: min(a.x, b.x) - 1, y: min(a.y, b.y) - 1, width: abs(a.x - b.x) + 2, height: abs(a.y - b.y) + 2)
        }
    }
}

/// Why a picture cannot be made.
struct Complaint: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
