// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A picture: what it shows, and in words for readers who do not see it.
struct Picture: Sendable {
    /// The file's name without its extension.
    var name: String
    var title: String
    var description: String
    var content: Block
    var arrows: [Arrow] = []
    /// At most 568: text of 15 points is then at least 9.5 points high where the picture is 360 points wide.
    var width = 560.0

    private static let margin = 20.0

    /// Every part with its place.
    ///
    /// - Throws: A ``Complaint`` if the content is too wide, two parts overlap, an arrow crosses a box or a text, or an arrow
    ///   names a box that is not there.
    func layout() throws -> (layout: Layout, size: Size) {
        func complain(_ what: String) -> Complaint { Complaint("\(name): \(what)") }
        let smallest = Style.allCases.map(\.size).min()!
        guard smallest * 360 / width >= 9.5 else { throw complain("too wide to be read at 360 points") }
        let needed = content.size
        guard needed.width <= width - 2 * Self.margin else {
            throw complain("the content needs \(needed.width) points, and there are \(width - 2 * Self.margin)")
        }
        let size = Size(width: width, height: needed.height + 2 * Self.margin)
        var layout = Layout()
        content.place(
            in: Rect(x: Self.margin, y: Self.margin, width: width - 2 * Self.margin, height: needed.height),
            into: &layout)

        let places = layout.boxes.map { ($0.id, $0.rect) } + layout.lanes.map { ($0.id, $0.rect) }
        let byName = Dictionary(places, uniquingKeysWith: { first, _ in first })
        guard byName.count == places.count else { throw complain("two boxes have one name") }
        for arrow in arrows {
            guard let from = byName[arrow.from], let to = byName[arrow.to] else {
                throw complain("no box \(arrow.from) or \(arrow.to)")
            }
            layout.routes.append(try Route(arrow, from: from, to: to))
        }
        if let overlap = Self.overlap(in: layout, size) { throw complain(overlap) }
        return (layout, size)
    }

    /// What overlaps, in words.
    private static func overlap(in layout: Layout, _ size: Size) -> String? {
        let labels = layout.routes.flatMap(\.labels)
        var parts = layout.boxes.map { ("the box \($0.id)", $0.rect) }
        parts += (layout.texts + labels).map { ("the text \"\($0.lines[0].text)\"", $0.rect) }
        parts += layout.legend.map { ("the legend of \($0.kind)", $0.rect) }
        let page = Rect(x: 4, y: 4, width: size.width - 8, height: size.height - 8)
        for (index, part) in parts.enumerated() {
            guard page.contains(part.1) else { return "\(part.0) lies outside the picture" }
            for other in parts[..<index] where part.1.overlaps(other.1) { return "\(part.0) overlaps \(other.0)" }
            for lane in layout.lanes where part.1.overlaps(lane.rect) && !lane.rect.contains(part.1) {
                return "\(part.0) lies across the border of \(lane.id)"
            }
        }
        for box in layout.boxes {
            guard let dot = box.dot else { continue }
            guard page.contains(dot) else { return "the number of \(box.id) lies outside the picture" }
            for part in parts where part.1 != box.rect && dot.overlaps(part.1) {
                return "the number of \(box.id) overlaps \(part.0)"
            }
        }
        for route in layout.routes {
            for piece in route.pieces {
                guard page.contains(piece) else { return "the arrow from \(route.arrow.from) leaves the picture" }
                for part in parts where piece.overlaps(part.1) {
                    return "the arrow from \(route.arrow.from) to \(route.arrow.to) crosses \(part.0)"
                }
            }
        }
        return nil
    }

    /// The file in these colours.
    func svg(_ palette: Palette) throws -> String {
        let (layout, size) = try layout()
        return Drawing(palette: palette, layout: layout).svg(size: size, title: title, description: description)
    }
}
