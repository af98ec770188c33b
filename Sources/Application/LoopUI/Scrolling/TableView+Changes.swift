// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

extension TableView {
    /// Asks the data source for everything again.
    ///
    /// The content offset stays. If the data source has identifiers, the item of the marked row stays marked, in
    /// whichever row it is now; else the row with the same number stays marked, if there are enough rows.
    ///
    /// - Complexity: O(rows in view); O(rows) if each row has its own height. With identifiers, O(distance that the
    ///   marked item has moved), or O(rows) if the item was removed.
    public func reloadData() {
        let now = version
        let (selected, pressed) = (selectedItem, pressedItem)
        let loaded = geometry(of: max(0, dataSource?.numberOfRows(in: self) ?? 0))
        let marked = selected.map { find($0, from: selectedRow, in: loaded.count) }
        let held = pressed.flatMap { find($0, from: pressedRow, in: loaded.count) }
        // A change that was made in one of these calls has read the same.
        guard now == version else { return }
        keepingEnd {
            isRenumbering = true
            defer { isRenumbering = false }
            for row in cells.keys { recycle(row) }
            pressedRow = nil
            let row = marked ?? selectedRow
            selectedRow = nil
            rows = loaded
            selectedRow = row.flatMap { $0 < loaded.count ? $0 : nil }
            pressedRow = held
            if selectedRow == nil { selectedItem = nil }
            if held == nil { pressedItem = nil }
        }
        if selected == nil, let selectedRow { selectedItem = identifier(selectedRow) }
        if selected != nil, marked == .some(nil) { tableDelegate?.tableView(self, didMoveSelectionTo: selectedRow) }
    }

    /// Returns the row of an item, searched from its earlier row in both directions; nil if the item was removed.
    private func find(_ item: AnyHashable, from row: Int?, in count: Int) -> Int? {
        guard count > 0, let dataSource else { return nil }
        let start = min(row ?? 0, count - 1)
        for distance in 0..<count {
            let places = distance == 0 ? [start] : [start - distance, start + distance]
            for place in places where place >= 0 && place < count {
                if dataSource.tableView(self, identifierForRow: place) == item { return place }
            }
            if start - distance < 0, start + distance >= count { break }
        }
        return nil
    }

    /// Inserts rows that the data source already has.
    ///
    /// The rows in view stay where they are, and the marked row stays marked. If the table is scrolled to its very
    /// beginning, however, the content offset stays the same, so that new first rows come into view.
    ///
    /// - Parameter range: The new rows, by their new numbers.
    /// - Precondition: the data source's number of rows is the table's plus the length of `range`.
    /// - Complexity: O(rows in view); if each row has its own height, O(new rows and rows after them).
    public func insertRows(_ range: Range<Int>) {
        require(
            range.lowerBound >= 0 && range.lowerBound <= rows.count,
            "Rows \(range) were inserted into a table of \(rows.count).")
        change(.insert(range), to: rows.count &+ range.count, "inserting \(range.count)") {
            $0.insert(range, heights: $1)
        }
    }

    /// Removes rows that the data source no longer has.
    ///
    /// The other rows in view stay where they are. If the marked row is deleted, the row after the deleted ones is
    /// marked, or the last row if there is none.
    ///
    /// - Parameter range: The deleted rows, by their old numbers.
    /// - Precondition: the data source's number of rows is the table's minus the length of `range`.
    /// - Complexity: O(rows in view); if each row has its own height, O(rows after the deleted ones).
    public func deleteRows(_ range: Range<Int>) {
        require(
            range.lowerBound >= 0 && range.upperBound <= rows.count,
            "Rows \(range) were deleted from a table of \(rows.count).")
        change(.delete(range), to: rows.count - range.count, "deleting \(range.count)") { rows, _ in rows.remove(range)
        }
    }

    /// Asks the data source for the cells of rows again, and the delegate for their heights.
    ///
    /// - Complexity: O(rows in view); if each row has its own height, O(rows after the reloaded ones).
    public func reloadRows(_ range: Range<Int>) {
        require(
            range.lowerBound >= 0 && range.upperBound <= rows.count,
            "Rows \(range) of a table of \(rows.count) were reloaded.")
        change(.reload(range), to: rows.count, "reloading") { rows, heights in
            if heights.isEmpty { return }
            rows.remove(range)
            rows.insert(range, heights: heights)
        }
    }

    /// The maximum number of rows that a table shows: with more, two rows would have the same position.
    private static let maxRows = 1 << 50

    private func geometry(of count: Int) -> RowGeometry {
        require(
            count <= Self.maxRows, "The data source has \(count) rows: a table shows at most \(Self.maxRows) of them."
        )
        if let rowHeight { return RowGeometry(count: count, height: rowHeight) }
        return RowGeometry(heights: heights(of: 0..<count))
    }

    /// Returns the heights of rows from the delegate, if each row has its own; else an empty array.
    ///
    /// Not called while `rows` is being changed, since the delegate may use the table.
    private func heights(of rows: Range<Int>) -> [Double] {
        if rowHeight != nil { return [] }
        return rows.map { tableDelegate?.tableView(self, heightForRow: $0) ?? 1 }
    }

    /// Changes rows; cells and marks move with their rows, and the first row in view stays where it is.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - count: How many rows there are afterwards.
    ///   - name: The name of the change, for the message if the data source has another number of rows.
    ///   - body: Makes the change; receives the heights of new rows, if each row has its own.
    private func change(
        _ change: RowChange, to count: Int, _ name: String, _ body: (inout RowGeometry, [Double]) -> Void
    ) {
        let now = version
        let new = dataSource?.numberOfRows(in: self) ?? 0
        // Rows were changed in one of these calls: what they are now is read once more.
        guard now == version else { return reloadData() }
        require(
            new == count, "The data source has \(new) rows after \(name): the table had \(rows.count).")
        var heights: [Double] = []
        if case .delete = change {} else { heights = self.heights(of: change.range) }
        guard now == version else { return reloadData() }
        let marked = selectedRow
        keepingEnd {
            let anchor = rows.row(at: contentOffset.y)
            let cut = anchor.map { contentOffset.y - rows.top(of: $0) } ?? 0
            let isAtTop = contentOffset.y <= limits(in: frame.size).first.y
            let pressed = pressedRow
            isRenumbering = true
            (selectedRow, pressedRow) = (nil, nil)
            if case .insert = change {
            } else {
                for row in cells.keys where change.range.contains(row) { recycle(row) }
            }
            cells = Dictionary(
                uniqueKeysWithValues: cells.compactMap { row, cell in change.number(of: row).map { ($0, cell) } })
            body(&rows, heights)
            pressedRow = pressed.flatMap(change.number)
            selectedRow = marked.flatMap(change.number)
            if marked != nil, selectedRow == nil, rows.count > 0 {
                selectedRow = min(change.range.lowerBound, rows.count - 1)
            }
            isRenumbering = false
            if selectedRow == nil { selectedItem = nil }
            if pressedRow == nil { pressedItem = nil }
            // At the very beginning, new rows before all others are to be seen.
            if isAtTop, case .insert = change { return }
            guard let anchor else { return }
            let place =
                change.number(of: anchor).map { rows.top(of: $0) + cut } ?? rows.top(of: change.range.lowerBound)
            let after = version
            // The content is as large as before and after, until the offset is right.
            contentSize.height = max(contentSize.height, rows.total)
            if after == version { shiftContent(by: Point(0, place - contentOffset.y)) }
        }
        // Another item may be in its place.
        if let marked, change.number(of: marked) == nil || change.reloads(marked) {
            selectedItem = selectedRow.flatMap(identifier)
        }
        if let marked, change.number(of: marked) == nil {
            tableDelegate?.tableView(self, didMoveSelectionTo: selectedRow)
        }
    }

    /// Changes rows; a table with ``follows`` that is at its end is at its end afterwards too.
    private func keepingEnd(_ body: () -> Void) {
        let stays = follows && isAtEnd && !isDragging
        body()
        contentSize = Size(frame.size.width, rows.total)
        if stays { scrollToEnd() }
        setNeedsLayout()
        removeRetiredCells()
    }
}
