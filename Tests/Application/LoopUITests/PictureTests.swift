// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import LoopUI

extension Picture {
    /// A picture of letters: red, green, blue, white, black, and a dot for a pixel that is not seen.
    init(_ rows: String...) {
        let bytes: [Character: [UInt8]] = [
            "r": [255, 0, 0, 255], "g": [0, 255, 0, 255], "b": [0, 0, 255, 255], "w": [255, 255, 255, 255],
            "k": [0, 0, 0, 255], ".": [9, 9, 9, 0],
        ]
        self.init(
            width: rows.first?.count ?? 0, height: rows.count, bytes: rows.joined().flatMap { bytes[$0] ?? [] })
    }
}

/// Runs the work of loads when a test says so.
@MainActor private final class Later {
    var works: [@Sendable () -> Void] = []

    func run() {
        let waiting = works
        works = []
        for work in waiting { work() }
    }
}

private struct NoPicture: Error {}

@MainActor @Suite(.ownThread) struct PictureTests {
    private let red = Color.rgb(255, 0, 0)
    private let green = Color.rgb(0, 255, 0)
    private let blue = Color.rgb(0, 0, 255)

    private func drawn(_ picture: Picture, _ width: Double, _ height: Double, _ rect: Rect? = nil) -> CellGrid {
        var canvas = Canvas(size: Size(width, height))
        canvas.draw(picture, in: rect ?? canvas.bounds)
        return canvas.grid
    }

    @Test func `A cell shows two pixels`() {
        let grid = drawn(Picture("rg", "gb"), 2, 1)
        #expect(grid[0, 0] == Cell(Glyph("▀"), Style(red, on: green)))
        #expect(grid[1, 0] == Cell(Glyph("▀"), Style(green, on: blue)))
    }

    @Test func `Transparent pixels show the cells below`() {
        let grid = drawn(Picture("r..", ".g."), 3, 1)
        #expect(grid[0, 0] == Cell(Glyph("▀"), Style(red)))
        #expect(grid[1, 0] == Cell(Glyph("▄"), Style(green)))
        #expect(grid[2, 0] == .clear)
    }

    @Test func `A picture scaled down averages the pixels of each area by their share`() {
        // Three columns into two: each field covers one pixel and a half.
        let grid = drawn(Picture("wkw", "wkw"), 2, 1)
        #expect(grid[0, 0].style.foreground == .rgb(170, 170, 170))
        #expect(grid[1, 0].style.foreground == .rgb(170, 170, 170))
        #expect(drawn(Picture("wk", "kw", "wk", "kw"), 1, 1)[0, 0].style.foreground == .rgb(128, 128, 128))
        // What is not seen lends no colour.
        #expect(drawn(Picture("r.", "r.", "r.", "r."), 1, 1)[0, 0].style.foreground == red)
    }

    @Test(arguments: [(1, 1), (2, 3), (5, 4), (7, 11), (16, 16), (40, 33)])
    func `Scaling a picture keeps its mean colour`(width: Int, height: Int) {
        let random = (0..<16 * 16).flatMap { index -> [UInt8] in
            let value = UInt8(truncatingIfNeeded: (index &* 2_654_435_761) >> 7)
            return [value, 255 - value, value / 2, 255]
        }
        func mean(_ picture: Picture, _ part: Int) -> Double {
            let values = stride(from: part, to: picture.bytes.count, by: 4).map { Double(picture.bytes[$0]) }
            return values.reduce(0, +) / Double(values.count)
        }
        let picture = Picture(width: 16, height: 16, bytes: random)
        let scaled = picture.scaled(width: width, height: height)
        #expect(scaled.width == width && scaled.height == height)
        for part in 0..<3 { #expect(abs(mean(scaled, part) - mean(picture, part)) < 1) }
        if width == 16 { #expect(scaled == picture) }
    }

    @Test func `A picture scaled up repeats its pixels and is clipped`() {
        let grid = drawn(Picture("rg", "rg"), 4, 2)
        #expect((0..<4).map { grid[$0, 1].style.foreground } == [red, red, green, green])
        let cut = drawn(Picture("rg", "rg"), 2, 1, Rect(-1, -1, 4, 3))
        #expect((0..<2).map { cut[$0, 0].style.foreground } == [red, green])
        let beside = drawn(Picture("rg", "rg"), 2, 1, Rect(5, 0, 4, 3))
        #expect(beside[0, 0] == .clear && beside[1, 0] == .clear)
    }

    @Test func `A display without colours shows brightness with characters`() throws {
        try TestApplication.with(size: Size(3, 1)) { app in
            app.display.abilities.colors = .none
            let view = ImageView(picture: Picture("kw.", "kw."))
            app.show(view)
            #expect(app.text == " @\n")
        }
    }

    @Test func `An ImageView keeps the aspect ratio of its picture unless contentMode is fill`() throws {
        try TestApplication.with(size: Size(8, 2)) { app in
            let view = ImageView(picture: Picture("rg", "rg"))
            app.show(view)
            // Two by two pixels are two by one cells; twice as large is all that fits.
            #expect(app.text == "  ▀▀▀▀\n  ▀▀▀▀\n")
            view.contentMode = .fill
            app.settle()
            #expect(app.text == "▀▀▀▀▀▀▀▀\n▀▀▀▀▀▀▀▀\n")
            #expect(app.display.frame?.cells[3, 0].style.foreground == red)
            #expect(app.display.frame?.cells[4, 0].style.foreground == green)
            #expect(view.sizeThatFits(Size(8, 8)) == Size(2, 1))
            #expect(view.sizeThatFits(Size(1, 8)) == Size(1, 1))
            view.picture = nil
            app.settle()
            #expect(app.text == "\n\n")
        }
    }

    @Test func `A square picture takes as many rows as columns if points are square`() throws {
        try TestApplication.with(size: Size(8, 4)) { app in
            app.display.abilities.pointAspect = 1
            let view = ImageView(picture: Picture("rg", "rg"))
            app.show(view)
            #expect(app.text == "  ▀▀▀▀\n  ▀▀▀▀\n  ▀▀▀▀\n  ▀▀▀▀\n")
            #expect(view.sizeThatFits(Size(8, 8)) == Size(2, 2))
        }
    }

    // MARK: Loading

    @Test func `The last of several loads is shown and a cancelled load does no work`() throws {
        try TestApplication.with(size: Size(4, 2)) { app in
            let later = Later()
            let view = ImageView()
            view.loader = { later.works.append($0) }
            app.show(view)
            let (first, second) = (Picture("r"), Picture("g"))
            let worked = Tally()
            var results: [Result<Picture, any Error>] = []
            view.load(completion: { results.append($0) }) { worked.add(first) }
            view.load(completion: { results.append($0) }) { worked.add(second) }
            later.run()
            #expect(view.isLoading && worked.count == 1)
            app.settle()
            #expect(view.picture == second && results.count == 1 && !view.isLoading)

            view.load { worked.add(first) }
            view.cancelLoad()
            later.run()
            // Cancelled after the work, before the picture is set.
            view.load { worked.add(first) }
            later.run()
            view.cancelLoad()
            app.settle()
            #expect(view.picture == second && worked.count == 2)

            view.load(completion: { results.append($0) }) { throw NoPicture() }
            later.run()
            app.settle()
            #expect(view.picture == second && results.count == 2 && isNoPicture(results[1]))
        }
    }

    private func isNoPicture(_ result: Result<Picture, any Error>) -> Bool {
        if case .failure(is NoPicture) = result { true } else { false }
    }

    @Test func `Removing an image view from its window cancels the load`() throws {
        try TestApplication.with(size: Size(4, 2)) { app in
            let later = Later()
            let around = View()
            var view: ImageView? = ImageView()
            around.addSubview(view!)
            app.show(around)
            view?.loader = { later.works.append($0) }
            let worked = Tally()
            view?.load { worked.add(Picture("r")) }
            view?.removeFromSuperview()
            #expect(view?.isLoading == false)
            later.run()
            #expect(worked.count == 0)
            // Nor does a load keep its view.
            view?.load { worked.add(Picture("r")) }
            weak let seen = view
            view = nil
            app.settle()
            #expect(seen == nil)
            later.run()
            #expect(worked.count == 0)
        }
    }

    @Test func `A load runs on another thread and delivers the picture to the loop`() throws {
        try TestApplication.with(size: Size(4, 2)) { app in
            let view = ImageView()
            app.show(view)
            let place = Tally()
            view.load {
                place.isMain = RunLoop.current === RunLoop.main
                return Picture("r")
            }
            // The thread is real, the time of the loop is not: it is turned until the picture has come.
            while view.isLoading { app.advance(by: .milliseconds(1)) }
            #expect(view.picture == Picture("r") && !place.isMain)
        }
    }
}

/// Counts work on any thread.
private final class Tally: Sendable {
    private let state = Locked((count: 0, isMain: true))

    var count: Int { state.withLock { $0.count } }
    var isMain: Bool {
        get { state.withLock { $0.isMain } }
        set { state.withLock { $0.isMain = newValue } }
    }

    func add(_ picture: Picture) -> Picture {
        state.withLock { $0.count += 1 }
        return picture
    }
}
