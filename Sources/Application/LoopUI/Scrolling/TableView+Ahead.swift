// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsKit

/// What a table knows of the rows that it makes ahead of the scroll.
@MainActor final class RowsAhead {
    /// Where the content was when the rows were last laid out.
    var lastOffset = 0.0
    /// Whether the content has last moved towards the beginning of the rows.
    var isUpwards = false
    /// Whether other threads draw cells of the table, as far as it has been seen.
    var isWanted = false
    /// The work that makes the next one.
    var job: RunLoop.IdleQueue.Job?
}

extension TableView {
    /// How many rows are made ahead.
    private var aheadCount: Int {
        if let rowsAhead { return max(0, rowsAhead) }
        return ahead.isWanted ? visibleRows.count : 0
    }

    /// Other threads draw cells of this table: it makes rows ahead from now on.
    func wantRowsAhead() {
        if ahead.isWanted { return }
        ahead.isWanted = true
        setNeedsLayout()
    }

    /// The rows that keep their cells although they are out of view.
    func keptRows(around visible: Range<Int>) -> Range<Int> {
        // Bounded, so that any number can be added to a row.
        let count = min(aheadCount, rows.count)
        if count == 0 || visible.isEmpty { return visible }
        return max(0, visible.lowerBound - count)..<min(rows.count, visible.upperBound + count)
    }

    /// Has the rows made that the content moves to, when the loop has nothing else to do.
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
