// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import StoriesScreens
import Testing

/// Each story is played, and what it claims is looked for on the screen.
@MainActor @Suite struct StoriesTests {
    private func drag(from place: Point, up rows: Double, lasting duration: Duration) -> TouchScript {
        .drag(from: place, to: place - Point(0, rows), lasting: duration, steps: 12)
    }

    @Test func `The launch, Ctrl-Z and the resumption are logged`() throws {
        try Playing.with(1) { story in
            let launch = ["willFinishLaunching", "didFinishLaunching", "didBecomeActive"]
            for (first, second) in zip(launch, launch.dropFirst()) {
                #expect(try story.place(of: first).y + 1 == story.place(of: second).y)
            }
            #expect(try story.row(of: "didFinishLaunching").contains("initial mode"))
            story.app.press(.character("z"), modifiers: .control)
            #expect(story.app.display.isSuspended)
            story.app.send(.resumed)
            let round = ["willResignActive", "didEnterBackground", "willEnterForeground"]
            for (call, state) in zip(round, ["active", "background", "background"]) {
                #expect(try story.row(of: call).contains("state \(state) "))
            }
            try story.expectGolden("1-launch")
        }
    }

    @Test func `The timer does not tick while the list is dragged`() throws {
        try Playing.with(2) { story in
            let before = try story.number(before: "ticks")
            story.app.advance(by: .seconds(2))
            #expect(try story.number(before: "ticks") == before + 8)
            let place = try story.place(of: "row 6")
            let touch = drag(from: place, up: 6, lasting: .seconds(3))
            story.app.play(touch)
            story.app.advance(by: .seconds(2))
            #expect(story.shows("s of tracking: 0 ticks"))
            let length = try #require(story.app.text.firstMatch(of: #/In (\d\.\d) s of tracking/#)?.1)
            #expect(try #require(Double(length)) > 2.5)
            try story.expectGolden("2-stuck-timer")
        }
    }

    @Test func `A timer in the common modes ticks while the list is dragged`() throws {
        try Playing.with(2) { story in
            try story.tap("[ ] in the common modes")
            #expect(story.shows("[x] in the common modes"))
            let place = try story.place(of: "row 6")
            story.app.play(drag(from: place, up: 6, lasting: .seconds(3)))
            story.app.advance(by: .seconds(2))
            let ticks = try #require(story.app.text.firstMatch(of: #/of tracking: (\d+) ticks/#)?.1)
            #expect((10...16).contains(try #require(Int(ticks))))
            try story.tap("[x] in the common modes")
            story.app.play(drag(from: place, up: 3, lasting: .seconds(3)))
            story.app.advance(by: .seconds(2))
            #expect(story.shows("of tracking: 0 ticks"))
        }
    }

    @Test func `The stuck timer can be shown with keys alone`() throws {
        try Playing.with(2) { story in
            try story.press(.enter, on: "Drag for 2 s")
            story.app.advance(by: .milliseconds(200))
            #expect(story.app.application.modes.current == .tracking)
            #expect(story.shows("tracking mode"))
            story.app.advance(by: .seconds(3))
            #expect(story.app.application.modes.current == .default)
            #expect(story.shows("In 2.0 s of tracking: 0 ticks"))
            try story.press(.character(" "), on: "in the common modes")
            try story.press(.enter, on: "Drag for 2 s")
            story.app.advance(by: .seconds(3))
            #expect(story.shows("In 2.0 s of tracking: 8 ticks"))
        }
    }

    @Test func `Leaving a story ends its timer and its tracking mode`() throws {
        try Playing.with(2) { story in
            try story.press(.enter, on: "Drag for 2 s")
            story.app.advance(by: .milliseconds(500))
            #expect(story.app.application.modes.current == .tracking)
            story.app.type("4")
            #expect(story.app.application.modes.current == .default)
            story.app.advance(by: .seconds(1))
            let wakeUps = try story.wakeUps
            story.app.advance(by: .seconds(5))
            #expect(try story.wakeUps == wakeUps)
        }
    }

    @Test func `A pan cancels the touch of the button`() throws {
        try Playing.with(3) { story in
            let place = try story.place(of: "Tap or pan me")
            story.app.tap(at: place)
            #expect(story.shows("button: tap 1"))
            story.app.play(.drag(from: place, to: place + Point(6, 0)))
            story.app.advance(by: .milliseconds(100))
            let lines = try ["touch cancelled", "pan: began", "pan: ended"].map { try story.place(of: $0).y }
            #expect(lines == lines.sorted())
            #expect(!story.shows("tap 2"))
            try story.expectGolden("3-tap-and-pan")
        }
    }

    @Test func `The pan can be shown with keys alone`() throws {
        try Playing.with(3) { story in
            try story.press(.enter, on: "Pan for me")
            story.app.advance(by: .seconds(2))
            let words = ["touch down", "touch cancelled", "pan: began", "pan: ended"]
            let lines = try words.map { try story.place(of: $0).y }
            #expect(lines == lines.sorted() && !story.shows("tap 1"))
            // A story that is left takes its finger along.
            try story.press(.enter, on: "Pan for me")
            story.app.advance(by: .milliseconds(200))
            story.app.type("4")
            let wakeUps = try story.wakeUps
            story.app.advance(by: .seconds(5))
            #expect(try story.wakeUps <= wakeUps + 2)
        }
    }

    @Test func `A pan that does not cancel touches does not prevent the button's tap`() throws {
        try Playing.with(3) { story in
            try story.tap("the pan cancels")
            let place = try story.place(of: "Tap or pan me")
            story.app.play(.drag(from: place, to: place + Point(6, 0)))
            #expect(story.shows("button: tap 1"))
            #expect(story.shows("pan: began"))
            #expect(!story.shows("touch cancelled"))
        }
    }

    @Test func `Blocks and a signalled source are performed in the loop's order`() throws {
        try Playing.with(7) { story in
            try story.tap("[ Block ]")
            try story.tap("[ Source ]")
            let lines = ["a block ran, and posts", "the other block ran", "the source was performed"]
            let places = try lines.map { try story.place(of: $0).y }
            #expect(places == places.sorted())
            story.app.advance(by: .milliseconds(100))
            #expect(story.shows("source inbox"))
            try story.expectGolden("7-work")
        }
    }

    @Test func `A signal from another thread wakes the loop`() throws {
        try Playing.with(7) { story in
            try story.tap("Source, from a thread")
            try story.wait { story.shows("the source was performed") }
        }
    }

    @Test func `Ten thousand marks are handled in one commit pass`() throws {
        try Playing.with(4) { story in
            try story.tap("1 mark")
            try story.press(.enter, on: "10000 marks")
            story.app.advance(by: .milliseconds(100))
            #expect(story.shows(" 3 marks → constraints, layout, display, prepare, frame"))
            #expect(story.shows(" 30000 marks → constraints, layout, display, prepare, frame"))
            // Once at first, and once for each of the taps.
            #expect(story.shows("This line was drawn 3 times."))
            try story.expectGolden("4-commit")
        }
    }

    @Test func `Objects handed over to the release pool live until the turn ends`() throws {
        try Playing.with(5) { story in
            try story.tap("[ 1000 ]")
            story.app.advance(by: .milliseconds(100))
            #expect(story.shows("handed over 1000; in the callout 1000 alive"))
            #expect(story.shows("at the commit 1000 alive"))
            #expect(story.shows("after the sleep 0 alive"))
            try story.expectGolden("5-pools")
        }
    }

    @Test func `Pictures made during a drag are set after the drag`() throws {
        try Playing.with(6) { story in
            try story.wait { try story.pictures == [3, 3, 3] }
            let place = try story.place(of: "picture 1")
            var script = TouchScript()
            script.add(.began, at: place)
            for row in 1...3 { script.add(.moved, at: place - Point(0, Double(row)), after: .milliseconds(200)) }
            story.app.play(script)
            // They are made, however long the finger stays ...
            try story.wait { try story.pictures == [4, 4, 3] }
            story.app.advance(by: .seconds(3))
            #expect(try story.pictures == [4, 4, 3])
            // ... and set when it leaves.
            story.app.send(.pointer(PointerInput(.ended, at: place - Point(0, 3))))
            try story.wait { try story.pictures == [4, 4, 4] }
            #expect(story.shows("Set meanwhile: 0"))
            try story.expectGolden("6-picture")
        }
    }

    @Test func `Rows drawn on other threads are shown during a drag`() throws {
        try Playing.with(8) { story in
            story.app.drawing.duration = { .milliseconds(5) }
            story.app.advance(by: .seconds(1))
            #expect(!story.shows("0      ...") && story.shows(" 0 rows drawn on the main thread"))
            let before = try story.number(before: "rows drawn elsewhere")
            #expect(before > 0)
            try story.press(.enter, on: "Drag for 2 s")
            story.app.advance(by: .milliseconds(900))
            #expect(story.app.application.modes.current == .tracking)
            #expect(try story.number(before: "rows drawn elsewhere") > before)
            story.app.advance(by: .seconds(2))
            #expect(story.shows(" 0 were skipped"))
            #expect(story.shows(" 0 rows drawn on the main thread"))
            try story.expectGolden("8-slow-drawing")
        }
    }

    @Test func `Rows that the main thread draws show no placeholder`() throws {
        try Playing.with(8) { story in
            try story.tap("[x] on other threads")
            // What was set is seen in the next frame.
            story.app.advance(by: .milliseconds(100))
            let first = try story.number(before: "rows drawn on the main thread")
            let before = try story.number(before: "rows drawn elsewhere")
            #expect(first > 0)
            try story.press(.enter, on: "Drag for 2 s")
            for _ in 0..<10 {
                story.app.advance(by: .milliseconds(90))
                #expect(!story.app.text.contains(#/[0-9] +\.\.\. {3}/#))
            }
            story.app.advance(by: .seconds(3))
            #expect(try story.number(before: "rows drawn elsewhere") == before)
            #expect(try story.number(before: "rows drawn on the main thread") > first)
        }
    }

    @Test func `A modal question stops a timer in the default mode but not a timer in the common modes`() throws {
        try Playing.with(9) { story in
            story.app.advance(by: .milliseconds(1100))
            #expect(story.shows("4 ticks in default, 4 ticks in common"))
            let loop = story.app.application.loop
            var mode: RunLoop.Mode?
            loop.add(
                RunLoop.Timer(.after(.milliseconds(2900))) { [display = story.app.display] _ in
                    mode = loop.currentMode
                    display.push(.key(KeyInput(.enter)))
                }, in: .common)
            try story.press(.enter, on: "[ Ask ]")
            story.app.advance(by: .milliseconds(50))
            #expect(mode == .modalPanel)
            #expect(story.shows("Answer: default. Meanwhile: 0 in default, "))
            let ticks = try #require(story.app.text.firstMatch(of: #/Meanwhile: 0 in default, (\d+) in common/#)?.1)
            #expect((9...12).contains(try #require(Int(ticks))))
        }
    }

    @Test func `A tap during an animation interrupts it and starts the next animation`() throws {
        try Playing.with(10) { story in
            try story.tap("[ To the right ]")
            story.app.advance(by: .milliseconds(500))
            #expect(story.shows("1: begins") && !story.shows("1: finished"))
            try story.tap("[ To the left ]")
            #expect(story.shows("1: interrupted") && story.shows("2: begins"))
            story.app.advance(by: .milliseconds(1200))
            #expect(story.shows("2: finished"))
            let wakeUps = try story.wakeUps
            story.app.advance(by: .seconds(5))
            #expect(try story.wakeUps <= wakeUps + 2)
        }
    }
}
