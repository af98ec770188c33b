// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Knows the rows of a table.
@MainActor public protocol TableViewDataSource: AnyObject {
    /// How many rows there are.
    func numberOfRows(in tableView: TableView) -> Int
    /// The cell that shows a row; ``TableView/dequeueCell(_:for:)`` gives one that is no longer needed, or a new one.
    ///
    /// Asked for rows that come into view, and for those that ``TableView/rowsAhead`` lets be made before.
    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell
    /// What tells the item of a row from all others, such as the number of a process; nil unless implemented.
    ///
    /// With identifiers, ``TableView/reloadData()`` keeps the mark, and a finger that is down, on their items and not
    /// on the numbers of their rows. Corresponds to the item identifiers of UIKit's diffable data sources.
    ///
    /// Asked for the marked row, and then, when the table is reloaded, for rows until the item is found.
    func tableView(_ tableView: TableView, identifierForRow row: Int) -> AnyHashable?
}

extension TableViewDataSource {
    /// None.
    public func tableView(_ tableView: TableView, identifierForRow row: Int) -> AnyHashable? { nil }
}

/// Hears what the user does with a table; every requirement has an implementation.
@MainActor public protocol TableViewDelegate: ScrollViewDelegate {
    /// The user has chosen a row: by a tap, or with the enter key.
    func tableView(_ tableView: TableView, didSelectRow row: Int)
    /// Another row is marked, or none: by a tap, with the arrow keys, or because the marked row was deleted, or its
    /// item has gone.
    func tableView(_ tableView: TableView, didMoveSelectionTo row: Int?)
    /// The user wants the rows in another order: the delegate sorts them and reloads the table.
    func tableView(_ tableView: TableView, didChangeSortOrder order: TableView.SortOrder)
    /// The height of a row, in points; asked if ``TableView/rowHeight`` is nil.
    ///
    /// Asked for each row when it is inserted or reloaded.
    func tableView(_ tableView: TableView, heightForRow row: Int) -> Double
}

extension TableViewDelegate {
    /// Does nothing.
    public func tableView(_ tableView: TableView, didSelectRow row: Int) {}
    /// Does nothing.
    public func tableView(_ tableView: TableView, didMoveSelectionTo row: Int?) {}
    /// Does nothing.
    public func tableView(_ tableView: TableView, didChangeSortOrder order: TableView.SortOrder) {}
    /// One point.
    public func tableView(_ tableView: TableView, heightForRow row: Int) -> Double { 1 }
}
