// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LoopUI

/// What scroll views and tables decide without time and views.
@Suite struct ScrollDecisionTests {
    @Test func `RowGeometry finds the same rows for a common height as for rows that each have that height`() {
        let same = RowGeometry(count: 7, height: 2)
        let own = RowGeometry(heights: Array(repeating: 2.0, count: 7))
        for place in stride(from: -3.0, through: 17, by: 0.5) {
            #expect(same.row(at: place) == own.row(at: place))
            for end in stride(from: place, through: 17, by: 0.5) {
                #expect(same.rows(from: place, to: end) == own.rows(from: place, to: end))
            }
        }
        #expect(same.total == 14 && own.total == 14)
        #expect(same.rows(from: 1, to: 4) == 0..<2 && same.rows(from: 1, to: 4.5) == 0..<3)
        #expect(same.rows(from: 14, to: 20).isEmpty && same.rows(from: -5, to: 0).isEmpty)
    }

    @Test func `A geometry without rows finds no row`() {
        for rows in [RowGeometry(count: 0, height: 1), RowGeometry(heights: [])] {
            #expect(rows.row(at: 0) == nil && rows.total == 0 && rows.rows(from: -1, to: 100).isEmpty)
        }
    }

    @Test func `Inserted and removed rows give the same geometry as a new RowGeometry`() {
        var heights = [1.0, 4, 2, 3, 1]
        var rows = RowGeometry(heights: heights)
        func check() {
            #expect(rows.count == heights.count && rows.total == heights.reduce(0, +))
            for row in heights.indices { #expect(rows.top(of: row) == heights[..<row].reduce(0, +)) }
        }
        heights.insert(contentsOf: [7, 8], at: 2)
        rows.insert(2..<4, heights: [7, 8])
        check()
        heights.removeSubrange(0..<2)
        rows.remove(0..<2)
        check()
        heights.append(9)
        rows.insert(5..<6, heights: [9])
        check()
        heights.removeAll()
        rows.remove(0..<6)
        check()
        rows.insert(0..<1, heights: [5])
        #expect(rows.total == 5)
    }

    @Test func `A change maps each row to its new number or to nil`() {
        #expect((0..<5).map(RowChange.insert(2..<4).number) == [0, 1, 4, 5, 6])
        #expect((0..<5).map(RowChange.delete(1..<3).number) == [0, nil, nil, 1, 2])
        #expect((0..<3).map(RowChange.reload(0..<3).number) == [0, 1, 2])
    }

    @Test func `The scroll indicator is proportional to the visible part and reaches both ends`() throws {
        #expect(ScrollIndicator(cells: 10, extent: 10, offset: 0) == nil)
        #expect(ScrollIndicator(cells: 0, extent: 10, offset: 0) == nil)
        for extent in [11.0, 20, 37, 1000, 1_000_000] {
            let lengths = try [0.0, 0.3, 0.5, 1].map { part in
                let bar = try #require(ScrollIndicator(cells: 10, extent: extent, offset: (extent - 10) * part))
                #expect(bar.halves.lowerBound >= 0 && bar.halves.upperBound <= 20)
                if part == 0 { #expect(bar.halves.lowerBound == 0) }
                if part == 1 { #expect(bar.halves.upperBound == 20) }
                return bar.halves.count
            }
            #expect(Set(lengths) == [max(2, Int((200 / extent).rounded()))])
        }
        let bar = try #require(ScrollIndicator(cells: 10, extent: 40, offset: 12))
        #expect(bar.halves == 6..<11)
        #expect([2, 3, 5, 6].map { bar.cover(of: $0) } == [nil, .whole, .first, nil])
    }
}
