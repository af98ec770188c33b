// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import LoopUI

/// Pictures that a display shows with their own pixels.
@MainActor @Suite(.limited) struct PlacedPictureTests {
    private let picture = Picture(width: 4, height: 4, bytes: Array(repeating: 200, count: 64))

    /// An application with a picture of 4 by 2 cells at 3, 1, on a display that can show pictures.
    private func withPicture(_ body: (TestApplication, ImageView, View) throws -> Void) throws {
        try TestApplication.with(size: Size(12, 5)) { app in
            app.display.abilities.hasPictures = true
            app.display.resize(to: app.display.size)
            let view = ImageView(picture: picture)
            view.frame = Rect(3, 1, 4, 2)
            let root = View()
            root.addSubview(view)
            app.show(root)
            try body(app, view, root)
        }
    }

    private func parts(_ app: TestApplication) -> [CellRect]? {
        app.display.frame.map { frame in frame.pictures.flatMap { $0.parts(in: frame.cells) } }
    }

    @Test func `A frame contains a placed picture, and the text of the picture's cells is blank`() throws {
        try withPicture { app, _, _ in
            let area = CellRect(x: 3, y: 1, width: 4, height: 2)
            #expect(app.display.frame?.pictures == [PlacedPicture(picture, in: area)])
            #expect(parts(app) == [area])
            #expect(app.text == "\n\n\n\n\n")
            #expect(app.display.frame?.cells[3, 1].glyph.isPicture == true)
            #expect(app.display.frame?.cells[2, 1].glyph.isPicture == false)
        }
    }

    @Test func `A display without picture support gets half blocks until it reports support`() throws {
        try withPicture { app, _, _ in
            app.display.abilities.hasPictures = false
            app.display.resize(to: app.display.size)
            app.settle()
            #expect(app.display.frame?.pictures == [])
            #expect(app.text == "\n   ▀▀▀▀\n   ▀▀▀▀\n\n\n")
            app.display.abilities.hasPictures = true
            app.display.resize(to: app.display.size)
            app.settle()
            #expect(app.display.frame?.pictures.count == 1)
            #expect(app.text == "\n\n\n\n\n")
        }
    }

    @Test func `A picture leaves out the cells that a view in front of it covers`() throws {
        try withPicture { app, _, root in
            let label = Label("x")
            label.frame = Rect(4, 2, 1, 1)
            root.addSubview(label)
            app.settle()
            #expect(
                parts(app) == [
                    CellRect(x: 3, y: 1, width: 4, height: 1), CellRect(x: 3, y: 2, width: 1, height: 1),
                    CellRect(x: 5, y: 2, width: 2, height: 1),
                ])
            label.isHidden = true
            app.settle()
            #expect(parts(app) == [CellRect(x: 3, y: 1, width: 4, height: 2)])
        }
    }

    @Test func `A picture that moves without changing any cells is sent with its new place`() throws {
        try withPicture { app, view, root in
            root.clipsToBounds = true
            view.frame = Rect(-1, 0, 14, 7)
            app.settle()
            let (all, frames) = (CellRect(x: 0, y: 0, width: 12, height: 5), app.display.frameCount)
            #expect(parts(app) == [all])
            view.frame = Rect(-2, 0, 14, 7)
            app.settle()
            #expect(parts(app) == [all] && app.display.frameCount == frames + 1)
            #expect(app.display.frame?.pictures.first?.area.columns.lowerBound == -2)
            view.isHidden = true
            app.settle()
            #expect(app.display.frame?.pictures == [])
        }
    }

    @Test func `One picture in two views is shown at both places`() throws {
        try withPicture { app, view, root in
            let second = ImageView(picture: view.picture)
            second.frame = Rect(7, 1, 4, 2)
            root.addSubview(second)
            app.settle()
            #expect(app.display.frame?.pictures.map(\.area.columns) == [3..<7, 7..<11])
            #expect(parts(app)?.count == 2)
        }
    }

    @Test func `Pictures with equal size and pixels are equal even if they were made separately`() {
        let (copy, twin) = (picture, Picture(width: 4, height: 4, bytes: picture.bytes))
        #expect(copy == picture && twin == picture && twin.hashValue == picture.hashValue)
        #expect(twin.number != picture.number)
        #expect(Picture(width: 8, height: 2, bytes: picture.bytes) != picture)
    }

    @Test func `Each piece of a picture has a glyph of its own`() {
        var glyphs: Set<Glyph> = []
        for picture in [picture, Picture(width: 4, height: 4, bytes: picture.bytes)] {
            for (columns, rows) in [(40, 20), (20, 40)] {
                for index in 0..<columns * rows {
                    glyphs.insert(
                        Glyph(picture, x: index % columns, y: index / columns, columns: columns, rows: rows))
                }
            }
        }
        #expect(glyphs.count == 4 * 800)
        #expect(glyphs.allSatisfy { $0.isPicture && $0.character == nil })
        #expect(!Glyph.continuation.isPicture && !Glyph("é").isPicture && !Glyph("🇪🇺").isPicture)
    }

    @Test func `Only pieces whose cells have changed are reported`() throws {
        try withPicture { app, view, root in
            let before = app.display.frame
            let label = Label("xxxx")
            label.frame = Rect(3, 1, 4, 1)
            root.addSubview(label)
            app.settle()
            let covered = app.display.frame
            label.removeFromSuperview()
            app.settle()
            let (placed, now) = (app.display.frame?.pictures.first, app.display.frame)
            #expect(
                now.flatMap { placed?.parts(in: $0.cells, changedSince: covered?.cells) } == [
                    CellRect(x: 3, y: 1, width: 4, height: 1)
                ])
            #expect(now.flatMap { placed?.parts(in: $0.cells, changedSince: before?.cells) } == [])
        }
    }
}
