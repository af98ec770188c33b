// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A column of a table.
public struct TableColumn: Hashable, Sendable {
    /// The title above the column.
    public var title: String
    /// The width in points; nil for an equal part of the room that the other columns leave.
    public var width: Double?
    /// The alignment of the column's texts.
    public var alignment: TextAlignment
    /// Whether the user can sort the table by the column.
    public var isSortable: Bool

    /// Makes a column of a table.
    ///
    /// - Parameters:
    ///   - title: The title above the column.
    ///   - width: The width in points; nil for an equal part of the room that the other columns leave.
    ///   - alignment: The alignment of the column's texts.
    ///   - isSortable: Whether the user can sort the table by the column.
    public init(_ title: String, width: Double? = nil, alignment: TextAlignment = .left, isSortable: Bool = true) {
        self.title = title
        self.width = width
        self.alignment = alignment
        self.isSortable = isSortable
    }
}

extension TableView {
    /// The order of the rows: the number of the sorted column, and the direction.
    public struct SortOrder: Hashable, Sendable {
        /// The number of the column.
        public var column: Int
        /// Whether the smallest value comes first.
        public var isAscending: Bool

        /// Makes an order of the rows by a column.
        public init(column: Int, isAscending: Bool = true) {
            self.column = column
            self.isAscending = isAscending
        }
    }

    /// Returns the cells of each column in a row that is `width` cells wide; columns are one cell apart, and are cut at
    /// the end of the row.
    func columnRanges(in width: Int) -> [Range<Int>] {
        let fixed = columns.map { column in column.width.map { max(0, $0.length.rounded()).wholeCells } }
        let gaps = max(0, columns.count - 1)
        let left = max(0, width - gaps - fixed.reduce(0) { min(width, $0 + ($1 ?? 0)) })
        let sharing = fixed.count { $0 == nil }
        var (start, shared) = (0, 0)
        return fixed.map { own in
            var length = own ?? 0
            if own == nil {
                // Whole cells, without a cell left over.
                length = left * (shared + 1) / sharing - left * shared / sharing
                shared += 1
            }
            let end = min(width, start + length)
            defer { start = min(width, end + 1) }
            return start..<max(start, end)
        }
    }

    /// Draws one text per column.
    func draw(_ texts: [String], style: Style, in canvas: inout Canvas) {
        for (column, (text, range)) in zip(columns, zip(texts, columnRanges(in: canvas.size.width.wholeCells))) {
            let shown = TextLines.cut(text, width: range.count, ellipsis: theme.ellipsis)
            let start = Double(range.lowerBound) + column.alignment.start(of: shown.cellWidth, in: range.count)
            canvas.write(shown, at: Point(start, 0), style: style)
        }
    }
}
