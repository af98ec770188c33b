// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import Testing

/// Processes with a number, a name and a size, sorted as the user wants.
@MainActor private final class Processes: TableViewDataSource, TableViewDelegate {
    var rows = [(7, "init", 120), (42, "shell", 900), (3, "a long program", 30)]
    var orders: [TableView.SortOrder] = []

    func numberOfRows(in tableView: TableView) -> Int { rows.count }
    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        let cell = tableView.dequeueCell(for: "row")
        cell.texts = ["\(rows[row].0)", rows[row].1, "\(rows[row].2)"]
        return cell
    }
    func tableView(_ tableView: TableView, identifierForRow row: Int) -> AnyHashable? { rows[row].0 }
    func tableView(_ tableView: TableView, didChangeSortOrder order: TableView.SortOrder) {
        orders.append(order)
        rows.sort { left, right in
            let isBefore =
                switch order.column {
                case 0: left.0 < right.0
                case 1: left.1 < right.1
                default: left.2 < right.2
                }
            return isBefore == order.isAscending
        }
        tableView.reloadData()
    }
}

@MainActor @Suite struct TableColumnTests {
    private func with(_ width: Double = 22, _ body: (TestApplication, TableView, Processes) throws -> Void) throws {
        try TestApplication.with(size: Size(width, 4)) { app in
            let (table, processes) = (TableView(), Processes())
            table.register(TableCell.init, for: "row")
            table.columns = [
                TableColumn("PID", width: 5, alignment: .right), TableColumn("Name"),
                TableColumn("Size", width: 6, alignment: .right),
            ]
            table.delegate = processes
            table.dataSource = processes
            let stack = StackView(.vertical, [table.header])
            stack.addArrangedSubview(table, flex: 1)
            app.show(stack)
            try body(app, table, processes)
        }
    }

    @Test func `Cells show their texts in the columns, below the titles`() throws {
        try with { app, _, _ in
            #expect(
                app.text == """
                      PID Name        Size
                        7 init         120
                       42 shell        900
                        3 a long p…     30

                    """)
        }
    }

    @Test func `A tap on a title sorts by its column, a second tap reverses, and the selection stays on its item`()
        throws
    {
        try with { app, table, processes in
            table.selectedRow = 0
            app.tap(at: Point(2, 0))
            #expect(processes.rows.map(\.0) == [3, 7, 42] && app.line(0) == "PID ▲ Name        Size")
            #expect(table.selectedRow == 1)
            app.advance(by: .seconds(1))
            app.tap(at: Point(2, 0))
            #expect(processes.rows.map(\.0) == [42, 7, 3] && app.line(0) == "PID ▼ Name        Size")
            app.advance(by: .seconds(1))
            app.tap(at: Point(20, 0))
            #expect(processes.rows.map(\.2) == [30, 120, 900] && app.line(0) == "  PID Name      Size ▲")
            #expect(table.sortOrder == TableView.SortOrder(column: 2))
            #expect(processes.orders.map(\.column) == [0, 0, 2])
        }
    }

    @Test func `Arrows move between the column titles, and Enter and Space sort`() throws {
        try with { app, table, processes in
            table.header.becomeFirstResponder()
            app.press(.right, .enter)
            #expect(processes.rows.map(\.1) == ["a long program", "init", "shell"])
            app.press(.enter)
            #expect(processes.rows.map(\.1) == ["shell", "init", "a long program"])
            #expect(app.cursor == Point(6, 0))
            app.press(.right, .character(" "))
            #expect(processes.orders.last == TableView.SortOrder(column: 2))
            app.press(.right)
            #expect(table.header.isFirstResponder)
            #expect(
                table.header.accessibilityDescription == [
                    "columns, PID, Name, Size, sorted by Size, ascending, at Size, focused"
                ])
            app.press(.tab)
            #expect(table.isFirstResponder)
        }
    }

    @Test func `A column that is not sortable is skipped by taps and arrows`() throws {
        try with { app, table, processes in
            table.columns[1].isSortable = false
            app.tap(at: Point(8, 0))
            #expect(processes.orders.isEmpty)
            table.header.becomeFirstResponder()
            app.press(.right, .enter)
            #expect(processes.orders == [TableView.SortOrder(column: 2)])
        }
    }

    @Test func `Removing the sorted column clears sortOrder, and a narrow table cuts the last columns`() throws {
        try with(9) { app, table, _ in
            #expect(app.line(1) == "    7  1…")
            table.sortOrder = TableView.SortOrder(column: 2, isAscending: false)
            table.columns.removeLast()
            #expect(table.sortOrder == nil)
            app.settle()
            #expect(app.line(1) == "    7 in…")
        }
    }
}
