// A table of a million rows that are slow to draw, a row that fades in, and a question before the end.

import LoopUI
import LoopUITerminal

// snippet.CELL
/// What a row shows, as a value that another thread draws: where a sequence of numbers takes longest to reach 1.
struct Sequences: AsyncDrawing {
    let row: Int

    func draw(in canvas: inout Canvas, layout: AsyncLayout, context: AsyncDrawingContext) {
        var best = (number: 1, steps: 0)
        for start in row * 1000 + 1...row * 1000 + 1000 where !context.isCancelled {
            var (number, steps) = (start, 0)
            while number > 1 {
                number = number.isMultiple(of: 2) ? number / 2 : 3 * number + 1
                steps += 1
            }
            if steps > best.steps { best = (start, steps) }
        }
        canvas.write("\(best.number) takes \(best.steps) steps", at: .zero)
    }
}

final class SequenceCell: TableCell {
    var row = 0 { didSet { setNeedsDisplay() } }

    override var asyncDrawing: (any AsyncDrawing)? { Sequences(row: row) }
    override func drawPlaceholder(in canvas: inout Canvas) { canvas.write("...", at: .zero, style: theme.secondary) }
}
// snippet.end

final class SequencesController: ViewController, TableViewDataSource, TableViewDelegate {
    private let table = TableView()
    private let note = Label("Enter on a row", style: .init(.rgb(255, 200, 0)))

    override func loadView() {
        table.register(SequenceCell.init, for: "sequence")
        table.dataSource = self
        table.delegate = self
        let stack = StackView(.vertical, [note])
        stack.addArrangedSubview(table, flex: 1)
        view = stack
    }

    override func viewDidAppear() { table.becomeFirstResponder() }
    override var keyCommands: [KeyCommand] { [KeyCommand(.character("q")) { [weak self] in self?.quit() }] }

    func numberOfRows(in tableView: TableView) -> Int { 1_000_000 }
    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        let cell = tableView.dequeueCell(SequenceCell.self, for: "sequence")
        cell.row = row
        return cell
    }

    // snippet.FADE
    func tableView(_ tableView: TableView, didSelectRow row: Int) {
        note.text = "row \(row) was chosen"
        note.alpha = 0
        View.animate(withDuration: .milliseconds(400), options: .curveEaseOut) { note.alpha = 1 }
    }
    // snippet.end

    // snippet.QUESTION
    private func quit() {
        let alert = AlertController(title: "Leave the table?")
        let leave = AlertAction("Leave")
        alert.addAction(leave)
        alert.addAction(AlertAction("Stay", style: .cancel))
        // The loop runs in the mode of modal panels until the user has answered.
        if alert.runModal(over: self) === leave { Application.current?.terminate() }
    }
    // snippet.end
}

@main final class Program: ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) {
        let window = Window()
        window.rootViewController = SequencesController()
        window.makeKeyAndVisible()
    }
}
