// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import LoopUITesting
import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import LoopUI

/// A row that takes 5 ms of the test's time to draw: on the main thread if there is a loop, or else on a worker.
@MainActor private final class FiveMillisecondCell: TableCell {
    var manual: ManualRunLoop?

    override var asyncDrawing: (any AsyncDrawing)? { manual == nil ? SlowText(text: text) : nil }
    override func draw(in canvas: inout Canvas) {
        manual?.advance(by: .milliseconds(5), in: RunLoop.Mode("drawing"))
        canvas.write(text, at: .zero)
    }
}

@MainActor private final class FiveMillisecondRows: TableViewDataSource {
    let manual: ManualRunLoop?

    init(_ manual: ManualRunLoop?) { self.manual = manual }
    func numberOfRows(in tableView: TableView) -> Int { 1_000_000 }
    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        let cell = tableView.dequeueCell(FiveMillisecondCell.self, for: "row")
        cell.manual = manual
        cell.text = "row \(row)"
        return cell
    }
}

/// What a drag has cost.
private struct DragFigures {
    var delivered = 0
    var skipped = 0
    /// The longest turn in the test's time, which passes in drawing alone.
    var longestTurn = Duration.zero
    /// The processor time of the longest turn, and of all of them.
    var longestCPU = Duration.zero
    var allCPU = Duration.zero
    var turns = 0
}

@MainActor @Suite struct AsyncDrawingFigures {
    /// Drags a table of a million rows, four rows a frame.
    private func drag(asynchronously: Bool, for seconds: Int) throws -> DragFigures {
        try TestApplication.with(size: Size(80, 24)) { app in
            var figures = DragFigures()
            let rows = FiveMillisecondRows(asynchronously ? nil : app.manual)
            let table = TableView()
            table.register({ FiveMillisecondCell() }, for: "row")
            table.dataSource = rows
            app.drawing.duration = { .milliseconds(5) }
            app.show(table)
            app.advance(by: .seconds(1))
            app.send(.pointer(PointerInput(.began, at: Point(5, 20))))
            let loop = app.application.loop
            var began: (time: RunLoop.Instant, cpu: Duration)?
            let first = RunLoop.Observer(.afterWaiting, order: .min) { _, _ in began = (app.manual.now, Self.cpu()) }
            let last = RunLoop.Observer(.beforeWaiting, order: .max) { _, _ in
                guard let turn = began else { return }
                let cpu = Self.cpu() - turn.cpu
                figures.turns += 1
                figures.allCPU += cpu
                figures.longestCPU = max(figures.longestCPU, cpu)
                figures.longestTurn = max(figures.longestTurn, turn.time.duration(to: app.manual.now))
                began = nil
            }
            var place = Point(5, 20)
            let finger = RunLoop.Timer(.every(.nanoseconds(16_666_667)), label: "finger") { _ in
                place.y -= 4
                app.display.push(.pointer(PointerInput(.moved, at: place)))
            }
            for item in [first, last] { loop.add(item, in: .common) }
            loop.add(finger, in: .common)
            let link = RunLoop.DisplayLink(framesPerSecond: 60) { _ in }
            app.advance(by: .seconds(seconds))
            figures.delivered = link.delivered
            figures.skipped = link.skipped
            #expect(app.application.modes.current == .tracking)
            for item in [first, last] { item.invalidate() }
            finger.invalidate()
            link.invalidate()
            app.send(.pointer(PointerInput(.cancelled, at: place)))
            withExtendedLifetime(rows) {}
            return figures
        }
    }

    private static func cpu() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test func `Dragging a million rows that take 5 ms each skips no frame if other threads draw them`() throws {
        let seconds = isThorough ? 20 : 2
        let elsewhere = try drag(asynchronously: true, for: seconds)
        let onMain = try drag(asynchronously: false, for: seconds)
        #expect(elsewhere.skipped == 0 && elsewhere.delivered >= seconds * 60 - 1)
        #expect(elsewhere.longestTurn == .zero)
        #expect(onMain.skipped >= seconds * 8)
        #expect(onMain.longestTurn >= .milliseconds(20))
        guard isThorough else { return }
        for (name, figures) in [("other threads", elsewhere), ("main thread", onMain)] {
            print(
                "\(name): \(figures.delivered) frames, \(figures.skipped) skipped, longest turn \(figures.longestTurn) of drawing, "
                    + "longest \(figures.longestCPU) and mean \(figures.allCPU / max(1, figures.turns)) of processor in "
                    + "\(figures.turns) turns")
        }
    }
}
