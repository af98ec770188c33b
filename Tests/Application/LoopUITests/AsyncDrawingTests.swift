// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import Synchronization
import Testing

@testable import LoopUI

/// Counts what was drawn, on whatever thread.
final class DrawingLog: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock(\.self) }
    func add(_ text: String) { texts.withLock { $0.append(text) } }
}

/// A text that is drawn on another thread.
struct SlowText: AsyncDrawing {
    let text: String
    var log = DrawingLog()
    var wanted: Size?
    var frames: [Rect] = []

    func layout(in size: Size) -> AsyncLayout { AsyncLayout(size: wanted ?? size, frames: frames) }
    func draw(in canvas: inout Canvas, layout: AsyncLayout, context: AsyncDrawingContext) {
        log.add(text)
        canvas.write(text, at: .zero)
    }
}

@MainActor final class SlowLabel: View {
    var drawing: SlowText? { didSet { setNeedsDisplay() } }

    override var asyncDrawing: (any AsyncDrawing)? { drawing }
    override func draw(in canvas: inout Canvas) { canvas.write("drawn on main", at: .zero) }
    override func drawPlaceholder(in canvas: inout Canvas) { canvas.write("...", at: .zero) }
}

@MainActor final class SlowCell: TableCell {
    var log = DrawingLog()

    override var asyncDrawing: (any AsyncDrawing)? { SlowText(text: text, log: log) }
    override func drawPlaceholder(in canvas: inout Canvas) { canvas.write("...", at: .zero) }
}

@MainActor final class SlowRows: TableViewDataSource {
    var texts: [String]
    var asked: [Int] = []
    let log = DrawingLog()

    init(_ count: Int) { texts = (0..<count).map { "row \($0)" } }

    func numberOfRows(in tableView: TableView) -> Int { texts.count }
    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        asked.append(row)
        let cell = tableView.dequeueCell(SlowCell.self, for: "row")
        cell.log = log
        cell.text = texts[row]
        return cell
    }

    func makeTable() -> TableView {
        let table = TableView()
        table.showsVerticalScrollIndicator = false
        table.register(SlowCell.init, for: "row")
        table.dataSource = self
        return table
    }
}

@MainActor @Suite struct AsyncDrawingTests {
    private func with(
        _ text: String = "drawn", taking duration: Duration = .milliseconds(50),
        _ body: (TestApplication, SlowLabel) throws -> Void
    ) throws {
        try TestApplication.with(size: Size(20, 4)) { app in
            let label = SlowLabel(frame: Rect(0, 0, 20, 1))
            app.drawing.duration = { duration }
            label.drawing = SlowText(text: text)
            app.show(all: label)
            try body(app, label)
        }
    }

    @Test func `A placeholder is shown until the drawing is ready`() throws {
        try with { app, label in
            #expect(app.line(0) == "...")
            app.advance(by: .milliseconds(60))
            #expect(app.line(0) == "drawn")
            #expect(label.drawing?.log.all == ["drawn"])
            #expect(app.application.commit.drawings.isIdle)
            #expect(app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `A view that asks for display again shows its old drawing until the new one is ready`() throws {
        try with { app, label in
            app.advance(by: .milliseconds(60))
            label.drawing = SlowText(text: "new")
            app.settle()
            #expect(app.line(0) == "drawn")
            app.advance(by: .milliseconds(60))
            #expect(app.line(0) == "new")
        }
    }

    @Test func `A drawing that was superseded before it began is not drawn`() throws {
        try with { app, label in
            app.drawing.workers = 0
            let first = SlowText(text: "first")
            label.drawing = first
            app.settle()
            label.drawing = SlowText(text: "second")
            app.settle()
            app.drawing.workers = 1
            app.advance(by: .milliseconds(200))
            #expect(app.line(0) == "second")
            #expect(first.log.all.isEmpty)
        }
    }

    @Test func `The last requested drawing is shown when results arrive out of order`() throws {
        try with { app, label in
            var times: [Duration] = [.milliseconds(200), .milliseconds(20)]
            app.drawing.duration = { times.removeFirst() }
            app.drawing.workers = 4
            label.drawing = SlowText(text: "late")
            app.settle()
            label.drawing = SlowText(text: "early")
            app.advance(by: .milliseconds(100))
            #expect(app.line(0) == "early")
            app.advance(by: .milliseconds(500))
            #expect(app.line(0) == "early")
        }
    }

    @Test func `Removal from the window cancels the drawing`() throws {
        try with { app, label in
            label.removeFromSuperview()
            app.advance(by: .milliseconds(200))
            #expect(label.drawing?.log.all == [])
            #expect(app.application.commit.drawings.isIdle)
            let window = try #require(app.application.keyWindow)
            window.addSubview(label)
            app.advance(by: .milliseconds(200))
            #expect(app.line(0) == "drawn")
        }
    }

    @Test func `A view that is released during its drawing cancels the drawing`() throws {
        try TestApplication.with(size: Size(20, 4)) { app in
            app.drawing.duration = { .milliseconds(50) }
            weak var released: View?
            let log = DrawingLog()
            do {
                let label = SlowLabel(frame: Rect(0, 0, 20, 1))
                released = label
                label.drawing = SlowText(text: "gone", log: log)
                let window = app.show(all: label)
                label.removeFromSuperview()
                window.close()
            }
            app.settle()
            #expect(released == nil)
            app.advance(by: .milliseconds(200))
            #expect(log.all.isEmpty)
            #expect(app.application.commit.drawings.isIdle && app.drawing.count == 0)
            #expect(app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `A drawing that finishes during a drag is shown during the drag`() throws {
        try with { app, label in
            let scroll = ScrollView(frame: Rect(0, 1, 20, 3))
            scroll.contentSize = Size(20, 100)
            label.superview?.addSubview(scroll)
            app.send(.pointer(PointerInput(.began, at: Point(5, 3))), .pointer(PointerInput(.moved, at: Point(5, 1))))
            #expect(app.application.modes.current == .tracking)
            label.drawing = SlowText(text: "joined")
            app.advance(by: .milliseconds(100))
            #expect(app.line(0) == "joined")
            #expect(app.application.modes.current == .tracking)
            app.send(.pointer(PointerInput(.cancelled, at: Point(5, 1))))
        }
    }

    @Test func `While drawings are under way, the loop has an observer after the commit that shows their results`()
        throws
    {
        try with { app, _ in
            let loop = app.application.loop
            let during = loop.detailedDescription()
            #expect(during.contains("asynchronous drawing") && during.contains("2050000"))
            app.advance(by: .milliseconds(200))
            #expect(!loop.detailedDescription().contains("asynchronous drawing"))
        }
    }

    @Test func `All views of a row are shown together when the last one is drawn`() throws {
        try TestApplication.with(size: Size(20, 4)) { app in
            let cell = TableCell()
            let (left, right) = (SlowLabel(frame: Rect(0, 0, 8, 1)), SlowLabel(frame: Rect(8, 0, 8, 1)))
            for (label, text) in [(left, "left"), (right, "right")] {
                label.drawing = SlowText(text: text)
                cell.addSubview(label)
            }
            cell.frame = Rect(0, 0, 20, 1)
            var times: [Duration] = [.milliseconds(20), .milliseconds(200)]
            app.drawing.duration = { times.removeFirst() }
            app.show(all: cell)
            app.advance(by: .milliseconds(100))
            #expect(app.line(0) == "...     ...")
            app.advance(by: .milliseconds(200))
            #expect(app.line(0) == "left    right")
        }
    }

    @Test func `An asynchronous layout sets the size of its view and the frames of the subviews`() throws {
        try TestApplication.with(size: Size(20, 6)) { app in
            let label = SlowLabel()
            let inner = Label("inner")
            label.addSubview(inner)
            label.drawing = SlowText(text: "text", wanted: Size(20, 3), frames: [Rect(2, 1, 9, 1)])
            app.show(StackView(.vertical, [label, Label("below")]))
            app.advance(by: .milliseconds(100))
            #expect(label.frame == Rect(0, 0, 20, 3))
            #expect(inner.frame == Rect(2, 1, 9, 1))
            #expect((0..<4).map(app.line) == ["text", "  inner", "", "below"])
        }
    }

    @Test func `The context of a drawing is cancelled when its view asks for display again`() throws {
        try TestApplication.with(size: Size(20, 4)) { app in
            let view = ClosureView(frame: Rect(0, 0, 20, 1))
            let contexts = Mutex<[AsyncDrawingContext]>([])
            view.closure = AsyncDrawingClosure { canvas, context in
                contexts.withLock { $0.append(context) }
                canvas.write("closure", at: .zero)
            }
            app.show(all: view)
            app.settle()
            #expect(app.line(0) == "closure")
            #expect(contexts.withLock { $0.map(\.isCancelled) } == [false])
            view.setNeedsDisplay()
            app.settle()
            app.settle()
            #expect(contexts.withLock { $0.map(\.isCancelled) } == [true, false])
        }
    }

    @Test func `A view draws itself after its drawing is set to nil`() throws {
        try with { app, label in
            label.drawing = nil
            app.settle()
            #expect(app.line(0) == "drawn on main")
            app.advance(by: .milliseconds(200))
            #expect(app.line(0) == "drawn on main")
        }
    }

    @Test func `The standard executor draws on another thread`() throws {
        try TestApplication.with(size: Size(20, 4)) { app in
            app.application.drawingExecutor = TaskDrawingExecutor()
            let view = ClosureView(frame: Rect(0, 0, 20, 1))
            let here = RunLoop.current
            let isElsewhere = Mutex<Bool?>(nil)
            view.closure = AsyncDrawingClosure { canvas, _ in
                let elsewhere = RunLoop.current !== here
                isElsewhere.withLock { $0 = elsewhere }
                canvas.write("threads", at: .zero)
            }
            app.show(all: view)
            while view.isDrawing { app.advance(by: .milliseconds(1)) }
            app.settle()
            #expect(app.line(0) == "threads")
            #expect(isElsewhere.withLock(\.self) == true)
        }
    }

    // MARK: Tables

    @Test func `A reused cell shows a placeholder and never the drawing of its previous row`() throws {
        try TestApplication.with(size: Size(20, 4)) { app in
            let rows = SlowRows(1000)
            let table = rows.makeTable()
            table.rowsAhead = 0
            app.show(table)
            app.settle()
            #expect((0..<4).map(app.line) == ["row 0", "row 1", "row 2", "row 3"])
            app.drawing.duration = { .milliseconds(500) }
            table.contentOffset = Point(0, 500)
            app.settle()
            #expect((0..<4).map(app.line) == ["...", "...", "...", "..."])
            // The same cells show other rows before they are drawn.
            table.contentOffset = Point(0, 700)
            app.advance(by: .milliseconds(700))
            for row in 0..<4 { #expect(["...", "row \(700 + row)"].contains(app.line(row))) }
            app.advance(by: .seconds(3))
            #expect((0..<4).map(app.line) == ["row 700", "row 701", "row 702", "row 703"])
            // The workers had begun with two of the rows in between, and were to draw none of them.
            #expect(rows.log.all.allSatisfy { !$0.hasPrefix("row 50") })
        }
    }

    @Test func `A table makes and draws rows ahead of the scroll when the loop is idle`() throws {
        try TestApplication.with(size: Size(20, 4)) { app in
            let rows = SlowRows(1000)
            let table = rows.makeTable()
            app.drawing.duration = { .milliseconds(5) }
            app.show(table)
            app.advance(by: .milliseconds(200))
            #expect(rows.asked.sorted() == Array(0..<8))
            #expect(table.cell(forRow: 5) == nil)
            table.contentOffset = Point(0, 3)
            app.settle()
            #expect((0..<4).map(app.line) == ["row 3", "row 4", "row 5", "row 6"])
            app.advance(by: .milliseconds(200))
            #expect(Set(rows.asked) == Set(0..<11))
            // Upwards as well.
            table.contentOffset = Point(0, 500)
            app.advance(by: .milliseconds(200))
            table.contentOffset = Point(0, 499)
            app.advance(by: .milliseconds(200))
            table.contentOffset = Point(0, 496)
            app.settle()
            #expect((0..<4).map(app.line) == ["row 496", "row 497", "row 498", "row 499"])
            #expect(app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `A table whose cells draw themselves makes rows ahead only if rowsAhead is set`() throws {
        try TestApplication.with(size: Size(20, 4)) { app in
            let rows = PlainRows()
            let table = TableView()
            table.register(TableCell.init, for: "row")
            table.dataSource = rows
            app.show(table)
            app.advance(by: .milliseconds(200))
            #expect(rows.asked == Array(0..<4))
            table.rowsAhead = 3
            app.advance(by: .milliseconds(200))
            #expect(rows.asked == Array(0..<7))
        }
    }

    @Test func `A slow drag shows no placeholder`() throws {
        try TestApplication.with(size: Size(20, 8)) { app in
            let rows = SlowRows(1_000_000)
            let table = rows.makeTable()
            app.drawing.duration = { .milliseconds(5) }
            app.show(table)
            app.advance(by: .milliseconds(500))
            app.send(.pointer(PointerInput(.began, at: Point(5, 7))))
            for step in 1...60 {
                app.application.push(.pointer(PointerInput(.moved, at: Point(5, 7 - Double(step)))))
                app.advance(by: .milliseconds(33))
                for row in 0..<8 { #expect(app.line(row).hasPrefix("row "), "step \(step)") }
            }
            app.send(.pointer(PointerInput(.cancelled, at: Point(5, 1))))
            withExtendedLifetime(rows) {}
        }
    }
}

@MainActor private final class ClosureView: View {
    var closure: AsyncDrawingClosure?

    override var asyncDrawing: (any AsyncDrawing)? { closure }
}

@MainActor private final class PlainRows: TableViewDataSource {
    var asked: [Int] = []

    func numberOfRows(in tableView: TableView) -> Int { 100 }
    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        asked.append(row)
        let cell = tableView.dequeueCell(for: "row")
        cell.text = "row \(row)"
        return cell
    }
}
