// A list of things to do, in a terminal: a field, a button, a table and keys.

import LoopUI
import LoopUITerminal

final class ToDoController: ViewController, TableViewDataSource, TableViewDelegate {
    private var things = ["Buy milk", "Call Ada"]
    private let field = TextField(placeholder: "What is to be done?")
    private let table = TableView()
    private let status = StatusBar(right: "Enter on a line: done   q: quit")

    override func loadView() {
        title = "To do"
        field.addAction { [weak self] _ in self?.add() }
        let button = Button("Add") { [weak self] _ in self?.add() }
        let row = StackView(.horizontal, spacing: 1)
        row.addArrangedSubview(field, flex: 1)
        row.addArrangedSubview(button)

        table.register(TableCell.init, for: "thing")
        table.dataSource = self
        table.delegate = self
        let stack = StackView(.vertical, [row])
        stack.addArrangedSubview(table, flex: 1)
        stack.addArrangedSubview(status)
        view = stack
        count()
    }

    override func viewDidAppear() { field.becomeFirstResponder() }

    override var keyCommands: [KeyCommand] { [KeyCommand(.character("q"), action: .quit)] }

    private func add() {
        guard !field.text.isEmpty else { return }
        things.append(field.text)
        field.text = ""
        table.insertRows(things.count - 1..<things.count)
        count()
    }

    private func count() { status.left = "To do: \(things.count)" }

    // MARK: The table

    func numberOfRows(in tableView: TableView) -> Int { things.count }

    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        let cell = tableView.dequeueCell(for: "thing")
        cell.text = things[row]
        return cell
    }

    func tableView(_ tableView: TableView, didSelectRow row: Int) {
        things.remove(at: row)
        tableView.deleteRows(row..<row + 1)
        count()
    }
}

@main final class Program: ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) {
        let window = Window()
        window.rootViewController = ToDoController()
        window.makeKeyAndVisible()
    }
}
