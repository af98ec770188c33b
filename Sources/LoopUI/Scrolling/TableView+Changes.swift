// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension TableView {
    /// Asks the data source for everything again.
    ///
    /// The place in the content stays, and so does the marked row, as far as there are enough rows.
    ///
    /// - Complexity: O(rows in view); O(rows) if each has its own height.
    public func reloadData() {
        let count = max(0, dataSource?.numberOfRows(in: self) ?? 0)
        keepingEnd {
            for row in cells.keys { recycle(row) }
            pressedRow = nil
            rows = geometry(of: count)
            if let selectedRow, selectedRow >= count { self.selectedRow = nil }
        }
    }

    /// Shows rows that the data source has already.
    ///
    /// The rows in view stay where they are, and the marked row stays marked; at the very beginning of the table, rows
    /// that come before all others are seen.
    ///
    /// - Parameter range: The new rows, as they are numbered now.
    /// - Precondition: the data source has that many rows more.
    /// - Complexity: O(rows in view); if each has its own height, O(new rows and rows behind them).
    public func insertRows(_ range: Range<Int>) {
        precondition(
            range.lowerBound >= 0 && range.lowerBound <= rows.count,
            "Rows \(range) were inserted into a table of \(rows.count).")
        require(rows.count + range.count, after: "inserting \(range.count)")
        change(.insert(range)) { rows.insert(range, height: height) }
    }

    /// Takes rows out that the data source has no longer.
    ///
    /// The other rows in view stay where they are. If the marked row is among the deleted ones, the row that comes to
    /// its place is marked.
    ///
    /// - Parameter range: The rows, as they were numbered before.
    /// - Precondition: the data source has that many rows less.
    /// - Complexity: O(rows in view); if each has its own height, O(rows behind).
    public func deleteRows(_ range: Range<Int>) {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= rows.count,
            "Rows \(range) were deleted from a table of \(rows.count).")
        require(rows.count - range.count, after: "deleting \(range.count)")
        for row in cells.keys where range.contains(row) { recycle(row) }
        change(.delete(range)) { rows.remove(range) }
    }

    /// Asks the data source for the cells of rows again, and the delegate for their heights.
    ///
    /// - Complexity: O(rows in view); if each has its own height, O(rows behind).
    public func reloadRows(_ range: Range<Int>) {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= rows.count,
            "Rows \(range) of a table of \(rows.count) were reloaded.")
        require(rows.count, after: "reloading")
        for row in cells.keys where range.contains(row) { recycle(row) }
        change(.reload(range)) {
            if rowHeight != nil { return }
            rows.remove(range)
            rows.insert(range, height: height)
        }
    }

    private func require(_ count: Int, after change: String) {
        let now = dataSource?.numberOfRows(in: self) ?? 0
        precondition(
            now == count, "The data source has \(now) rows after \(change): the table had \(rows.count).")
    }

    private func geometry(of count: Int) -> RowGeometry {
        if let rowHeight { return RowGeometry(count: count, height: rowHeight) }
        return RowGeometry(heights: (0..<count).lazy.map { self.height($0) })
    }

    private func height(_ row: Int) -> Double { tableDelegate?.tableView(self, heightForRow: row) ?? 1 }

    /// Changes rows: cells, marks and the first row in view keep their rows.
    private func change(_ change: RowChange, _ body: () -> Void) {
        let marked = selectedRow
        keepingEnd {
            let anchor = rows.row(at: contentOffset.y)
            let cut = anchor.map { contentOffset.y - rows.top(of: $0) } ?? 0
            let isAtTop = contentOffset.y <= limits(in: frame.size).first.y
            let pressed = pressedRow
            (selectedRow, pressedRow) = (nil, nil)
            cells = Dictionary(
                uniqueKeysWithValues: cells.compactMap { row, cell in change.number(of: row).map { ($0, cell) } })
            body()
            pressedRow = pressed.flatMap(change.number)
            selectedRow = marked.flatMap(change.number)
            if marked != nil, selectedRow == nil, rows.count > 0 {
                selectedRow = min(change.range.lowerBound, rows.count - 1)
            }
            // At the very beginning, new rows before all others are to be seen.
            if isAtTop, case .insert = change { return }
            guard let anchor else { return }
            let place =
                change.number(of: anchor).map { rows.top(of: $0) + cut } ?? rows.top(of: change.range.lowerBound)
            // The content is as large as before and after, until the offset is right.
            contentSize.height = max(contentSize.height, rows.total)
            shiftContent(by: Point(0, place - contentOffset.y))
        }
        if let marked, change.number(of: marked) == nil {
            tableDelegate?.tableView(self, didMoveSelectionTo: selectedRow)
        }
    }

    /// Changes rows; a table that follows and is at its end stays there.
    private func keepingEnd(_ body: () -> Void) {
        let stays = follows && isAtEnd && !isDragging
        body()
        contentSize = Size(frame.size.width, rows.total)
        if stays { scrollToEnd() }
        setNeedsLayout()
    }
}
