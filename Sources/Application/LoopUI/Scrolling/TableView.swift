// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// A scroll view that shows rows, one below the other; cells exist for the rows in view only.
///
/// ```swift
/// let table = TableView()
///
/// final class Lines: TableViewDataSource {
///     let lines = ["one", "two", "three"]
///
///     func numberOfRows(in tableView: TableView) -> Int { lines.count }
///     func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
///         let cell = tableView.dequeueCell(for: "line")
///         cell.text = lines[row]
///         return cell
///     }
/// }
///
/// let source = Lines()
/// table.register(TableCell.init, for: "line")
/// table.dataSource = source
/// ```
///
/// The user marks a row with the arrow keys and chooses it with enter, or chooses it by a tap.
///
/// - Complexity: scrolling costs O(rows in view); of rows with heights of their own, O(log n) more.
@MainActor open class TableView: ScrollView {
    /// Knows the rows; setting it loads them.
    public weak var dataSource: (any TableViewDataSource)? { didSet { reloadData() } }

    /// Hears what the user does; a ``TableViewDelegate`` hears of rows too.
    open override weak var delegate: (any ScrollViewDelegate)? {
        didSet {
            tableDelegate = delegate as? any TableViewDelegate
            if rowHeight == nil { reloadData() }
        }
    }

    weak var tableDelegate: (any TableViewDelegate)?

    /// The height of every row, in points; 1 unless set.
    ///
    /// If it is nil, the delegate is asked for each row.
    ///
    /// - Precondition: it is positive, and at most a thousand million.
    public var rowHeight: Double? = 1 {
        didSet {
            if let rowHeight { RowGeometry.require(rowHeight) }
            if rowHeight != oldValue { reloadData() }
        }
    }

    /// How many rows there are.
    public var numberOfRows: Int { rows.count }

    var rows = RowGeometry(count: 0, height: 1) { didSet { version &+= 1 } }
    /// Changes with the rows: what was read before a call of the program holds if this is the same afterwards.
    private(set) var version = 0
    /// The cells in view, and those that were made ahead of the scroll, by their rows.
    var cells: [Int: TableCell] = [:]
    /// The cells that wait for another row.
    private var spareCells: [String: [TableCell]] = [:]
    private var makers: [String: @MainActor () -> TableCell] = [:]
    /// Cells that are not used again, and are still inside.
    private var retiredCells: [TableCell] = []

    // MARK: Cells

    /// Says how cells of one kind are made.
    ///
    /// - Parameters:
    ///   - make: Makes an empty cell.
    ///   - identifier: The name of the kind.
    public func register(_ make: @escaping @MainActor () -> TableCell, for identifier: String) {
        makers[identifier] = make
    }

    /// A cell for the data source: one whose row has left the view, or a new one.
    ///
    /// - Parameters:
    ///   - type: The type of the cell.
    ///   - identifier: The name of the kind.
    /// - Precondition: the kind was registered, and its cells have this type.
    public func dequeueCell<Cell: TableCell>(_ type: Cell.Type = TableCell.self, for identifier: String) -> Cell {
        let cell: TableCell
        if let spare = spareCells[identifier]?.popLast() {
            spare.discardDrawing()
            spare.prepareForReuse()
            cell = spare
        } else {
            guard let make = makers[identifier] else {
                preconditionFailure("No cells were registered for \"\(identifier)\": call register(_:for:) first.")
            }
            cell = make()
            cell.reuseIdentifier = identifier
        }
        guard let result = cell as? Cell else {
            preconditionFailure("Cells for \"\(identifier)\" are \(Swift.type(of: cell)), not \(Cell.self).")
        }
        return result
    }

    /// The cell of a row, if it is in view.
    public func cell(forRow row: Int) -> TableCell? { visibleRows.contains(row) ? cells[row] : nil }

    /// The rows that have a place in view now, also the rows that are cut.
    public var visibleRows: Range<Int> { rows.rows(from: bounds.minY, to: bounds.maxY) }

    /// The row at a point of the content; nil if there is none.
    public func row(at point: Point) -> Int? {
        guard point.y >= 0, point.y < rows.total else { return nil }
        return rows.row(at: point.y)
    }

    /// Where a row lies in the content.
    ///
    /// - Precondition: there is such a row.
    public func rect(forRow row: Int) -> Rect {
        require(
            row >= 0 && row < rows.count,
            "There is no row \(row): the table has \(rows.count). Give a number from 0 to below that.")
        let top = rows.top(of: row)
        return Rect(0, top, rowWidth, rows.top(of: row + 1) - top)
    }

    /// Rows leave room for the bar at the edge, if there is one.
    var rowWidth: Double {
        let (first, last) = limits(in: frame.size)
        return frame.size.width - (showsVerticalScrollIndicator && last.y > first.y ? 1 : 0)
    }

    open override func layoutSubviews() {
        super.layoutSubviews()
        // Without its data source, which it does not keep, the table shows what it has.
        guard let dataSource else { return }
        let (visible, now) = (visibleRows, version)
        let kept = keptRows(around: visible)
        for row in cells.keys where !kept.contains(row) { recycle(row) }
        removeRetiredCells()
        for row in visible {
            // A change of the rows, in one of the calls, has asked for a layout of its own.
            guard now == version else { return }
            guard let cell = cells[row] ?? makeCell(row, dataSource) else { return }
            cell.frame = rect(forRow: row)
        }
        for row in kept where now == version && !visible.contains(row) { cells[row]?.frame = rect(forRow: row) }
        for cell in spareCells.values.joined() where now == version && !cell.isHidden { cell.isHidden = true }
        prepareRowsAhead()
    }

    /// The cell of the data source for a row; nil if the rows have changed meanwhile.
    func makeCell(_ row: Int, _ dataSource: any TableViewDataSource) -> TableCell? {
        let now = version
        let cell = dataSource.tableView(self, cellForRow: row)
        guard now == version else {
            spare(cell)
            return nil
        }
        // A cell shows one row, whatever the data source returns.
        for (other, shown) in cells where shown === cell { cells[other] = nil }
        if let identifier = cell.reuseIdentifier { spareCells[identifier]?.removeAll { $0 === cell } }
        cells[row] = cell
        cell.isSelected = row == selectedRow
        cell.isHighlighted = row == pressedRow
        cell.isHidden = false
        // In reading order, and behind what the program has added.
        let others = subviews.filter { $0 !== cell }
        let before = cells[row - 1].flatMap { before in others.firstIndex { $0 === before } }
        let place = before.map { $0 + 1 } ?? 0
        if !subviews.indices.contains(place) || subviews[place] !== cell { insertSubview(cell, at: place) }
        return now == version ? cell : nil
    }

    /// Takes the cell of a row out of view.
    ///
    /// It is hidden after the layout, unless it shows another row by then; a cell that is not used again stays until
    /// ``removeRetiredCells()``, since its removal calls the program.
    func recycle(_ row: Int) { if let cell = cells.removeValue(forKey: row) { spare(cell) } }

    private func spare(_ cell: TableCell) {
        if cells.values.contains(where: { $0 === cell }) { return }
        cell.cancelDrawing()
        if let identifier = cell.reuseIdentifier {
            spareCells[identifier, default: []].append(cell)
        } else {
            retiredCells.append(cell)
        }
    }

    /// Removes the cells that are not used again; their views call the program.
    func removeRetiredCells() {
        while let cell = retiredCells.popLast() {
            if cell.superview === self, !cells.values.contains(cell) { cell.removeFromSuperview() }
        }
    }

    override func sizeChanged(from old: Size) {
        // Following is about the end of the view as it was.
        let stays = follows && contentOffset.y >= limits(in: old).last.y && !isDragging
        contentSize.width = frame.size.width
        super.sizeChanged(from: old)
        if stays { scrollToEnd() }
    }

    // MARK: Rows ahead

    /// How many rows beyond those in view get their cells before they are scrolled into view, when the loop has nothing
    /// else to do; nil unless set: as many as are in view, if cells are drawn by an ``View/asyncDrawing``, else none.
    ///
    /// They are made in the direction of the last movement, so that what another thread draws is there when the row is.
    /// As many rows as that keep their cells on both sides. Corresponds to the display range of AsyncDisplayKit.
    public var rowsAhead: Int? { didSet { if rowsAhead != oldValue { setNeedsLayout() } } }
    /// What is known of the rows that are made ahead.
    let ahead = RowsAhead()

    // MARK: Columns

    /// The columns, whose texts the cells have in ``TableCell/texts``; none unless set.
    public var columns: [TableColumn] = [] {
        didSet {
            if columns == oldValue { return }
            if let sortOrder, !columns.indices.contains(sortOrder.column) { self.sortOrder = nil }
            header.changed()
            header.invalidateIntrinsicContentSize()
            for cell in cells.values { cell.setNeedsDisplay() }
        }
    }

    /// The titles of the columns, to be put above the table.
    public private(set) lazy var header = TableHeader(self)

    /// By which column the rows are sorted, which the header shows; setting it calls no method of the delegate.
    ///
    /// The data source sorts the rows.
    ///
    /// - Precondition: there is such a column.
    public var sortOrder: SortOrder? {
        didSet {
            if let sortOrder {
                require(
                    columns.indices.contains(sortOrder.column),
                    "There is no column \(sortOrder.column): the table has \(columns.count). Set columns first, or another order."
                )
            }
            if sortOrder != oldValue { header.changed() }
        }
    }

    // MARK: Selection

    /// Whether the user can mark and choose rows; true unless set.
    public var allowsSelection = true

    /// The row that is marked; a change by the program tells nobody.
    public var selectedRow: Int? {
        didSet {
            if let selectedRow { _ = rect(forRow: selectedRow) }
            if selectedRow != oldValue {
                if let oldValue { cells[oldValue]?.isSelected = false }
                if let selectedRow { cells[selectedRow]?.isSelected = true }
                // The cursor follows it.
                setNeedsDisplay()
            }
            if !isRenumbering { selectedItem = selectedRow.flatMap(identifier) }
        }
    }
    /// What identifies the item of the marked row, if the data source says so.
    var selectedItem: AnyHashable?
    /// What identifies the item that a finger is on.
    var pressedItem: AnyHashable?
    /// Whether rows get new numbers: the marks keep their items, and the data source is not asked in the middle.
    var isRenumbering = false

    /// What identifies the item of a row; nil as well where the data source has fewer rows by now.
    func identifier(_ row: Int) -> AnyHashable? {
        guard let dataSource, row < dataSource.numberOfRows(in: self) else { return nil }
        return dataSource.tableView(self, identifierForRow: row)
    }

    /// The row that a finger is on.
    var pressedRow: Int? {
        didSet {
            if pressedRow == oldValue { return }
            if let oldValue { cells[oldValue]?.isHighlighted = false }
            if let pressedRow { cells[pressedRow]?.isHighlighted = true }
            if !isRenumbering { pressedItem = pressedRow.flatMap(identifier) }
        }
    }

    /// Whether the table stays at its end when rows are added there, as long as the user has not scrolled away from it;
    /// false unless set.
    ///
    /// Setting it scrolls to the end.
    public var follows = false { didSet { if follows { scrollToEnd() } } }

    // MARK: Events

    open override var canBecomeFirstResponder: Bool { allowsSelection || super.canBecomeFirstResponder }

    open override var accessibilityRole: String? { "table" }

    /// The number of rows as text, such as "12 rows": rows out of view have no cells that could be counted.
    open override var accessibilityValue: String? { "\(rows.count) rows" }

    /// Arrows, page keys, home and end move the mark; enter chooses the row.
    open override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        if allowsSelection, let press = presses.first, press.modifiers.isEmpty, handle(press.key) { return }
        super.pressesBegan(presses, with: event)
    }

    /// The cursor stands on the marked row, so that a screen reader reads it; on the first row in view if none is
    /// marked, so that the focus is seen.
    open override var cursor: Point? {
        guard allowsSelection, let row = selectedRow ?? visibleRows.first, visibleRows.contains(row) else { return nil }
        return rect(forRow: row).origin
    }

    open override func touchesBegan(_ touches: Set<Touch>, with event: Event?) {
        guard allowsSelection, touches.arePrimary, let touch = touches.first else {
            return super.touchesBegan(touches, with: event)
        }
        takeFocus()
        pressedRow = row(at: touch.location(in: self))
    }

    open override func touchesMoved(_ touches: Set<Touch>, with event: Event?) {
        guard allowsSelection, touches.arePrimary else { return super.touchesMoved(touches, with: event) }
        if let pressedRow, let touch = touches.first, row(at: touch.location(in: self)) != pressedRow {
            self.pressedRow = nil
        }
    }

    /// A finger that goes up on the row where it went down chooses it.
    open override func touchesEnded(_ touches: Set<Touch>, with event: Event?) {
        guard allowsSelection, touches.arePrimary else { return super.touchesEnded(touches, with: event) }
        guard let row = pressedRow, let touch = touches.first else { return }
        pressedRow = nil
        guard self.row(at: touch.location(in: self)) == row, let marked = moveSelection(to: row) else { return }
        tableDelegate?.tableView(self, didSelectRow: marked)
    }

    open override func touchesCancelled(_ touches: Set<Touch>, with event: Event?) {
        guard allowsSelection, touches.arePrimary else { return super.touchesCancelled(touches, with: event) }
        pressedRow = nil
    }
}
