// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import Testing

@testable import LoopUITerminal

/// Which lines somebody gets who hears the screen.
@MainActor @Suite struct LineDisplayTests {
    private let display = LineDisplay(environment: Environment { ["LANG": "C.UTF-8"][$0] })

    private func lines(_ rows: [String], cursor: Point? = nil) -> String {
        var canvas = Canvas(size: Size(20, 4))
        for (index, row) in rows.enumerated() { canvas.write(row, at: Point(0, Double(index))) }
        let frame = Frame(cells: canvas.grid, cursor: cursor)
        defer { display.shown = frame }
        return display.lines(of: frame)
    }

    @Test func `The first frame writes all lines, and later frames write only changed lines`() {
        #expect(lines(["one", "", "two"]) == "one\ntwo\n")
        #expect(lines(["one", "", "two"]) == "")
        #expect(lines(["one", "new", "two"]) == "new\n")
    }

    @Test func `A line is written when the cursor moves to it, and not again while the cursor stays in it`() {
        #expect(lines(["one", "two"], cursor: Point(0, 0)) == "one\ntwo\n")
        #expect(lines(["one", "two"], cursor: Point(0, 1)) == "two\n")
        #expect(lines(["one", "two"], cursor: Point(2, 1)) == "")
        #expect(lines(["one", "2"], cursor: Point(0, 0)) == "one\n2\n")
        #expect(lines(["one", "2"]) == "")
        #expect(lines(["one", "2"], cursor: Point(0, 0)) == "one\n")
    }

    @Test func `Lines contain no invisible characters, tabs or control characters`() {
        #expect(lines(["a\tb", "\u{202E}c\u{200B}d\u{2069}", "e\u{1B}[2J"]) == "a       b\ncd\ne\u{FFFD}[2J\n")
        #expect(lines(["น้ำ", "c" + String(repeating: "\u{301}", count: 50_000)]).unicodeScalars.count < 50)
    }
}
