// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Pictures
import LoopUI
import LoopUIPictures
import LoopUITerminal
import LoopUITesting
import RunLoopsTestSupport
import Testing

/// A display that shows the application's frames on a screen of pixels.
@MainActor private final class Viewer {
    static let cell = (width: 5, height: 10)

    let app: TestApplication
    let way: PictureAbility.Way
    let writer = ChafaPictures()
    var screen: GraphicsScreen
    private var shown: CellGrid?

    init(_ app: TestApplication, _ way: PictureAbility.Way) {
        (self.app, self.way) = (app, way)
        screen = GraphicsScreen(
            columns: Int(app.display.size.width), rows: Int(app.display.size.height), cell: Self.cell)
        app.display.abilities.hasPictures = true
        app.display.resize(to: app.display.size)
        app.settle()
    }

    /// Shows the last frame; returns how many bytes of pixels that took.
    @discardableResult
    func show() -> Int {
        app.settle()
        guard let frame = app.display.frame else { return 0 }
        let before = screen.received
        for y in 0..<frame.cells.height {
            for x in 0..<frame.cells.width where shown.map({ $0[x, y] != frame.cells[x, y] }) ?? true {
                screen.write(x: x, y: y, count: 1)
            }
        }
        let ability = PictureAbility(way, cell: Size(Double(Self.cell.width), Double(Self.cell.height)))
        screen.feed(writer.bytes(for: frame, since: shown, by: ability))
        shown = frame.cells
        return screen.received - before
    }

    /// The terminal has cleared its screen, and the next frame is written whole.
    func forget() { shown = nil }

    /// The first pixel that is not as the frame says.
    func difference() -> String? {
        guard let frame = app.display.frame else { return "no frame" }
        // Sixels have percents of colours, and leave up to five rows of pixels out on the last row of cells.
        let tolerance = way == .sixel ? 4 : 0
        let lowest = frame.cells.height * Self.cell.height - (way == .sixel ? 5 : 0)
        for y in 0..<lowest {
            for x in 0..<frame.cells.width * Self.cell.width {
                let (expected, seen) = (expected(frame, x, y), screen.pixel(x, y))
                let isEqual =
                    expected?.count == seen?.count
                    && zip(expected ?? [], seen ?? []).allSatisfy { abs(Int($0) - Int($1)) <= tolerance }
                if !isEqual { return "pixel \(x), \(y): \(String(describing: seen)), not \(expected ?? [])" }
            }
        }
        return nil
    }

    private func expected(_ frame: Frame, _ x: Int, _ y: Int) -> [UInt8]? {
        let (column, row) = (x / Self.cell.width, y / Self.cell.height)
        for placed in frame.pictures where placed.area.columns.contains(column) && placed.area.rows.contains(row) {
            guard placed.isSeen(x: column, y: row, in: frame.cells) else { continue }
            let left = x - placed.area.columns.lowerBound * Self.cell.width
            let top = y - placed.area.rows.lowerBound * Self.cell.height
            let place = (top * placed.picture.width + left) * 4
            let color = Array(placed.picture.bytes[place..<place + 4])
            return color[3] > 0 ? Array(color.prefix(3)) : nil
        }
        return nil
    }
}

@MainActor @Suite(.limited) struct ChafaPicturesTests {
    /// As many pixels as some cells have, of a few colours and holes, in an order that does not repeat.
    private func picture(columns: Int, rows: Int, seed: Int = 1, hasHoles: Bool = false) -> Picture {
        let colors: [[UInt8]] = [
            [255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255], [0, 0, 0], [128, 64, 192],
        ]
        let count = columns * Viewer.cell.width * rows * Viewer.cell.height
        let bytes = (0..<count).flatMap { index in
            let number = (index &* index &* 7 &+ index &* seed &* 3) % 31
            return colors[number % colors.count] + [hasHoles && number > 25 ? 0 : 255]
        }
        return Picture(
            width: columns * Viewer.cell.width, height: rows * Viewer.cell.height, bytes: bytes)
    }

    /// A picture of 4 by 4 cells at 3, 1 on a screen of 14 by 8.
    private func withPicture(
        _ way: PictureAbility.Way, hasHoles: Bool = false, _ body: (Viewer, ImageView, View) throws -> Void
    ) throws {
        try TestApplication.with(size: Size(14, 8)) { app in
            let viewer = Viewer(app, way)
            let view = ImageView(picture: picture(columns: 4, rows: 4, hasHoles: hasHoles))
            view.contentMode = .fill
            view.frame = Rect(3, 1, 4, 4)
            let root = View()
            root.backgroundColor = .default
            root.addSubview(view)
            app.show(root)
            try body(viewer, view, root)
            #expect(viewer.screen.complaints == [])
        }
    }

    nonisolated static let ways: [PictureAbility.Way] = [.kitty, .sixel]

    @Test(arguments: ways, [false, true])
    func `Each pixel of a picture is drawn at its place`(way: PictureAbility.Way, hasHoles: Bool) throws {
        try withPicture(way, hasHoles: hasHoles) { viewer, _, _ in
            #expect(viewer.show() > 0)
            #expect(viewer.screen.pixel(3 * 5, 10) != nil && viewer.screen.pixel(3 * 5 - 1, 10) == nil)
            #expect(viewer.difference() == nil)
        }
    }

    @Test(arguments: ways) func `A picture that has not changed is not sent again`(way: PictureAbility.Way) throws {
        try withPicture(way) { viewer, view, root in
            viewer.show()
            let label = Label("beside")
            label.frame = Rect(0, 6, 8, 1)
            root.addSubview(label)
            view.setNeedsDisplay()
            #expect(viewer.show() == 0)
            #expect(viewer.difference() == nil)
        }
    }

    @Test(arguments: ways, [false, true])
    func `A picture that moves is removed from its old place`(way: PictureAbility.Way, hasHoles: Bool) throws {
        try withPicture(way, hasHoles: hasHoles) { viewer, view, _ in
            let first = viewer.show()
            for frame in [Rect(4, 1, 4, 4), Rect(4, 3, 4, 4), Rect(10, 5, 4, 4), Rect(-2, -1, 4, 4), Rect(12, 6, 4, 4)]
            {
                view.frame = frame
                let sent = viewer.show()
                // kitty's terminals keep it; sixels that are still seen have to come again.
                #expect(way == .kitty ? sent == 0 : sent > 0 && sent < 2 * first)
                #expect(viewer.difference() == nil)
            }
            view.removeFromSuperview()
            #expect(viewer.show() == 0)
            #expect(viewer.difference() == nil)
            #expect(viewer.screen.images.isEmpty && viewer.screen.placements.isEmpty)
        }
    }

    @Test(arguments: ways) func `A view in front hides a part of the picture, and removing the view shows it again`(
        way: PictureAbility.Way
    ) throws {
        try withPicture(way) { viewer, view, root in
            let first = viewer.show()
            let label = Label("xx")
            label.frame = Rect(4, 2, 2, 1)
            root.addSubview(label)
            #expect(viewer.show() == 0)
            #expect(viewer.screen.pixel(4 * 5, 2 * 10) == nil && viewer.difference() == nil)
            label.removeFromSuperview()
            let back = viewer.show()
            #expect(way == .kitty ? back == 0 : back > 0 && back < first)
            #expect(viewer.difference() == nil)
            view.isHidden = true
            viewer.show()
            #expect(viewer.difference() == nil && viewer.screen.pixel(3 * 5, 10) == nil)
        }
    }

    @Test(arguments: ways) func `All pictures are sent again after the screen was cleared`(way: PictureAbility.Way)
        throws
    {
        try withPicture(way) { viewer, _, _ in
            let first = viewer.show()
            viewer.forget()
            #expect(viewer.show() == first)
            #expect(viewer.difference() == nil)
            #expect(viewer.screen.images.count == (way == .kitty ? 1 : 0))
        }
    }

    @Test(arguments: ways)
    func `A new picture replaces the old one at its place, and two pictures can be shown at once`(
        way: PictureAbility.Way
    ) throws {
        try withPicture(way) { viewer, view, root in
            viewer.show()
            view.picture = picture(columns: 4, rows: 4, seed: 5)
            #expect(viewer.show() > 0)
            #expect(viewer.difference() == nil)
            let second = ImageView(picture: view.picture)
            second.frame = Rect(8, 1, 4, 4)
            second.contentMode = .fill
            root.addSubview(second)
            let sent = viewer.show()
            #expect(way == .kitty ? sent == 0 : sent > 0)
            #expect(viewer.difference() == nil && viewer.screen.pixel(8 * 5, 10) != nil)
            // Over the first one in part.
            second.frame = Rect(5, 2, 4, 4)
            viewer.show()
            #expect(viewer.difference() == nil)
        }
    }

    @Test(arguments: ways) func `The screen matches the frame after random movements of pictures`(
        way: PictureAbility.Way
    ) throws {
        try withPicture(way) { viewer, view, root in
            var generator = SystemRandomNumberGenerator()
            let cover = Label("abcdef")
            cover.frame = Rect(0, 0, 6, 1)
            root.addSubview(cover)
            for step in 0..<60 {
                view.frame.origin = Point(Double(Int.random(in: -4...14)), Double(Int.random(in: -3...8)))
                if step % 3 == 0 {
                    cover.frame.origin = Point(
                        Double(Int.random(in: 0...8, using: &generator)),
                        Double(Int.random(in: 0...7, using: &generator)))
                }
                if step % 7 == 0 { cover.isHidden.toggle() }
                if step % 11 == 0 { view.picture = picture(columns: 4, rows: 4, seed: step, hasHoles: step % 2 == 0) }
                viewer.show()
                #expect(viewer.difference() == nil, "step \(step), \(view.frame), \(cover.frame)")
            }
        }
    }

    @Test func `The kitty protocol sends a small picture as it is and a large one reduced to its visible size`() throws
    {
        try TestApplication.with(size: Size(14, 8)) { app in
            let viewer = Viewer(app, .kitty)
            let view = ImageView(picture: Picture(width: 2, height: 2, bytes: [UInt8](repeating: 255, count: 16)))
            view.contentMode = .fill
            view.frame = Rect(0, 0, 4, 2)
            let root = View()
            root.addSubview(view)
            app.show(root)
            viewer.show()
            #expect(viewer.screen.images.values.map(\.pixels.count) == [4])
            #expect(viewer.screen.pixel(19, 19) == [255, 255, 255] && viewer.screen.pixel(20, 19) == nil)
            view.picture = Picture(width: 400, height: 400, bytes: [UInt8](repeating: 255, count: 640_000))
            viewer.show()
            #expect(viewer.screen.images.values.map(\.pixels.count) == [20 * 20])
            #expect(viewer.screen.complaints == [])
        }
    }
}
#endif
