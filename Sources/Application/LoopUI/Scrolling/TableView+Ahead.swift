// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsKit

/// The state of a table's work on cells that are made before their rows come into view.
@MainActor final class RowsAhead {
    /// The vertical content offset when the rows were last laid out.
    var lastOffset = 0.0
    /// Whether the content has last moved towards the beginning of the rows.
    var isUpwards = false
    /// Whether a cell of the table was seen that other threads draw.
    var isWanted = false
    /// The idle job that makes the next cell.
    var job: RunLoop.IdleQueue.Job?
}

extension TableView {
    /// The number of rows whose cells are made ahead.
    private var aheadCount: Int {
        if let rowsAhead { return max(0, rowsAhead) }
        return ahead.isWanted ? visibleRows.count : 0
    }

    /// Makes cells ahead from now on; called when other threads draw cells of this table.
    func wantRowsAhead() {
        if ahead.isWanted { return }
        ahead.isWanted = true
        setNeedsLayout()
    }

    /// Returns the rows that have or keep cells: the rows in view, and rows before and after them.
    func keptRows(around visible: Range<Int>) -> Range<Int> {
        // Bounded, so that any number can be added to a row.
        let count = min(aheadCount, rows.count)
        if count == 0 || visible.isEmpty { return visible }
        return max(0, visible.lowerBound - count)..<min(rows.count, visible.upperBound + count)
    }

    /// Makes the cells of the rows towards which the content moves, when the loop has nothing else to do.
    func prepareRowsAhead() {
        let offset = contentOffset.y
        if offset != ahead.lastOffset { ahead.isUpwards = offset < ahead.lastOffset }
        ahead.lastOffset = offset
        guard ahead.job == nil, nextRowAhead != nil, let queue = window?.application?.idleQueue else { return }
        ahead.job = queue.add { [weak self] in self?.prepareRow() }
    }

    /// The nearest row ahead that has no cell.
    private var nextRowAhead: Int? {
        let visible = visibleRows
        let kept = keptRows(around: visible)
        if ahead.isUpwards {
            return (kept.lowerBound..<visible.lowerBound).last { cells[$0] == nil }
        }
        return (min(visible.upperBound, kept.upperBound)..<kept.upperBound).first { cells[$0] == nil }
    }

    private func prepareRow() {
        ahead.job = nil
        guard let application = window?.application, let dataSource, let row = nextRowAhead else { return }
        guard let cell = makeCell(row, dataSource) else { return }
        cell.frame = rect(forRow: row)
        prepareRowsAhead()
        // The commit of this turn is over: the next one draws the row.
        application.loop.wakeUp()
    }
}
