// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The positions of the rows of a table, which all have one height or each a height of its own.
struct RowGeometry {
    private(set) var count = 0
    /// The height that all rows have; nil if each row has its own.
    private let height: Double?
    /// The lower edge of each row, if each row has its own height; else empty.
    private var ends: [Double] = []

    /// Makes the positions of rows that all have one height.
    init(count: Int, height: Double) {
        self.count = count
        self.height = height
    }

    /// Makes the positions of rows that have these heights, from the first to the last.
    init(heights: some Sequence<Double>) {
        height = nil
        append(heights)
    }

    /// The sum of the heights of all rows.
    var total: Double { top(of: count) }

    /// Returns the upper edge of a row; for the row after the last, the lower edge of the last.
    ///
    /// - Complexity: O(1).
    func top(of row: Int) -> Double {
        if let height { return Double(row) * height }
        return row == 0 ? 0 : ends[row - 1]
    }

    /// Returns the row at a vertical position; the first or the last row for a position outside, and nil if there are
    /// no rows.
    ///
    /// - Complexity: O(1) for rows of one height, else O(log n).
    func row(at y: Double) -> Int? {
        if count == 0 { return nil }
        if let height { return min(count - 1, Int(max(0, min(1e18, (y / height).rounded(.down))))) }
        var (low, high) = (0, count - 1)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] > y { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Returns the rows between two vertical positions, including rows that are partly between them.
    func rows(from first: Double, to last: Double) -> Range<Int> {
        guard last > max(first, 0), first < total, let start = row(at: first), var end = row(at: last) else {
            return 0..<0
        }
        if top(of: end) < last { end += 1 }
        return start..<max(start, end)
    }

    // MARK: Changes

    /// Traps if a number is not valid as the height of a row.
    static func require(_ height: Double) {
        RunLoops.require(
            height > 0 && height <= 1e9,
            "A row is \(height) points high: give a height that is positive, and at most a thousand million.")
    }

    private mutating func append(_ heights: some Sequence<Double>) {
        var end = ends.last ?? 0
        for height in heights {
            Self.require(height)
            end += height
            ends.append(end)
        }
        count = ends.count
    }

    /// Inserts rows; `heights` is used if each row has its own height.
    ///
    /// - Complexity: O(1) for rows of one height, else O(new rows and rows after them).
    mutating func insert(_ rows: Range<Int>, heights: [Double]) {
        if height != nil {
            count += rows.count
            return
        }
        let behind = self.heights(from: rows.lowerBound)
        ends.removeSubrange(rows.lowerBound...)
        append(heights)
        append(behind)
    }

    /// Removes rows.
    ///
    /// - Complexity: O(1) for rows of one height, else O(rows after them).
    mutating func remove(_ rows: Range<Int>) {
        if height != nil {
            count -= rows.count
            return
        }
        let behind = heights(from: rows.upperBound)
        ends.removeSubrange(rows.lowerBound...)
        append(behind)
    }

    private func heights(from row: Int) -> [Double] { (row..<count).map { ends[$0] - top(of: $0) } }
}

/// A change of a table's rows.
enum RowChange {
    case insert(Range<Int>)
    case delete(Range<Int>)
    case reload(Range<Int>)

    /// The rows that are changed: inserted rows by their new numbers, deleted and reloaded rows by their old ones.
    var range: Range<Int> {
        switch self {
        case .insert(let range), .delete(let range), .reload(let range): range
        }
    }

    /// Whether the change reloads a row.
    func reloads(_ row: Int) -> Bool {
        if case .reload(let range) = self { return range.contains(row) }
        return false
    }

    /// Returns the number that a row has after the change; nil if it was deleted.
    func number(of row: Int) -> Int? {
        switch self {
        case .insert(let range): row < range.lowerBound ? row : row + range.count
        case .delete(let range): row < range.lowerBound ? row : range.contains(row) ? nil : row - range.count
        case .reload: row
        }
    }
}
