// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import RunLoops
import RunLoopsKit

/// Rows that take long to draw, on other threads or on the main thread.
final class SlowDrawingStory: Story, TableViewDataSource, TableViewDelegate {
    private let list = TableView()
    private let counts = Label(lines: 0)
    private let report = Label(lines: 0)
    private let finger = Finger()
    private let drawn = DrawnRows()
    private var link: RunLoop.DisplayLink?
    private lazy var threads = Switch("on other threads", isOn: true) { [unowned self] _ in list.reloadData() }

    init() {
        super.init(
            "Slow drawing",
            "Each row takes milliseconds to draw. Other threads draw it, an observer after the commit joins the result, in a "
                + "drag as well, and a placeholder is seen until then. On the main thread, the drag waits for each row.",
            page: "MovingAndDrawingElsewhere")
    }

    override func loadView() {
        list.register({ [drawn] in SlowCell(drawn) }, for: "slow")
        list.dataSource = self
        list.delegate = self
        list.allowsSelection = false
        let hold = Button("Drag for 2 s") { [unowned self] _ in
            finger.drag(list, by: Point(0, -2), lasting: .seconds(2))
        }
        let side = StackView(.vertical, spacing: 0, [threads, hold, counts, report])
        side.alignment = .leading
        let stack = StackView(.horizontal, spacing: 2)
        stack.addArrangedSubview(list, flex: 2)
        stack.addArrangedSubview(side, flex: 3)
        stack.padding.top = 1
        view = stack
        report.text = "Drag the list."
        drawn.whenChanged = { [weak self] in self?.showCounts() }
        showCounts()
    }

    override func viewDidDisappear() {
        finger.cancel(application)
        link = nil
    }

    private func showCounts() {
        counts.text = "\(drawn.elsewhere) rows drawn elsewhere\n\(drawn.onMain) rows drawn on the main thread"
    }

    // MARK: The drag

    func scrollViewWillBeginDragging(_ scrollView: ScrollView) {
        guard link == nil else { return }
        report.text = "The loop tracks the drag ..."
        link = RunLoop.DisplayLink(framesPerSecond: 60) { _ in }
    }
    func scrollViewDidEndDragging(_ scrollView: ScrollView, willDecelerate: Bool) { if !willDecelerate { end() } }
    func scrollViewDidEndDecelerating(_ scrollView: ScrollView) { if !scrollView.isDragging { end() } }

    private func end() {
        guard let link else { return }
        report.text = "\(link.delivered) frames came, \(link.skipped) were skipped"
        self.link = nil
    }

    // MARK: Rows

    func numberOfRows(in tableView: TableView) -> Int { 1_000_000 }

    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        let cell = tableView.dequeueCell(SlowCell.self, for: "slow")
        cell.text = "\(row)"
        cell.isAsync = threads.isOn
        cell.setNeedsDisplay()
        return cell
    }
}

/// How many rows were drawn where.
@MainActor private final class DrawnRows {
    private(set) var (elsewhere, onMain) = (0, 0)
    var whenChanged: (() -> Void)?
    private var isReporting = false

    /// Counts a row.
    ///
    /// While rows are drawn, no view may change: the report follows in a block.
    func drewOnMain() {
        onMain += 1
        if isReporting { return }
        isReporting = true
        RunLoop.current.performLocally(in: .common) { [weak self] in
            self?.isReporting = false
            self?.whenChanged?()
        }
    }

    func drewElsewhere() {
        elsewhere += 1
        whenChanged?()
    }
}

/// A row that another thread draws while `isAsync` is true.
private final class SlowCell: TableCell {
    private let drawn: DrawnRows
    var isAsync = true

    init(_ drawn: DrawnRows) {
        self.drawn = drawn
        super.init()
    }

    override var asyncDrawing: (any AsyncDrawing)? {
        isAsync ? Spiral(text: text, drawn: drawn, loop: RunLoop.current) : nil
    }

    override func draw(in canvas: inout Canvas) {
        Spiral.draw(text, in: &canvas)
        drawn.drewOnMain()
    }

    override func drawPlaceholder(in canvas: inout Canvas) {
        canvas.write(text, at: .zero, style: theme.secondary)
        canvas.write("...", at: Point(8, 0), style: theme.secondary)
    }
}

/// A line of signs that takes some work.
private struct Spiral: AsyncDrawing {
    let text: String
    let drawn: DrawnRows
    let loop: RunLoop

    func draw(in canvas: inout Canvas, layout: AsyncLayout, context: AsyncDrawingContext) {
        Self.draw(text, in: &canvas)
        loop.perform(in: .common) { MainActor.assumeIsolated { drawn.drewElsewhere() } }
    }

    static func draw(_ text: String, in canvas: inout Canvas) {
        canvas.write(text, at: .zero)
        let signs: [Character] = [".", ":", "-", "=", "+", "*", "#"]
        let seed = Double(Int(text) ?? 0)
        for column in 8..<max(8, Int(canvas.size.width)) {
            var value = (seed + Double(column)).truncatingRemainder(dividingBy: 7) / 7
            // The logistic map wanders for as long as one likes.
            for _ in 0..<50_000 { value = 3.9 * value * (1 - value) }
            let sign = signs[min(signs.count - 1, max(0, Int(value * Double(signs.count))))]
            canvas.write(String(sign), at: Point(Double(column), 0))
        }
    }
}
