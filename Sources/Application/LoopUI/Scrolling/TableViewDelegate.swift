// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The source of a table's rows: returns their number, their cells and their identifiers.
@MainActor public protocol TableViewDataSource: AnyObject {
    /// Returns the number of rows.
    func numberOfRows(in tableView: TableView) -> Int
    /// Returns the cell that shows a row; ``TableView/dequeueCell(_:for:)`` returns a cell that is no longer needed, or
    /// a new one.
    ///
    /// Called for rows that come into view, and for the rows that ``TableView/rowsAhead`` has made before they come
    /// into view.
    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell
    /// Returns an identifier that distinguishes the item of a row from all others, such as the number of a process; nil
    /// unless implemented.
    ///
    /// With identifiers, ``TableView/reloadData()`` keeps the mark and the highlight of a finger on their items, in
    /// whichever rows the items are then. Corresponds to the item identifiers of UIKit's diffable data sources.
    ///
    /// Called for the marked row and, when the table is reloaded, for rows until the item is found.
    func tableView(_ tableView: TableView, identifierForRow row: Int) -> AnyHashable?
}

extension TableViewDataSource {
    /// Returns nil.
    public func tableView(_ tableView: TableView, identifierForRow row: Int) -> AnyHashable? { nil }
}

/// The methods that a table calls when the user acts on its rows; every requirement has an implementation.
@MainActor public protocol TableViewDelegate: ScrollViewDelegate {
    /// Called when the user has chosen a row by a tap or with the enter key.
    func tableView(_ tableView: TableView, didSelectRow row: Int)
    /// Called when another row or none is marked: after a tap, after an arrow key, or because the marked row was
    /// deleted or its item removed.
    func tableView(_ tableView: TableView, didMoveSelectionTo row: Int?)
    /// Called when the user wants the rows in another order: the delegate sorts the rows and reloads the table.
    func tableView(_ tableView: TableView, didChangeSortOrder order: TableView.SortOrder)
    /// Returns the height of a row, in points; called if ``TableView/rowHeight`` is nil.
    ///
    /// Called for each row when it is inserted or reloaded.
    func tableView(_ tableView: TableView, heightForRow row: Int) -> Double
}

extension TableViewDelegate {
    /// Does nothing.
    public func tableView(_ tableView: TableView, didSelectRow row: Int) {}
    /// Does nothing.
    public func tableView(_ tableView: TableView, didMoveSelectionTo row: Int?) {}
    /// Does nothing.
    public func tableView(_ tableView: TableView, didChangeSortOrder order: TableView.SortOrder) {}
    /// Returns one point.
    public func tableView(_ tableView: TableView, heightForRow row: Int) -> Double { 1 }
}
