// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import Testing

@testable import LoopUI

/// The same numbers for the same seed.
private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// A user who does anything, and a program that changes its rows meanwhile.
@MainActor private struct Monkey {
    let f: TableFixture
    var numbers: Numbers
    var fingers: [Int: Point] = [:]
    var named = 0

    init(_ fixture: TableFixture, seed: UInt64) {
        f = fixture
        numbers = Numbers(state: seed)
    }

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &numbers) }

    mutating func point() -> Point { Point(Double(number(0..<20)), Double(number(0..<5))) }

    mutating func act() {
        let kind = number(0..<16)
        switch kind {
        case 0...2: touch()
        case 3...5: move()
        case 6: lift()
        case 7: f.app.send(.wheel(WheelInput(Point(0, Double(number(-3..<4))), at: point())))
        case 8:
            let keys: [Key] = [.up, .down, .pageUp, .pageDown, .home, .end, .enter]
            f.app.press(keys[number(0..<keys.count)])
        case 9, 10: insert()
        case 11: delete()
        case 12: change()
        case 13: f.table.setContentOffset(Point(0, Double(number(-5..<120))), animated: number(0..<2) == 0)
        case 14: f.app.display.resize(to: Size(20, Double(number(1..<9))))
        default: f.app.advance(by: .milliseconds(number(1..<600)))
        }
        f.app.settle()
    }

    private mutating func touch() {
        let finger = number(0..<2)
        if fingers[finger] != nil { return }
        let place = point()
        fingers[finger] = place
        f.app.send(.pointer(PointerInput(.began, at: place, identifier: finger)))
    }

    private mutating func move() {
        for finger in fingers.keys.sorted() {
            let place = point()
            fingers[finger] = place
            f.app.display.push(.pointer(PointerInput(.moved, at: place, identifier: finger)))
        }
    }

    mutating func lift() {
        guard let (finger, place) = fingers.min(by: { $0.key < $1.key }) else { return }
        fingers[finger] = nil
        let isLost = number(0..<8) == 0
        f.app.send(.pointer(PointerInput(isLost ? .cancelled : .ended, at: place, identifier: finger)))
    }

    private mutating func insert() {
        let texts = (0..<number(1..<7)).map { _ in
            named += 1
            f.rows.heights["n\(named)"] = Double(number(1..<4))
            return "n\(named)"
        }
        let row = number(0..<f.rows.texts.count + 1)
        keeping { f.insert(texts, at: row) }
    }

    private mutating func delete() {
        if f.rows.texts.isEmpty { return }
        let row = number(0..<f.rows.texts.count)
        let count = number(1..<min(9, f.rows.texts.count - row + 1))
        keeping { f.delete(row..<row + count) }
    }

    /// The marked row keeps the mark as long as it is there.
    private func keeping(_ body: () -> Void) {
        // Input that was still to be handled may mark another row.
        f.app.settle()
        let marked = f.table.selectedRow.map { f.rows.texts[$0] }
        f.rows.entries = []
        body()
        // So may a touch whose end waited for a gesture.
        if f.rows.entries.contains(where: { $0.hasPrefix("chose") }) { return }
        let now = f.table.selectedRow.map { f.rows.texts[$0] }
        if let marked, f.rows.texts.contains(marked) { #expect(now == marked) }
        #expect((now == nil) == (marked == nil || f.rows.texts.isEmpty))
    }

    private mutating func change() {
        switch number(0..<5) {
        case 0: f.table.reloadData()
        case 1: f.table.reloadRows(0..<number(0..<f.rows.texts.count + 1))
        case 2: f.table.follows.toggle()
        case 3: f.app.display.abilities.reducesMotion.toggle()
        default: f.app.send(.focus(number(0..<2) == 0))
        }
    }

    /// What holds after every frame.
    func check() {
        let table = f.table
        // A frame of an animation may have come too soon after the last commit.
        table.layoutIfNeeded()
        let (first, last) = table.limits(in: table.frame.size)
        let y = table.contentOffset.y
        #expect(y >= first.y && y <= last.y && table.contentOffset.x == 0)
        #expect(table.contentSize.height == table.rows.total && table.numberOfRows == f.rows.texts.count)
        // The cells in view are those of the rows in view, and show their texts.
        let cells = table.subviews.compactMap { $0 as? TableCell }.filter { !$0.isHidden }
        #expect(cells.count == table.visibleRows.count)
        #expect(cells.map(\.frame.minY) == cells.map(\.frame.minY).sorted())
        for row in table.visibleRows {
            let cell = table.cell(forRow: row)
            #expect(cell?.text == f.rows.texts[row] && cell?.frame == table.rect(forRow: row))
            #expect(cell?.isSelected == (row == table.selectedRow))
        }
        let wanted = (0..<Int(table.frame.size.height)).map { line in
            let place = y + Double(line)
            return table.row(at: Point(0, place)).map { table.rect(forRow: $0).minY == place ? f.rows.texts[$0] : "" }
        }
        if table.motion == nil { #expect(f.lines == wanted.map { $0 ?? "" }) }
        // The tracking mode lasts as long as the content is moved.
        let isMoved = table.isDragging || table.isDecelerating
        #expect(f.app.application.modes.current == (isMoved ? .tracking : .default))
    }
}

@MainActor @Suite struct ScrollRandomTests {
    @Test(arguments: [UInt64](1...40))
    func `After random actions the table is consistent and comes to rest`(seed: UInt64) throws {
        let texts = (0..<40).map { "r\($0)" }
        try TableFixture.with(texts, variable: seed.isMultiple(of: 2)) { f in
            var monkey = Monkey(f, seed: seed)
            for _ in 0..<250 {
                monkey.act()
                monkey.check()
            }
            while !monkey.fingers.isEmpty { monkey.lift() }
            f.app.advance(by: .seconds(20))
            monkey.check()
            #expect(!f.table.isTracking && !f.table.isDragging && !f.table.isDecelerating)
            #expect(f.app.application.modes.current == .default)
            #expect(f.app.wakeUpsWhenIdle == 0)
        }
    }
}
