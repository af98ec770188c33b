// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import RunLoopsLibC

/// The screen of `runloop top`: a table of the loops of a process, and below it all details of the selected loop.
@MainActor
final class TopController: ViewController, TableViewDataSource, TableViewDelegate {
    /// The minimum width at which all columns are shown.
    private static let wideColumns = 100.0

    private var model = TopModel()
    private let header = StatusBar()
    private let heading = Label()
    private let list = TableView()
    private let details = TopDetails()
    private let keys = StatusBar(right: "q quit")

    private var columns: TopColumns { TopColumns(isNarrow: view.frame.size.width < Self.wideColumns) }

    override func loadView() {
        view = View()
        for part in [header, heading, list, details, keys] { view.addSubview(part) }
        heading.style = view.theme.accent
        list.register({ TableCell() }, for: "loop")
        list.dataSource = self
        list.delegate = self
        show(model, notice: nil)
    }

    override func viewDidAppear() { list.becomeFirstResponder() }

    override func viewWillLayoutSubviews() {
        let (width, height) = (view.frame.size.width, view.frame.size.height)
        // The keys go last: a user who sees nothing else must see how to leave.
        keys.frame = Rect(0, height - 1, width, 1)
        header.frame = Rect(0, 0, width, min(1, height - 1))
        heading.frame = Rect(0, 1, width, min(1, max(0, height - 2)))
        let rows = max(0, min(Double(model.loops.count), max(1, (height / 4).rounded(.down)), height - 3))
        list.frame = Rect(0, 2, width, rows)
        details.frame = Rect(0, 2 + rows, width, max(0, height - 3 - rows))
        showColumns()
    }

    /// Shows the figures of a model.
    ///
    /// - Parameter notice: A line that says why there are no newer figures, while the process does not answer.
    func show(_ model: TopModel, notice: String?) {
        self.model = model
        title = "runloop top \(model.process)"
        let program = model.count == 0 ? "" : "\(model.process) \(LoopWording.visible(model.program))"
        header.left = "runloop top  \(program)"
        header.right = notice ?? Format.count(model.loops.count, "loop")
        keys.left = model.loops.count > 1 ? "tab next loop" : ""
        list.reloadData()
        // A loop may have gone away while it was marked.
        if list.selectedRow == nil, !model.loops.isEmpty { list.selectedRow = 0 }
        showDetails()
        view.setNeedsLayout()
    }

    private func showColumns() {
        heading.text = model.count == 0 ? " asking" : model.loops.isEmpty ? " no loops yet" : columns.title
    }

    private func showDetails() { details.loop = list.selectedRow.map { model.loops[$0] } }

    // MARK: The table

    func numberOfRows(in tableView: TableView) -> Int { model.loops.count }

    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        let cell = tableView.dequeueCell(for: "loop")
        cell.text = columns.line(model.loops[row])
        cell.textStyle = TopColumns.isSlow(model.loops[row]) ? view.theme.destructive : view.theme.text
        return cell
    }

    func tableView(_ tableView: TableView, didMoveSelectionTo row: Int?) { showDetails() }

    // MARK: Keys

    override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        for press in presses {
            switch (press.key, press.modifiers) {
            case (.character("q"), []): application?.terminate()
            // The program ends as by the signal that Ctrl-C is elsewhere, so that a shell's loop around it ends too.
            case (.character("c"), .control): application?.terminate(signal: SIGINT)
            case (.tab, []): mark(1)
            case (.tab, .shift): mark(-1)
            default: super.pressesBegan([press], with: event)
            }
        }
    }

    /// Selects the next or the previous loop; after the last loop the first.
    private func mark(_ step: Int) {
        guard let row = list.selectedRow else { return }
        let count = model.loops.count
        list.selectedRow = (row + step + count) % count
        list.scrollToRow((row + step + count) % count)
        showDetails()
    }

    private var application: Application? { view.window?.application }
}
