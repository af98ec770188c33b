// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Where the rows of a table lie: all of one height, or each of its own.
struct RowGeometry {
    private(set) var count = 0
    /// The height of all rows; nil if each has its own.
    private let height: Double?
    /// The lower edge of each row, if each has its own height.
    private var ends: [Double] = []

    /// Rows of one height.
    init(count: Int, height: Double) {
        self.count = count
        self.height = height
    }

    /// Rows of these heights.
    init(heights: some Sequence<Double>) {
        height = nil
        append(heights)
    }

    /// The height of all rows.
    var total: Double { top(of: count) }

    /// The upper edge of a row; the row after the last begins at the end.
    ///
    /// - Complexity: O(1).
    func top(of row: Int) -> Double {
        if let height { return Double(row) * height }
        return row == 0 ? 0 : ends[row - 1]
    }

    /// The row at a height; the first or the last where there is none, and nil if there are no rows.
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

    /// The rows between two heights, also the rows that are cut.
    func rows(from first: Double, to last: Double) -> Range<Int> {
        guard last > max(first, 0), first < total, let start = row(at: first), var end = row(at: last) else {
            return 0..<0
        }
        if top(of: end) < last { end += 1 }
        return start..<max(start, end)
    }

    // MARK: Changes

    /// Traps for what is no height of a row.
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

    /// Inserts rows, with these heights if each row has its own.
    ///
    /// - Complexity: O(1) for rows of one height, else O(new rows and rows behind them).
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

    /// Takes rows out.
    ///
    /// - Complexity: O(1) for rows of one height, else O(rows behind).
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

    /// The rows that come or go: new rows as they are numbered afterwards, the others as they were before.
    var range: Range<Int> {
        switch self {
        case .insert(let range), .delete(let range), .reload(let range): range
        }
    }

    /// Whether a row shows something else afterwards.
    func reloads(_ row: Int) -> Bool {
        if case .reload(let range) = self { return range.contains(row) }
        return false
    }

    /// The number of a row afterwards; nil if it is gone.
    func number(of row: Int) -> Int? {
        switch self {
        case .insert(let range): row < range.lowerBound ? row : row + range.count
        case .delete(let range): row < range.lowerBound ? row : range.contains(row) ? nil : row - range.count
        case .reload: row
        }
    }
}
