// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension TableView {
    /// The position in the table to which a row is scrolled.
    public enum ScrollPosition: Hashable, Sendable {
        /// The nearest position at which the row is in view.
        case nearest
        /// The row is at the upper edge.
        case top
        /// The row is in the middle.
        case middle
        /// The row is at the lower edge.
        case bottom
    }

    /// Scrolls until a row is in view.
    ///
    /// - Precondition: there is such a row.
    public func scrollToRow(_ row: Int, at position: ScrollPosition = .nearest, animated: Bool = false) {
        let place = rect(forRow: row)
        let room = frame.size.height - place.height
        switch position {
        case .nearest: scrollRectToVisible(Rect(contentOffset.x, place.minY, 1, place.height), animated: animated)
        case .top: setContentOffset(Point(contentOffset.x, place.minY), animated: animated)
        case .middle: setContentOffset(Point(contentOffset.x, place.minY - room / 2), animated: animated)
        case .bottom: setContentOffset(Point(contentOffset.x, place.minY - room), animated: animated)
        }
    }

    /// Whether the last row is in view, down to its lower edge.
    public var isAtEnd: Bool { contentOffset.y >= limits(in: frame.size).last.y }

    func scrollToEnd() {
        setContentOffset(Point(contentOffset.x, limits(in: frame.size).last.y), animated: false)
    }

    /// Marks a row for the user, brings it into view, and calls the delegate.
    ///
    /// - Returns: The number of the row afterwards; nil if the row was removed during the delegate's calls.
    @discardableResult
    func moveSelection(to row: Int) -> Int? {
        let old = selectedRow
        selectedRow = row
        let marked = afterCalls(row) { scrollToRow(row) }
        guard let marked, row != old else { return marked }
        return afterCalls(marked) { tableDelegate?.tableView(self, didMoveSelectionTo: marked) }
    }

    /// Runs calls of the program, and returns the number of a marked row after them.
    private func afterCalls(_ row: Int, _ body: () -> Void) -> Int? {
        let now = version
        body()
        // The mark goes with its row when rows change.
        return now == version ? row : selectedRow
    }

    /// Handles a key; returns whether the table has used it.
    func handle(_ key: Key) -> Bool {
        guard rows.count > 0 else { return false }
        let last = rows.count - 1
        if key == .enter {
            guard let selectedRow else { return false }
            tableDelegate?.tableView(self, didSelectRow: selectedRow)
            return true
        }
        let seen = visibleRows
        // Without a mark, the first key marks a row that is seen.
        guard let row = selectedRow else {
            switch key {
            case .down, .pageDown: moveSelection(to: seen.first ?? 0)
            case .up, .pageUp: moveSelection(to: seen.last ?? 0)
            case .home: moveSelection(to: 0)
            case .end: moveSelection(to: last)
            default: return false
            }
            return true
        }
        func paged(_ direction: Double) -> Int {
            let page = max(1, frame.size.height - 1)
            return rows.row(at: rows.top(of: row) + direction * page) ?? row
        }
        switch key {
        case .up: moveSelection(to: max(0, row - 1))
        case .down: moveSelection(to: min(last, row + 1))
        case .pageUp: moveSelection(to: min(paged(-1), max(0, row - 1)))
        case .pageDown: moveSelection(to: max(paged(1), min(last, row + 1)))
        case .home: moveSelection(to: 0)
        case .end: moveSelection(to: last)
        default: return false
        }
        return true
    }
}
