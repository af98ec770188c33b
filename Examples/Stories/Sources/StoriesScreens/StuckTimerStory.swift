// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import RunLoops

/// A timer that stands still while a list is dragged, and the cure.
final class StuckTimerStory: Story, TableViewDataSource, TableViewDelegate {
    private let ticks = Label()
    private let report = Label(lines: 0)
    private let list = TableView()
    private var timer: RunLoop.Timer?
    private let finger = Finger()
    private var count = 0
    private var drag: (began: RunLoop.Instant, count: Int)?
    private lazy var cure = Switch("in the common modes") { [unowned self] _ in useModes() }

    init() {
        super.init(
            "The stuck timer",
            "The timer is in the default mode, and a drag runs the loop in the tracking mode: the timer waits. "
                + "The common modes are both: a timer that is in them ticks on.",
            page: "Modes")
    }

    override func loadView() {
        list.register({ TableCell() }, for: "row")
        list.dataSource = self
        list.delegate = self
        list.allowsSelection = false
        let hold = Button("Drag for 2 s") { [unowned self] _ in
            finger.drag(list, by: Point(0, -1), lasting: .seconds(2))
        }
        let side = StackView(.vertical, spacing: 0, [ticks, cure, hold, report])
        side.alignment = .leading
        let stack = StackView(.horizontal, spacing: 2)
        stack.addArrangedSubview(list, flex: 2)
        stack.addArrangedSubview(side, flex: 3)
        stack.padding.top = 1
        view = stack
        showTicks()
        report.text = "Drag the list."
    }

    override func viewDidAppear() {
        let timer = RunLoop.Timer(
            .every(.milliseconds(250)), label: "ticks"
        ) { [weak self] _ in MainActor.assumeIsolated { self?.tick() } }
        self.timer = timer
        useModes()
    }

    override func viewDidDisappear() {
        timer?.invalidate()
        finger.cancel(application)
    }

    /// The cure is one word.
    private func useModes() {
        guard let timer else { return }
        let loop = application.loop
        loop.remove(timer, from: cure.isOn ? .default : .common)
        loop.add(timer, in: cure.isOn ? .common : .default)
    }

    private func tick() {
        count += 1
        showTicks()
    }

    private func showTicks() { ticks.text = "\(count) ticks" }

    // MARK: The drag

    private func begin() {
        drag = (application.now, count)
        report.text = "The loop tracks the drag ..."
    }

    private func end() {
        guard let drag else { return }
        self.drag = nil
        let tenths = (application.now - drag.began) / .milliseconds(100)
        report.text =
            "In \(Int(tenths.rounded()) / 10).\(Int(tenths.rounded()) % 10) s of tracking: "
            + "\(count - drag.count) ticks"
    }

    func scrollViewWillBeginDragging(_ scrollView: ScrollView) { if drag == nil { begin() } }
    func scrollViewDidEndDragging(_ scrollView: ScrollView, willDecelerate: Bool) { if !willDecelerate { end() } }
    func scrollViewDidEndDecelerating(_ scrollView: ScrollView) { if !scrollView.isDragging { end() } }

    // MARK: Rows

    func numberOfRows(in tableView: TableView) -> Int { 1000 }

    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        let cell = tableView.dequeueCell(for: "row")
        cell.text = "row \(row)"
        return cell
    }
}
