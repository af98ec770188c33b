// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import StoriesScreens
import Testing

/// The log of the loop below the stories, and the screen as a whole.
@MainActor @Suite struct TurnLogTests {
    @Test func `A program with nothing to do sleeps`() throws {
        for number in [1, 3, 4, 5] {
            try Playing.with(number) { story in
                story.app.advance(by: .seconds(1))
                let (wakeUps, frames) = (try story.wakeUps, story.app.display.frameCount)
                story.app.advance(by: .seconds(60))
                #expect(try story.wakeUps == wakeUps)
                #expect(story.app.display.frameCount == frames)
            }
        }
    }

    @Test func `One wake-up is shown in the singular`() throws {
        try TestApplication.with(delegate: StoriesDelegate()) { app in
            #expect(app.text.contains("· 0 wake-ups, "))
            app.display.push(.key(KeyInput(.tab)))
            app.advance(by: .milliseconds(100))
            #expect(app.text.contains("· 1 wake-up, "))
        }
    }

    @Test func `Equal wake-ups are counted together, and the log's own wake-ups are left out`() throws {
        try Playing.with(2) { story in
            // The last of a hundred ticks is shown a moment later.
            story.app.advance(by: .milliseconds(25_100))
            let book = try #require(story.delegate.watch).book
            let ticks = book.lines.filter { $0.points.contains { $0.contains("timer ticks") } }
            #expect(ticks.map(\.count).reduce(0, +) == 100)
            #expect(ticks.count <= 2)
            #expect(book.ownWakeUps >= 99)
            #expect(!book.lines.contains { $0.points.contains { $0.contains("turn log") } })
        }
    }

    @Test func `The log does not show the observers of signals`() throws {
        try Playing.with(2) { story in
            var calls = 0
            for label in ["signal 15", "of the test"] {
                let observer = RunLoop.Observer(.beforeWaiting, label: label) { _, _ in calls += 1 }
                story.app.manual.loop.add(observer, in: .common)
            }
            story.app.advance(by: .milliseconds(1100))
            let points = try #require(story.delegate.watch).book.lines.flatMap(\.points)
            #expect(calls > 2 && points.contains { $0.contains("of the test") })
            #expect(!points.contains { $0.contains("signal") })
        }
    }

    @Test func `A wake-up is shown with the points of its turn in order`() throws {
        try Playing.with(2) { story in
            // The fourth tick is shown a moment later.
            story.app.advance(by: .milliseconds(1100))
            let line = try #require(story.delegate.watch).book.lines.last
            #expect(line?.mode == .default)
            #expect(
                line?.points == [
                    "afterWaiting: timer ticks", "beforeTimers", "beforeSources",
                    "beforeWaiting: gestures, after commit, transaction, release pool empties", "asleep",
                ])
            let row = try Int(story.place(of: "default  afterWaiting: timer ticks › beforeTimers › beforeSources ›").y)
            #expect(story.rows[row].hasPrefix("   4× default  "))
            let next = story.rows[row + 1...row + 2].joined().split(separator: " ").joined(separator: " ")
            #expect(next == "beforeWaiting: gestures, after commit, transaction, release pool empties › asleep")
        }
    }

    @Test func `A drag shows the change to the tracking mode and back`() throws {
        try Playing.with(2) { story in
            let place = try story.place(of: "row 6")
            story.app.play(.drag(from: place, to: place - Point(0, 6), lasting: .seconds(1)))
            story.app.advance(by: .seconds(5))
            let lines = try #require(story.delegate.watch).book.lines
            var modes: [RunLoop.Mode] = []
            for line in lines where modes.last != line.mode { modes.append(line.mode) }
            #expect(modes == [.default, .tracking, .default])
            let first = try #require(lines.firstIndex { $0.mode == .tracking })
            #expect(lines[first].points[0].hasPrefix("entry"))
            #expect(lines[first - 1].points.last?.hasPrefix("exit") == true)
        }
    }

    @Test func `A narrow terminal shows the stories as numbers`() throws {
        try Playing.with(2, size: Size(60, 20)) { story in
            story.app.advance(by: .milliseconds(600))
            #expect(story.rows[1].hasPrefix("2 "))
            #expect(story.shows("in the common modes"))
            try story.expectGolden("narrow")
        }
    }

    @Test func `A terminal with neither colours nor Unicode shows ASCII`() throws {
        var abilities = DisplayAbilities()
        abilities.colors = .none
        abilities.hasUnicode = false
        for number in 1...10 {
            try Playing.with(number, abilities: abilities) { story in
                if number == 4 { try story.tap("1 mark") }
                if number == 6 { try story.wait { try story.number(before: "set") == 3 } }
                story.app.advance(by: .milliseconds(600))
                #expect(story.app.text.filter { !$0.isASCII }.isEmpty, "\(story.app.text)")
                #expect(story.app.display.frame?.cells.usesColors(inRow: 0) == false)
            }
        }
    }

    @Test func `The stories are drawn in every terminal size, and the log is shown from 20 rows upwards`() throws {
        for number in 1...10 {
            try Playing.with(number) { story in
                for (width, height) in [(20, 6), (1, 1), (60, 20), (200, 60), (80, 24)] {
                    story.app.display.resize(to: Size(Double(width), Double(height)))
                    story.app.settle()
                    story.app.settle()
                    #expect(story.rows.count >= height)
                    if height >= 20 { #expect(story.shows(" for this log")) }
                }
            }
        }
    }

    @Test func `A story is chosen by number, with the arrows and with the mouse`() throws {
        try Playing.with(4) { story in
            // A number gives the keys to the story ...
            story.app.press(.enter)
            #expect(story.shows("3 marks →"))
            // ... and what is chosen in the list leaves them there.
            try story.tap("5 Release pools")
            #expect(story.shows("[ Hand over 1 ]"))
            story.app.press(.up, .up)
            #expect(story.shows("Tap or pan me"))
            story.app.press(.tab, .enter)
            #expect(story.shows("button: tap 1"))
        }
    }

    @Test func `q ends the program wherever the focus is`() throws {
        try Playing.with(4) { story in
            story.app.press(.tab)
            story.app.type("q")
            #expect(story.app.application.state == .notRunning)
        }
    }
}

extension CellGrid {
    /// Whether a cell of a row has a colour of its own.
    fileprivate func usesColors(inRow y: Int) -> Bool {
        (0..<width).contains { x in
            let style = self[x, y].style
            return ![style.foreground, style.background].allSatisfy { [.default, .clear].contains($0) }
        }
    }
}
