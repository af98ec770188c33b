// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import RunLoopsTesting
import Testing

/// Rows with a text each, and what a table has asked for and told.
@MainActor final class Rows: TableViewDataSource, TableViewDelegate {
    var texts: [String] = []
    var heights: [String: Double] = [:]
    /// How many rows there are, if the texts are their numbers.
    var count: Int?
    private(set) var asked: [Int] = []
    private(set) var made = 0
    var entries: [String] = []

    func makeCell() -> TableCell {
        made += 1
        return TableCell()
    }

    func text(_ row: Int) -> String { count == nil ? texts[row] : "row \(row)" }

    func takeAsked() -> [Int] {
        defer { asked = [] }
        return asked
    }

    func numberOfRows(in tableView: TableView) -> Int { count ?? texts.count }
    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        asked.append(row)
        let cell = tableView.dequeueCell(for: "row")
        cell.text = text(row)
        return cell
    }
    func tableView(_ tableView: TableView, didSelectRow row: Int) { entries.append("chose \(text(row))") }
    func tableView(_ tableView: TableView, didMoveSelectionTo row: Int?) {
        entries.append("marked \(row.map(text) ?? "none")")
    }
    func tableView(_ tableView: TableView, heightForRow row: Int) -> Double { heights[texts[row]] ?? 1 }
}

@MainActor private final class NumberedCell: TableCell {
    var number = 0 { didSet { setNeedsDisplay() } }

    override func draw(in canvas: inout Canvas) { canvas.write("<\(number)>", at: .zero, style: currentStyle) }
}

@MainActor private final class Numbered: TableViewDataSource {
    func numberOfRows(in tableView: TableView) -> Int { 4 }
    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        let cell = tableView.dequeueCell(NumberedCell.self, for: "number")
        cell.number = row
        return cell
    }
}

/// A table of 20 by 5 points.
@MainActor struct TableFixture {
    let app: TestApplication
    let table = TableView()
    let rows = Rows()

    static func with(
        _ texts: [String] = [], count: Int? = nil, variable: Bool = false, _ body: (TableFixture) throws -> Void
    ) throws {
        try TestApplication.with(size: Size(20, 5)) { app in
            let fixture = TableFixture(app: app)
            fixture.rows.texts = texts
            fixture.rows.count = count
            fixture.table.showsVerticalScrollIndicator = false
            fixture.table.register({ [rows = fixture.rows] in rows.makeCell() }, for: "row")
            if variable { fixture.table.rowHeight = nil }
            fixture.table.delegate = fixture.rows
            fixture.table.dataSource = fixture.rows
            app.show(fixture.table)
            fixture.table.becomeFirstResponder()
            app.settle()
            try body(fixture)
        }
    }

    var lines: [String] {
        var lines = app.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        lines.removeLast()
        return lines
    }

    func insert(_ texts: [String], at row: Int) {
        rows.texts.insert(contentsOf: texts, at: row)
        table.insertRows(row..<row + texts.count)
        app.settle()
    }

    func delete(_ range: Range<Int>) {
        rows.texts.removeSubrange(range)
        table.deleteRows(range)
        app.settle()
    }

    /// Whether the row is drawn with its colours exchanged.
    func isInverse(_ line: Int) -> Bool {
        app.display.frame?.cells[0, line].style.attributes.contains(.inverse) ?? false
    }
}

@MainActor @Suite struct TableViewTests {
    @Test func `Only visible rows have cells, and the cells are reused`() throws {
        try TableFixture.with(count: 1_000_000) { f in
            #expect(f.lines == ["row 0", "row 1", "row 2", "row 3", "row 4"])
            #expect(f.rows.takeAsked().sorted() == [0, 1, 2, 3, 4] && f.rows.made == 5)
            f.table.contentOffset = Point(0, 1)
            f.app.settle()
            #expect(f.rows.takeAsked() == [5])
            f.table.contentOffset = Point(0, 999_995)
            f.app.settle()
            #expect(f.lines.last == "row 999999")
            #expect(f.rows.takeAsked().count == 5)
            f.table.contentOffset = Point(0, 500_000)
            f.app.settle()
            #expect(f.lines.first == "row 500000")
            // Cells are used again, wherever the table goes.
            #expect(f.rows.made == 5)
            #expect(f.table.subviews.count == 5)
        }
    }

    @Test func `Scrolling a million rows asks only for the rows that come into view`() throws {
        try TableFixture.with(count: 1_000_000) { f in
            _ = f.rows.takeAsked()
            for _ in 0..<200 { f.app.press(.pageDown) }
            f.app.send(.wheel(WheelInput(Point(0, 100), at: Point(3, 3))))
            f.app.play(.drag(from: Point(3, 4), to: Point(3, 0), lasting: .milliseconds(60)))
            f.app.advance(by: .seconds(5))
            // A page of four rows each time, five for the wheel, and the rows that the drag and its end pass.
            let asked = f.rows.takeAsked()
            let last = f.table.visibleRows.upperBound
            #expect(asked.count <= 200 * 4 + 5 + last - 1100 && f.rows.made <= 10)
            #expect(f.app.wakeUpsWhenIdle == 0)

            // A row further, one cell is drawn.
            f.app.settle()
            let before = f.app.application.commit.counts
            f.table.contentOffset.y += 1
            f.app.settle()
            let after = f.app.application.commit.counts
            #expect(after.displays - before.displays == 1 && after.layouts - before.layouts <= 2)
            #expect(after.frames - before.frames == 1)
        }
    }

    @Test func `A table describes its visible rows for accessibility`() throws {
        try TableFixture.with(["a", "b"]) { f in
            f.app.press(.down, .down)
            #expect(f.table.accessibilityDescription == ["table, 2 rows, focused", "row, a", "row, b, selected"])
            f.insert((0..<30).map { "r\($0)" }, at: 0)
            for offset in [3.0, 1, 9, 8, 20, 0, 27] {
                f.table.contentOffset.y = offset
                f.app.settle()
                let words = f.table.accessibilityDescription.dropFirst().map { $0.dropFirst(5).prefix { $0 != "," } }
                #expect(words.map(String.init) == f.lines)
            }
        }
    }

    @Test func `Rows may have heights of their own`() throws {
        try TableFixture.with(["a", "b", "c", "d"], variable: true) { f in
            #expect(f.lines == ["a", "b", "c", "d", ""])
            f.rows.heights = ["a": 2, "c": 3]
            f.table.reloadData()
            f.app.settle()
            #expect(f.lines == ["a", "", "b", "c", ""])
            #expect(f.table.contentSize == Size(20, 7))
            f.app.press(.end)
            #expect(f.lines == ["b", "c", "", "", "d"])
            f.rows.heights["a"] = 4
            f.table.reloadRows(0..<1)
            f.app.settle()
            #expect(f.lines == ["b", "c", "", "", "d"])
            #expect(f.table.contentSize.height == 9)
        }
    }

    @Test func `The cursor shows the focus only if no row is selected`() throws {
        try TableFixture.with(count: 30) { f in
            f.table.becomeFirstResponder()
            f.table.contentOffset = Point(0, 7)
            f.app.settle()
            #expect(f.app.display.frame?.cursor == Point(0, 0))
            f.table.selectedRow = 3
            f.app.settle()
            #expect(f.app.display.frame?.cursor == nil)
        }
    }

    @Test func `Keys move the selection and scroll, and Enter chooses the selected row`() throws {
        try TableFixture.with(count: 30) { f in
            for (key, row) in [
                (Key.down, 0), (.down, 1), (.up, 0), (.up, 0), (.pageDown, 4), (.pageDown, 8), (.pageUp, 4), (.end, 29),
                (.down, 29), (.home, 0), (.down, 1),
            ] {
                f.app.press(key)
                #expect(f.table.selectedRow == row, "after \(key)")
                #expect(f.table.visibleRows.contains(row))
                let line = row - Int(f.table.contentOffset.y)
                #expect((0..<5).filter(f.isInverse) == [line])
                #expect(f.app.display.frame?.cursor == Point(0, Double(line)))
            }
            f.rows.entries = []
            f.app.press(.enter)
            f.app.press(.down)
            #expect(f.rows.entries == ["chose row 1", "marked row 2"])
            f.table.allowsSelection = false
            f.app.press(.pageDown)
            #expect(f.table.selectedRow == 2 && f.table.contentOffset.y == 4)
        }
    }

    @Test func `A tap chooses its row on touch up, and a scroll chooses no row`() throws {
        try TableFixture.with(count: 30) { f in
            f.app.send(.pointer(PointerInput(.began, at: Point(3, 2))))
            #expect(!f.isInverse(2))
            f.app.advance(by: .milliseconds(150))
            #expect(f.isInverse(2) && f.rows.entries.isEmpty)
            f.app.send(.pointer(PointerInput(.ended, at: Point(3, 2))))
            #expect(f.rows.entries == ["marked row 2", "chose row 2"])
            #expect(f.table.selectedRow == 2)
            f.app.tap(at: Point(3, 4))
            #expect(f.rows.entries.last == "chose row 4")
            f.rows.entries = []
            // A slow drag: the row has the touch first, and loses it.
            f.app.play(.drag(from: Point(3, 4), to: Point(3, 1), lasting: .seconds(2)).resting(for: .seconds(1)))
            #expect(f.table.contentOffset.y == 3)
            #expect(f.rows.entries.isEmpty && f.table.selectedRow == 4)
            #expect((0..<5).filter(f.isInverse) == [1])
            // The wheel moves the rows away under the finger.
            f.app.send(.pointer(PointerInput(.began, at: Point(3, 3))))
            f.app.advance(by: .milliseconds(200))
            f.app.send(.wheel(WheelInput(Point(0, 1), at: Point(3, 3))))
            f.app.send(.pointer(PointerInput(.ended, at: Point(3, 3))))
            #expect(f.rows.entries.isEmpty)
            // Below the last row there is nothing to choose.
            f.rows.count = 2
            f.table.reloadData()
            f.app.tap(at: Point(3, 4))
            #expect(f.rows.entries.isEmpty)
        }
    }

    @Test func `Inserting and deleting rows keeps the visible rows and the selection in place`() throws {
        try TableFixture.with((0..<20).map { "r\($0)" }) { f in
            f.table.contentOffset = Point(0, 10)
            f.table.selectedRow = 12
            f.app.settle()
            let seen = ["r10", "r11", "r12", "r13", "r14"]
            #expect(f.lines == seen && f.isInverse(2))
            _ = f.rows.takeAsked()
            f.insert(["x", "y"], at: 3)
            #expect(f.lines == seen && f.isInverse(2) && f.table.selectedRow == 14)
            f.delete(0..<4)
            #expect(f.lines == seen && f.isInverse(2) && f.table.selectedRow == 10)
            #expect(f.table.contentOffset.y == 8)
            // No cell in view was asked for anew.
            #expect(f.rows.takeAsked().isEmpty)
            f.insert(["z"], at: 9)
            #expect(f.lines == ["r10", "z", "r11", "r12", "r13"] && f.isInverse(3))
            #expect(f.rows.takeAsked() == [9])
            // The mark goes to the row that takes the place.
            f.delete(10..<12)
            #expect(f.lines == ["r10", "z", "r13", "r14", "r15"] && f.table.selectedRow == 10)
            #expect(f.rows.entries == ["marked r13"])
            f.delete(8..<10)
            #expect(f.lines == ["r13", "r14", "r15", "r16", "r17"])
            f.delete(0..<f.rows.texts.count)
            #expect(f.lines == ["", "", "", "", ""] && f.table.selectedRow == nil && f.table.contentOffset == .zero)
            f.insert(["new"], at: 0)
            #expect(f.lines.first == "new")
        }
    }

    @Test func `If a table is scrolled to its top, a row inserted at its beginning is shown`() throws {
        try TableFixture.with((0..<20).map { "r\($0)" }) { f in
            f.insert(["new"], at: 0)
            #expect(f.lines == ["new", "r0", "r1", "r2", "r3"])
        }
    }

    @Test func `Rows inserted above do not move the visible rows during a drag or a deceleration`() throws {
        try TableFixture.with((0..<200).map { "r\($0)" }) { f in
            f.table.contentOffset = Point(0, 50)
            f.app.send(.pointer(PointerInput(.began, at: Point(3, 4))))
            f.app.send(.pointer(PointerInput(.moved, at: Point(3, 3))))
            #expect(f.lines.first == "r51")
            f.insert(["x", "y", "z"], at: 0)
            #expect(f.lines.first == "r51")
            f.app.send(.pointer(PointerInput(.moved, at: Point(3, 1))))
            #expect(f.lines.first == "r53")
            f.app.send(.pointer(PointerInput(.ended, at: Point(3, 1))))
            #expect(f.table.isDecelerating)
            f.app.settle()
            let first = try #require(f.rows.texts.firstIndex(of: f.lines[0]))
            f.insert(["u", "v", "w"], at: 0)
            let then = try #require(f.rows.texts.firstIndex(of: f.lines[0]))
            #expect(f.table.isDecelerating)
            #expect((first + 3...first + 7).contains(then))
        }
    }

    @Test func `A table whose follows property is true shows its end until the user scrolls away`() throws {
        try TableFixture.with((0..<20).map { "r\($0)" }) { f in
            f.table.follows = true
            f.app.settle()
            #expect(f.lines.last == "r19")
            f.insert(["r20", "r21"], at: 20)
            #expect(f.lines.last == "r21")
            f.app.send(.wheel(WheelInput(Point(0, -1), at: Point(3, 3))))
            f.insert(["r22"], at: 22)
            #expect(f.lines.last == "r18")
            f.app.press(.end)
            #expect(f.lines.last == "r22")
            f.insert(["r23"], at: 23)
            #expect(f.lines.last == "r23")
            // Rows that go at the beginning, as in a log of bounded length, and a smaller display.
            f.delete(0..<5)
            #expect(f.lines.last == "r23")
            f.app.display.resize(to: Size(20, 3))
            f.app.settle()
            #expect(f.lines == ["r21", "r22", "r23"])
            f.rows.texts.append("r24")
            f.table.reloadData()
            f.app.settle()
            #expect(f.lines == ["r22", "r23", "r24"])
        }
    }

    @Test func `scrollToRow puts the row at the given position`() throws {
        try TableFixture.with(count: 100) { f in
            for (position, offset) in [
                (TableView.ScrollPosition.top, 50.0), (.middle, 48), (.bottom, 46), (.nearest, 46),
            ] {
                f.table.scrollToRow(50, at: position)
                #expect(f.table.contentOffset.y == offset)
            }
            f.table.scrollToRow(99, at: .top)
            #expect(f.table.contentOffset.y == 95)
            f.table.scrollToRow(0, animated: true)
            f.app.advance(by: .seconds(1))
            #expect(f.table.contentOffset.y == 0)
        }
    }

    @Test func `A reload changes contentOffset and selectedRow only if there are too few rows`() throws {
        try TableFixture.with(count: 100) { f in
            f.table.contentOffset = Point(0, 60)
            f.table.selectedRow = 62
            f.table.reloadData()
            f.app.settle()
            #expect(f.table.contentOffset.y == 60 && f.isInverse(2))
            f.rows.count = 63
            f.table.reloadData()
            #expect(f.table.contentOffset.y == 58 && f.table.selectedRow == 62)
            f.rows.count = 10
            f.table.reloadData()
            #expect(f.table.contentOffset.y == 5 && f.table.selectedRow == nil)
        }
    }

    @Test func `Rows leave room for the scroll indicator, and have the full width without it`() throws {
        try TableFixture.with(count: 50) { f in
            f.rows.count = 50
            f.table.showsVerticalScrollIndicator = true
            f.app.settle()
            #expect(f.table.cell(forRow: 0)?.frame == Rect(0, 0, 19, 1))
            #expect(f.lines.first == "row 0              ▐")
            f.rows.count = 5
            f.table.reloadData()
            f.app.settle()
            #expect(f.table.cell(forRow: 0)?.frame == Rect(0, 0, 20, 1))
        }
    }

    @Test func `A table whose data source was released keeps its rows`() throws {
        try TestApplication.with(size: Size(10, 2)) { app in
            let table = TableView()
            table.register(NumberedCell.init, for: "number")
            var source: Numbered? = Numbered()
            table.dataSource = source
            app.show(table)
            source = nil
            app.send(.wheel(WheelInput(Point(0, 1), at: .zero)))
            app.press(.up, .enter)
            #expect(table.dataSource == nil && table.contentOffset.y == 2)
            table.reloadData()
            app.settle()
            #expect(table.numberOfRows == 0)
        }
    }

    @Test func `A subclass of TableCell is registered by its initialiser`() throws {
        try TestApplication.with(size: Size(10, 2)) { app in
            let (table, source) = (TableView(), Numbered())
            table.register(NumberedCell.init, for: "number")
            table.dataSource = source
            app.show(table)
            #expect(app.text == "<0>      ▐\n<1>\n")
        }
    }

    @Test func `Dequeuing a cell for an unregistered identifier traps`() async {
        await #expect(processExitsWith: .failure) {
            await MainActor.run { _ = TableView().dequeueCell(for: "nothing") }
        }
    }
}

// MARK: - Identifiers

/// Rows that are identified by their texts.
@MainActor private final class Items: TableViewDataSource, TableViewDelegate {
    var texts: [String]
    var entries: [String] = []
    private(set) var asked = 0

    init(_ texts: [String]) { self.texts = texts }

    func takeAsked() -> Int {
        defer { asked = 0 }
        return asked
    }
    func numberOfRows(in tableView: TableView) -> Int { texts.count }
    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        let cell = tableView.dequeueCell(for: "row")
        cell.text = texts[row]
        return cell
    }
    func tableView(_ tableView: TableView, identifierForRow row: Int) -> AnyHashable? {
        asked += 1
        return texts[row]
    }
    func tableView(_ tableView: TableView, didSelectRow row: Int) { entries.append("chose \(texts[row])") }
    func tableView(_ tableView: TableView, didMoveSelectionTo row: Int?) {
        entries.append("marked \(row.map { texts[$0] } ?? "none")")
    }
}

@MainActor @Suite struct TableIdentifierTests {
    private func with(_ texts: [String], _ body: (TestApplication, TableView, Items) throws -> Void) throws {
        try TestApplication.with(size: Size(20, 5)) { app in
            let (table, items) = (TableView(), Items(texts))
            table.register(TableCell.init, for: "row")
            table.delegate = items
            table.dataSource = items
            app.show(table)
            table.becomeFirstResponder()
            try body(app, table, items)
        }
    }

    @Test func `A reload keeps the selection on its item, and Enter chooses the item`() throws {
        try with(["a", "b", "c", "d"]) { app, table, items in
            table.selectedRow = 1
            for texts in [["d", "c", "b", "a"], ["b"], ["x", "y", "z", "b"]] {
                items.texts = texts
                table.reloadData()
                app.settle()
                #expect(table.selectedRow == texts.firstIndex(of: "b"))
                #expect(table.cell(forRow: table.selectedRow ?? -1)?.isSelected == true)
                #expect(table.subviews.filter { ($0 as? TableCell)?.isSelected == true && !$0.isHidden }.count == 1)
            }
            app.press(.enter)
            #expect(items.entries == ["chose b"])
        }
    }

    @Test func `A reload without the selected item clears the selection and calls the delegate`() throws {
        try with(["a", "b", "c", "d"]) { app, table, items in
            table.selectedRow = 1
            items.texts = ["a", "c", "d"]
            table.reloadData()
            #expect(table.selectedRow == nil && items.entries == ["marked none"])
            app.press(.enter)
            #expect(items.entries == ["marked none"])
            items.texts = ["b"]
            table.reloadData()
            #expect(table.selectedRow == nil && items.entries == ["marked none"])
        }
    }

    @Test func `A touch during a reload chooses the row only if its item is still under the finger`() throws {
        try with(["a", "b", "c", "d"]) { app, table, items in
            app.send(.pointer(PointerInput(.began, at: Point(0, 1))))
            app.advance(by: .seconds(1))
            items.texts = ["x", "b"]
            table.reloadData()
            app.send(.pointer(PointerInput(.ended, at: Point(0, 1))))
            #expect(items.entries == ["marked b", "chose b"])
            items.entries = []
            app.advance(by: .seconds(1))
            app.send(.pointer(PointerInput(.began, at: Point(0, 0))))
            app.advance(by: .seconds(1))
            items.texts = ["b", "x"]
            table.reloadData()
            app.send(.pointer(PointerInput(.ended, at: Point(0, 0))))
            #expect(items.entries == [])
        }
    }

    @Test func `Inserted and deleted rows keep the selection on its item, and a later reload finds the item`() throws {
        try with(["a", "b", "c"]) { app, table, items in
            table.selectedRow = 2
            items.texts.insert("n", at: 0)
            table.insertRows(0..<1)
            #expect(table.selectedRow == 3)
            items.texts.reverse()
            table.reloadData()
            #expect(table.selectedRow == 0 && items.texts[0] == "c")
            items.texts.remove(at: 0)
            table.deleteRows(0..<1)
            items.texts.reverse()
            table.reloadData()
            #expect(table.selectedRow.map { items.texts[$0] } == "b")
        }
    }

    @Test func `A reload searches for the selected item near its old row`() throws {
        try with((0..<10_000).map { "\($0)" }) { _, table, items in
            table.selectedRow = 5_000
            items.texts.insert("new", at: 0)
            _ = items.takeAsked()
            table.reloadData()
            #expect(table.selectedRow == 5_001)
            #expect(items.takeAsked() < 10)
        }
    }
}
