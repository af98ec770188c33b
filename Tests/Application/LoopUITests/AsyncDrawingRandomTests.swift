// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import LoopUITesting
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import LoopUI

/// A program that does anything with a table whose rows are drawn elsewhere, in any time.
@MainActor private final class RandomProgram {
    private var numbers: SeededRandom
    private let app: TestApplication
    private let rows = SlowRows(40)
    private let table: TableView
    private let root = View()
    private var version = 0

    init(_ app: TestApplication, seed: UInt64) {
        self.app = app
        numbers = SeededRandom(seed)
        table = rows.makeTable()
        table.frame = Rect(0, 0, 20, 6)
        root.addSubview(table)
        app.show(root)
        app.drawing.workers = number(1..<4)
        app.drawing.duration = { [unowned self] in .milliseconds(number(0..<60)) }
    }

    private func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &numbers) }

    private func newText() -> String {
        version += 1
        return "new \(version)"
    }

    func step() {
        switch number(0..<11) {
        case 0...3: table.contentOffset.y += Double(number(-12..<13))
        case 4:
            let row = number(0..<rows.texts.count)
            rows.texts[row] = newText()
            table.reloadRows(row..<row + 1)
        case 5:
            let row = number(0..<rows.texts.count + 1)
            rows.texts.insert(newText(), at: row)
            table.insertRows(row..<row + 1)
        case 6 where rows.texts.count > 10:
            let row = number(0..<rows.texts.count)
            rows.texts.remove(at: row)
            table.deleteRows(row..<row + 1)
        case 7:
            rows.texts.shuffle(using: &numbers)
            table.reloadData()
        case 8: table.frame.size = Size(20, Double(number(1..<7)))
        case 9: if table.superview == nil { root.addSubview(table) } else { table.removeFromSuperview() }
        default:
            table.isHidden.toggle()
            table.rowsAhead = [nil, 0, 3].randomElement(using: &numbers) ?? nil
        }
        app.advance(by: .milliseconds(number(0..<40)))
    }

    /// What is seen is a placeholder, or the row that is there.
    func check(_ place: Comment) {
        app.settle()
        let height = table.superview == nil || table.isHidden ? 0 : Int(table.frame.height)
        for line in 0..<height {
            let (row, shown) = (Int(table.contentOffset.y) + line, app.line(line))
            let text = rows.texts.indices.contains(row) ? rows.texts[row] : ""
            #expect(shown == "..." || shown == text, place)
        }
    }

    /// After a while all is seen, and nothing is under way.
    func finish(_ place: Comment) {
        if table.superview == nil { root.addSubview(table) }
        table.isHidden = false
        app.advance(by: .seconds(5))
        for line in 0..<Int(table.frame.height) {
            let row = Int(table.contentOffset.y) + line
            #expect(app.line(line) == (rows.texts.indices.contains(row) ? rows.texts[row] : ""), place)
        }
        #expect(app.application.commit.drawings.isIdle && app.drawing.count == 0, place)
        root.window?.close()
    }

    var someCell: TableCell? { table.cells.values.first }
}

@MainActor @Suite struct AsyncDrawingRandomTests {
    /// The seeds: 150, 2,000 in a thorough run, 20,000 in a full one; `RUNLOOPS_SEEDS=FIRST-LAST` names others.
    private static var seeds: ClosedRange<UInt64> {
        let named = getenv("RUNLOOPS_SEEDS").map { String(cString: $0).split(separator: "-").compactMap { UInt64($0) } }
        if let named, named.count == 2, named[0] <= named[1] { return named[0]...named[1] }
        return 0...(isFull ? 19_999 : isThorough ? 1999 : 149)
    }

    @Test func `Random operations with slow rows never show a row in another's place, and all objects are released`()
        throws
    {
        for seed in Self.seeds {
            try TestApplication.with(size: Size(20, 6)) { app in
                let place: Comment = "seed \(seed)"
                weak var released: RandomProgram?
                weak var cell: TableCell?
                do {
                    let program = RandomProgram(app, seed: seed)
                    released = program
                    for _ in 0..<15 {
                        program.step()
                        program.check(place)
                    }
                    cell = program.someCell
                    program.finish(place)
                    app.drawing.duration = { .zero }
                }
                app.settle()
                #expect(released == nil && cell == nil, place)
                #expect(app.wakeUpsWhenIdle == 0, place)
            }
        }
    }
}
