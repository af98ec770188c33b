// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The titles of a table's columns; the user sorts the rows with them.
///
/// A tap on a title sorts by its column, and another tap reverses the order. While the header has the focus, the left
/// and right arrows choose a title, and Enter and Space do the same as a tap. The table calls its delegate, which sorts
/// the rows and reloads the table.
///
/// ``TableView/header`` returns the header. The program puts it above the table:
///
/// ```swift
/// let stack = StackView(.vertical, [table.header])
/// stack.addArrangedSubview(table, flex: 1)
/// ```
@MainActor public final class TableHeader: Control {
    private weak var table: TableView?
    /// The column whose title the keys have chosen.
    private var chosen: Int? { didSet { if chosen != oldValue { changed() } } }

    init(_ table: TableView) {
        self.table = table
        super.init()
    }

    private var columns: [TableColumn] { table?.columns ?? [] }

    private var ranges: [Range<Int>] { table.map { $0.columnRanges(in: $0.rowWidth.wholeCells) } ?? [] }

    private func isSortable(_ column: Int) -> Bool { columns.indices.contains(column) && columns[column].isSortable }

    /// Asks for a new drawing of the titles and for the cursor's new position.
    func changed() {
        setNeedsDisplay()
        window?.application?.commit.markFrame()
    }

    // MARK: Sorting

    private func sort(by column: Int) {
        guard let table, isSortable(column) else { return }
        chosen = column
        let isTurned = table.sortOrder?.column == column && table.sortOrder?.isAscending == true
        let order = TableView.SortOrder(column: column, isAscending: !isTurned)
        table.sortOrder = order
        table.tableDelegate?.tableView(table, didChangeSortOrder: order)
        sendActions(for: .valueChanged)
    }

    public override func endTracking(_ touch: Touch, with event: Event?) {
        let x = touch.location(in: self).x
        guard contains(touch), let column = ranges.lastIndex(where: { Double($0.lowerBound) <= x }) else { return }
        sort(by: column)
    }

    /// Handles the left and right arrows, which choose a title and move the focus at the ends, and Enter and Space,
    /// which sort.
    public override func handle(_ press: Press) -> Bool {
        guard press.modifiers.isEmpty else { return false }
        switch press.key {
        case .left: return choose((0..<(chosen ?? columns.count)).last(where: isSortable))
        case .right:
            return choose(((chosen ?? -1) + 1..<max(columns.count, (chosen ?? -1) + 1)).first(where: isSortable))
        case .enter, .character(" "):
            guard let chosen else { return false }
            // A key that is held turns the order once.
            if press.phase == .began { sort(by: chosen) }
            return true
        default: return false
        }
    }

    private func choose(_ column: Int?) -> Bool {
        guard let column else { return false }
        chosen = column
        return true
    }

    public override func firstResponderChanged(_ isFirst: Bool) {
        if isFirst { chosen = table?.sortOrder.map(\.column) ?? chosen ?? columns.firstIndex(where: \.isSortable) }
        changed()
    }

    // MARK: Looks

    public override func sizeThatFits(_ size: Size) -> Size {
        Size(min(size.width, Double(ranges.last?.upperBound ?? 0)), 1)
    }

    public override func draw(in canvas: inout Canvas) {
        let usual = Style(.default, .bold)
        for (index, (column, range)) in zip(columns, ranges).enumerated() {
            let order = table?.sortOrder?.column == index ? table?.sortOrder : nil
            let mark =
                order.map { theme.usesUnicode ? ($0.isAscending ? " ▲" : " ▼") : ($0.isAscending ? " ^" : " v") } ?? ""
            let title =
                TextLines.cut(column.title, width: max(0, range.count - mark.count), ellipsis: theme.ellipsis) + mark
            let start = Double(range.lowerBound) + column.alignment.start(of: title.cellWidth, in: range.count)
            let isChosen = isFirstResponder && index == chosen
            if isChosen { canvas.fill(Rect(Double(range.lowerBound), 0, Double(range.count), 1), style: style(usual)) }
            canvas.write(title, at: Point(start, 0), style: isChosen ? style(usual) : usual, width: Double(range.count))
        }
    }

    public override var cursor: Point? {
        let ranges = ranges
        guard let chosen, ranges.indices.contains(chosen) else { return .zero }
        return Point(Double(ranges[chosen].lowerBound), 0)
    }

    public override var accessibilityRole: String? { "columns" }

    public override var accessibilityValue: String? {
        var parts = columns.map(\.title)
        if let order = table?.sortOrder, columns.indices.contains(order.column) {
            parts.append("sorted by \(columns[order.column].title), \(order.isAscending ? "ascending" : "descending")")
        }
        if isFirstResponder, let chosen, columns.indices.contains(chosen) {
            parts.append("at \(columns[chosen].title)")
        }
        return parts.joined(separator: ", ")
    }
}
