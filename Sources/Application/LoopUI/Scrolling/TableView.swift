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
/// - Complexity: scrolling costs O(rows in view), and O(log n) more if each row has its own height.
@MainActor open class TableView: ScrollView {
    /// The source of the rows; setting it reloads the table.
    public weak var dataSource: (any TableViewDataSource)? { didSet { reloadData() } }

    /// The delegate, which is called when the content moves; a ``TableViewDelegate`` is called for rows too.
    open override weak var delegate: (any ScrollViewDelegate)? {
        didSet {
            tableDelegate = delegate as? any TableViewDelegate
            if rowHeight == nil { reloadData() }
        }
    }

    weak var tableDelegate: (any TableViewDelegate)?

    /// The height of every row, in points; 1 unless set.
    ///
    /// If this is nil, the delegate is asked for the height of each row.
    ///
    /// - Precondition: the height is positive, and at most a thousand million.
    public var rowHeight: Double? = 1 {
        didSet {
            if let rowHeight { RowGeometry.require(rowHeight) }
            if rowHeight != oldValue { reloadData() }
        }
    }

    /// The number of rows.
    public var numberOfRows: Int { rows.count }

    var rows = RowGeometry(count: 0, height: 1) { didSet { version &+= 1 } }
    /// The number of changes of the rows; if a call of the program leaves it equal, values that were read before the
    /// call are still valid.
    private(set) var version = 0
    /// The cells in view, and those that were made ahead of the scroll, by their rows.
    var cells: [Int: TableCell] = [:]
    /// The cells that can be reused, by their kinds.
    private var spareCells: [String: [TableCell]] = [:]
    private var makers: [String: @MainActor () -> TableCell] = [:]
    /// Cells that are not reused and are still subviews.
    private var retiredCells: [TableCell] = []

    // MARK: Cells

    /// Registers a closure that makes cells of one kind.
    ///
    /// - Parameters:
    ///   - make: Returns a new, empty cell.
    ///   - identifier: The name of the kind.
    public func register(_ make: @escaping @MainActor () -> TableCell, for identifier: String) {
        makers[identifier] = make
    }

    /// Returns a cell for the data source: a cell whose row has left the view, or a new one.
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

    /// Returns the cell of a row; nil if the row is not in view.
    public func cell(forRow row: Int) -> TableCell? { visibleRows.contains(row) ? cells[row] : nil }

    /// The rows that are in view now, including rows that are only partly in view.
    public var visibleRows: Range<Int> { rows.rows(from: bounds.minY, to: bounds.maxY) }

    /// Returns the row at a point of the content; nil if there is none.
    public func row(at point: Point) -> Int? {
        guard point.y >= 0, point.y < rows.total else { return nil }
        return rows.row(at: point.y)
    }

    /// Returns the rectangle of a row in the content.
    ///
    /// - Precondition: there is such a row.
    public func rect(forRow row: Int) -> Rect {
        require(
            row >= 0 && row < rows.count,
            "There is no row \(row): the table has \(rows.count). Give a number from 0 to below that.")
        let top = rows.top(of: row)
        return Rect(0, top, rowWidth, rows.top(of: row + 1) - top)
    }

    /// The width of the rows, which leave room for the scroll indicator at the edge if there is one.
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

    /// Returns the data source's cell for a row; nil if the rows have changed during the call.
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

    /// Takes the cell from a row that has left the view.
    ///
    /// The cell is hidden after the layout, unless it shows another row by then. A cell that is not reused stays a
    /// subview until ``removeRetiredCells()``, since its removal calls the program.
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

    /// Removes the cells that are not reused; their removal calls the program.
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

    /// The number of rows outside the view for which the table makes cells in advance, when the loop has nothing else
    /// to do; nil unless set.
    ///
    /// If this is nil, the table uses the number of rows in view if cells are drawn by an ``View/asyncDrawing``, and 0
    /// otherwise.
    ///
    /// Cells are made in the direction of the last movement, so that the drawing of another thread is ready when its
    /// row comes into view. This number of rows above the view, and as many below it, keep their cells. Corresponds to
    /// the display range of AsyncDisplayKit.
    public var rowsAhead: Int? { didSet { if rowsAhead != oldValue { setNeedsLayout() } } }
    /// The state of the work on cells that are made ahead.
    let ahead = RowsAhead()

    // MARK: Columns

    /// The columns of the table, for which the cells have ``TableCell/texts``; none unless set.
    public var columns: [TableColumn] = [] {
        didSet {
            if columns == oldValue { return }
            if let sortOrder, !columns.indices.contains(sortOrder.column) { self.sortOrder = nil }
            header.changed()
            header.invalidateIntrinsicContentSize()
            for cell in cells.values { cell.setNeedsDisplay() }
        }
    }

    /// The view with the titles of the columns, which the program puts above the table.
    public private(set) lazy var header = TableHeader(self)

    /// The order of the rows, which the header shows; nil if the rows are not sorted.
    ///
    /// The data source sorts the rows. Setting this property calls no method of the delegate.
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

    /// The selected row, which is shown as marked, or nil; setting it calls no method of the delegate.
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
    /// The identifier of the marked row's item, if the data source has identifiers.
    var selectedItem: AnyHashable?
    /// The identifier of the item whose row a finger is on, if the data source has identifiers.
    var pressedItem: AnyHashable?
    /// Whether rows are being renumbered: meanwhile, setting a marked row neither changes its identifier nor asks the
    /// data source for one.
    var isRenumbering = false

    /// Returns the identifier of a row's item; nil if there is none, or if the data source has fewer rows by now.
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

    /// Whether a table that is scrolled to its end stays at its end when rows are added there; false unless set.
    ///
    /// Setting it scrolls to the end.
    public var follows = false { didSet { if follows { scrollToEnd() } } }

    // MARK: Events

    open override var canBecomeFirstResponder: Bool { allowsSelection || super.canBecomeFirstResponder }

    open override var accessibilityRole: String? { "table" }

    /// The number of rows as text, such as "12 rows": rows out of view have no cells that could be counted.
    open override var accessibilityValue: String? { "\(rows.count) rows" }

    /// Moves the mark for arrows, page keys, home and end, and chooses the marked row for enter.
    open override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        if allowsSelection, let press = presses.first, press.modifiers.isEmpty, handle(press.key) { return }
        super.pressesBegan(presses, with: event)
    }

    /// The position of the cursor: on the marked row, so that a screen reader reads the row; if none is marked, on the
    /// first row in view, so that the focus is visible.
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

    /// Chooses a row if a finger goes up on the row where it went down.
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
