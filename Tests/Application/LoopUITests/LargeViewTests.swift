// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import Testing

@testable import LoopUI

/// A view that writes the number of each of its rows, and that number far to the right.
@MainActor private final class NumberedRows: View {
    var drawings = 0

    override func draw(in canvas: inout Canvas) {
        drawings += 1
        for row in 0..<Int(canvas.size.height) {
            canvas.write("row \(row)", at: Point(0, Double(row)))
            canvas.write("\(row)|", at: Point(9000, Double(row)))
        }
    }
}

@MainActor private final class DrawnView: View {
    var drawing: (inout Canvas) -> Void = { _ in }
    override func draw(in canvas: inout Canvas) { drawing(&canvas) }
}

/// Views of which the display shows a small part.
@MainActor @Suite struct LargeViewTests {
    private static let drawings: [String: (inout Canvas) -> Void] = [
        "border": { $0.border($0.bounds) },
        "fill": { $0.fill($0.bounds, with: "x", style: .plain) },
        "picture in half blocks": { $0.draw(Picture("rg", "bw"), in: $0.bounds) },
        "picture in characters": { $0.draw(Picture("rg", "bw"), in: $0.bounds, style: .characters) },
        "picture in pixels": { $0.draw(Picture("rg", "bw"), in: $0.bounds, style: .pixels) },
        "text": { canvas in
            for row in [0, 50_000, 99_999] { canvas.write("some text", at: Point(0, Double(row))) }
        },
    ]

    @Test(arguments: ["border", "fill", "picture in half blocks", "picture in characters", "picture in pixels", "text"])
    func `A drawing in 100,000 by 100,000 points keeps and visits the cells that can be seen`(name: String) throws {
        let drawing = try #require(Self.drawings[name])
        for corner in [0, 40_000, 99_950] {
            let window = CellRect(x: corner, y: corner, width: 240, height: 72)
            var canvas = Canvas(size: Size(100_000, 100_000), window: window)
            drawing(&canvas)
            #expect(canvas.band.grid.cells.count <= 240 * 72)
        }
        try TestApplication.with { app in
            let view = DrawnView(frame: Rect(0, 0, 100_000, 100_000))
            view.drawing = drawing
            let root = View()
            root.addSubview(view)
            app.show(root)
            for origin in [Point(-50_000, -50_000), Point(-99_950, -99_990), .zero] {
                view.frame.origin = origin
                app.settle()
            }
            // The same as a small view that is drawn in the same place.
            let small = app.text
            view.frame.size = Size(100, 100)
            app.settle()
            if name == "fill" { #expect(app.text == small) }
        }
    }

    @Test func `A menu and a picture with a frame of 100,000 by 100,000 points are drawn`() throws {
        try TestApplication.with { app in
            let root = View()
            let menu = Menu([Menu.Item("Save") {}, Menu.Item("Delete") {}])
            root.addSubview(menu)
            app.show(root)
            menu.frame = Rect(0, 0, 100_000, 100_000)
            app.settle()
            #expect(app.text.contains("Save") && app.text.first.map { "┌╭+".contains($0) } == true)
            let picture = ImageView(picture: Picture("rg", "bw"))
            root.addSubview(picture)
            for abilities in 0..<3 {
                app.display.abilities.hasPictures = abilities == 1
                app.display.abilities.hasUnicode = abilities < 2
                picture.frame = Rect(0, 0, 100_000, Double(100_000 - abilities))
                picture.setNeedsDisplay()
                app.settle()
            }
        }
    }

    @Test func `A large view that moves is drawn again when a part comes into sight that was not kept`() throws {
        try TestApplication.with(size: Size(20, 10)) { app in
            let scroll = ScrollView()
            let rows = NumberedRows(frame: Rect(0, 0, 10_000, 5000))
            scroll.contentSize = rows.frame.size
            scroll.addSubview(rows)
            app.show(scroll)
            for (x, y) in [(0.0, 0.0), (0, 3), (0, 9), (0, 11), (0, 4000), (8995, 4000), (8999, 4990), (0, 0)] {
                scroll.contentOffset = Point(x, y)
                app.settle()
                let lines = app.text.split(separator: "\n", omittingEmptySubsequences: false)
                for row in 1..<8 {
                    let wanted = x == 0 ? "row \(Int(y) + row)" : "\(Int(y) + row)|"
                    #expect(lines[row].contains(wanted), "\(x), \(y): \(lines[row])")
                }
            }
            // Near moves show what was kept.
            let before = rows.drawings
            for y in 1...10 {
                scroll.contentOffset = Point(0, Double(y))
                app.settle()
            }
            #expect(rows.drawings == before)
            // A deceleration moves what is seen, frame by frame.
            app.play(.drag(from: Point(5, 8), to: Point(5, 1), lasting: .milliseconds(60)))
            app.advance(by: .seconds(10))
            let lines = app.text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines[5].contains("row \(Int(scroll.contentOffset.y) + 5)"))
        }
    }
}
