// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import RunLoopsTesting
import Testing

/// A view that writes the number of each row, and the touches that it gets.
@MainActor final class Lines: View {
    private(set) var log: [String] = []

    override func draw(in canvas: inout Canvas) {
        for row in 0..<Int(canvas.size.height) { canvas.write("line \(row)", at: Point(0, Double(row))) }
    }
    override func touchesBegan(_ touches: Set<Touch>, with event: Event?) { log.append("began") }
    override func touchesMoved(_ touches: Set<Touch>, with event: Event?) { log.append("moved") }
    override func touchesEnded(_ touches: Set<Touch>, with event: Event?) { log.append("ended") }
    override func touchesCancelled(_ touches: Set<Touch>, with event: Event?) { log.append("cancelled") }
}

/// Writes down what a scroll view tells.
@MainActor final class ScrollLog: ScrollViewDelegate {
    var entries: [String] = []
    var scrolls = 0
    var target: Point?
    private(set) var velocity = Point.zero

    func scrollViewDidScroll(_ scrollView: ScrollView) { scrolls += 1 }
    func scrollViewWillBeginDragging(_ scrollView: ScrollView) { entries.append("will begin dragging") }
    func scrollViewWillEndDragging(_ scrollView: ScrollView, velocity: Point, target: inout Point) {
        entries.append("will end dragging")
        self.velocity = velocity
        if let wanted = self.target { target = wanted }
    }
    func scrollViewDidEndDragging(_ scrollView: ScrollView, willDecelerate: Bool) {
        entries.append("did end dragging, \(willDecelerate ? "goes on" : "rests")")
    }
    func scrollViewWillBeginDecelerating(_ scrollView: ScrollView) { entries.append("will begin decelerating") }
    func scrollViewDidEndDecelerating(_ scrollView: ScrollView) { entries.append("did end decelerating") }
    func scrollViewDidEndScrollingAnimation(_ scrollView: ScrollView) { entries.append("did end animation") }
}

/// A scroll view of 20 by 10 points over 200 lines.
@MainActor struct ScrollFixture {
    let app: TestApplication
    let scroll = ScrollView()
    let lines = Lines(frame: Rect(0, 0, 20, 200))
    let log = ScrollLog()

    static func with(_ body: (ScrollFixture) throws -> Void) throws {
        try TestApplication.with(size: Size(20, 10)) { app in
            let fixture = ScrollFixture(app: app)
            fixture.scroll.contentSize = fixture.lines.frame.size
            fixture.scroll.addSubview(fixture.lines)
            fixture.scroll.delegate = fixture.log
            app.show(fixture.scroll)
            try body(fixture)
        }
    }

    var y: Double { scroll.contentOffset.y }

    /// A finger that goes down, moves up by `rows` in even steps, rests and goes up.
    func drag(by rows: Double, lasting duration: Duration = .milliseconds(300), rest: Duration = .milliseconds(200)) {
        var script = TouchScript.drag(from: Point(5, 8), to: Point(5, 8 - rows), lasting: duration)
        script = script.resting(for: rest)
        app.play(script)
    }

    /// A drag that is as fast at its end as all the time.
    func fling(by rows: Double = 6, lasting duration: Duration = .milliseconds(150)) {
        app.play(.drag(from: Point(5, 8), to: Point(5, 8 - rows), lasting: duration))
    }
}

extension TouchScript {
    /// The same script, with a pause before the last step.
    func resting(for pause: Duration) -> TouchScript {
        var script = TouchScript()
        for (index, step) in steps.enumerated() {
            script.add(
                step.input.phase, at: step.input.position, finger: step.input.identifier,
                after: index == steps.count - 1 ? step.delay + pause : step.delay)
        }
        return script
    }
}

extension TestApplication {
    /// How often the loop wakes in 5 s in which nothing happens, after a frame that was still to come.
    @MainActor var wakeUpsWhenIdle: Int {
        advance(by: .milliseconds(40))
        let loop = application.loop
        let timers = [RunLoop.Mode.default, .tracking].filter { loop.nextTimerDeadline(in: $0) != nil }.count
        let before = manual.sleeps
        advance(by: .seconds(5))
        // One sleep is the 5 s themselves.
        return manual.sleeps - before - 1 + timers
    }
}

@MainActor @Suite struct ScrollViewTests {
    @Test func `A scroll view shows a part of its content and an indicator at the edge`() throws {
        try ScrollFixture.with { f in
            #expect(f.app.text.hasPrefix("line 0             ▐\nline 1\n"))
            f.scroll.contentOffset = Point(0, 100)
            f.app.settle()
            let rows = f.app.text.split(separator: "\n")
            #expect(rows.first == "line 100")
            #expect(rows.count == 10)
            #expect(rows.filter { $0.contains(where: { "▐▝▗".contains($0) }) }.count <= 2)
        }
    }

    @Test func `contentOffset is clamped when it is set, the bounds move or the content changes its size`() throws {
        try ScrollFixture.with { f in
            f.scroll.contentOffset = Point(7, 1000)
            #expect(f.scroll.contentOffset == Point(0, 190))
            f.scroll.contentOffset = Point(-7, -1)
            #expect(f.scroll.contentOffset == .zero)
            f.scroll.bounds.origin = Point(0, 12.4)
            #expect(f.scroll.contentOffset == Point(0, 12))
            f.scroll.contentInset = Insets(top: 2, bottom: 3)
            f.scroll.contentOffset = Point(0, -5)
            #expect(f.y == -2)
            f.scroll.contentOffset = Point(0, 500)
            #expect(f.y == 193)
            f.scroll.contentSize.height = 50
            #expect(f.y == 43)
            f.app.display.resize(to: Size(20, 30))
            f.app.settle()
            #expect(f.y == 23)
            #expect(f.log.scrolls == 7)
        }
    }

    @Test func `A drag moves the content with the finger and calls the delegate`() throws {
        try ScrollFixture.with { f in
            f.drag(by: 6)
            #expect(f.y == 6)
            #expect(
                f.log.entries == ["will begin dragging", "will end dragging", "did end dragging, rests"])
            // The view inside has not got the touch.
            #expect(f.lines.log.isEmpty)
            f.drag(by: -2)
            #expect(f.y == 4)
            f.drag(by: -30)
            #expect(f.y == 0)
        }
    }

    @Test func `Tracking begins with the touch, dragging with the first movement`() throws {
        try ScrollFixture.with { f in
            let scroll = f.scroll
            @MainActor func state() -> [Bool] { [scroll.isTracking, scroll.isDragging, scroll.isDecelerating] }
            f.app.send(.pointer(PointerInput(.began, at: Point(5, 8))))
            #expect(state() == [true, false, false])
            #expect(f.app.application.modes.current == .default)
            f.app.send(.pointer(PointerInput(.moved, at: Point(5, 6))))
            #expect(state() == [true, true, false])
            #expect(f.app.application.modes.current == .tracking)
            f.app.send(.pointer(PointerInput(.moved, at: Point(5, 4))))
            f.app.send(.pointer(PointerInput(.ended, at: Point(5, 4))))
            #expect(state() == [false, false, true])
            #expect(f.app.application.modes.current == .tracking)
            f.app.advance(by: .seconds(10))
            #expect(state() == [false, false, false])
            #expect(f.app.application.modes.current == .default)
        }
    }

    @Test func `A notch of the wheel scrolls by three rows or by pointsPerNotch`() throws {
        try ScrollFixture.with { f in
            @MainActor func turn(_ x: Double, _ y: Double, _ modifiers: KeyModifiers = []) {
                f.app.send(.wheel(WheelInput(Point(x, y), at: Point(5, 5), modifiers: modifiers)))
            }
            turn(0, 2)
            #expect(f.y == 6)
            turn(0, -1)
            #expect(f.y == 3)
            f.scroll.pointsPerNotch = 10
            turn(0, -1)
            #expect(f.y == 0)
            f.scroll.contentSize.width = 50
            turn(0, 2, .shift)
            #expect(f.scroll.contentOffset == Point(20, 0))
            turn(-1, 0)
            #expect(f.scroll.contentOffset == Point(10, 0))
            f.scroll.isScrollEnabled = false
            turn(0, 1)
            #expect(f.scroll.contentOffset == Point(10, 0))
            // The wheel is no drag.
            #expect(f.log.entries.isEmpty)
        }
    }

    @Test func `Keys scroll the focused scroll view by rows, by pages and to the edges`() throws {
        try ScrollFixture.with { f in
            #expect(f.scroll.becomeFirstResponder())
            for (key, row) in [
                (Key.down, 1.0), (.down, 2), (.up, 1), (.pageDown, 10), (.pageDown, 19), (.pageUp, 10), (.end, 190),
                (.down, 190), (.home, 0), (.up, 0), (.left, 0), (.character("j"), 0),
            ] {
                f.app.press(key)
                #expect(f.y == row, "after \(key)")
            }
            f.scroll.contentSize.width = 30
            f.app.press(.right, .right)
            #expect(f.scroll.contentOffset == Point(2, 0))
            f.app.press(.left)
            #expect(f.scroll.contentOffset == Point(1, 0))
        }
    }

    @Test func `A scroll view at its end passes the wheel and a drag to the scroll view around it`() throws {
        try ScrollFixture.with { f in
            let inner = ScrollView(frame: Rect(0, 2, 20, 6))
            inner.contentSize = Size(20, 10)
            f.scroll.addSubview(inner)
            f.app.settle()
            @MainActor func turn(_ notches: Double) {
                f.app.send(.wheel(WheelInput(Point(0, notches), at: Point(5, 4))))
            }
            turn(1)
            #expect((inner.contentOffset.y, f.y) == (3, 0))
            turn(1)
            #expect((inner.contentOffset.y, f.y) == (4, 0))
            turn(1)
            #expect((inner.contentOffset.y, f.y) == (4, 3))
            f.scroll.contentOffset = .zero
            // At its end, a drag goes to the outer view too, and before that to the inner view.
            f.app.play(.drag(from: Point(5, 6), to: Point(5, 4), lasting: .milliseconds(100)).resting(for: .seconds(1)))
            #expect((inner.contentOffset.y, f.y) == (4, 2))
            f.app.play(.drag(from: Point(5, 3), to: Point(5, 5), lasting: .milliseconds(100)).resting(for: .seconds(1)))
            #expect((inner.contentOffset.y, f.y) == (2, 2))
        }
    }

    @Test func `scrollRectToVisible scrolls by the least distance`() throws {
        try ScrollFixture.with { f in
            f.scroll.scrollRectToVisible(Rect(0, 3, 5, 2))
            #expect(f.y == 0)
            f.scroll.scrollRectToVisible(Rect(0, 30, 5, 2))
            #expect(f.y == 22)
            f.scroll.scrollRectToVisible(Rect(0, 20, 5, 2))
            #expect(f.y == 20)
            f.scroll.scrollRectToVisible(Rect(0, 100, 5, 40))
            #expect(f.y == 100)
        }
    }

    @Test func `A scroll animation takes 0.3 s, slows down, and does not leave the default mode`() throws {
        try ScrollFixture.with { f in
            f.scroll.setContentOffset(Point(0, 100), animated: true)
            var rows: [Double] = []
            for _ in 0..<18 {
                f.app.advance(by: .nanoseconds(16_666_667))
                #expect(f.app.application.modes.current == .default)
                rows.append(f.y)
            }
            f.app.advance(by: .milliseconds(17))
            #expect(f.y == 100)
            #expect(f.log.entries == ["did end animation"])
            let steps = zip(rows.dropFirst(), rows).map { $0 - $1 }
            #expect(rows[8] > 80 && rows[8] < 95)
            #expect(steps.allSatisfy { $0 >= 0 } && steps[0] > steps[10])
            #expect(f.app.wakeUpsWhenIdle == 0)

            f.app.display.abilities.reducesMotion = true
            f.scroll.setContentOffset(.zero, animated: true)
            #expect(f.y == 0)
        }
    }

    @Test func `A nested view that gets the focus is scrolled into view`() throws {
        try ScrollFixture.with { f in
            let inner = ScrollView(frame: Rect(0, 50, 20, 5))
            inner.contentSize = Size(20, 40)
            f.scroll.addSubview(inner)
            let (first, last) = (Button("first"), Button("last"))
            first.frame = Rect(0, 20, 10, 1)
            last.frame = Rect(0, 30, 10, 1)
            f.scroll.addSubview(first)
            inner.addSubview(last)
            f.app.settle()
            let window = try #require(f.scroll.window)
            #expect(window.focusableViews.count == 4)
            while window.firstResponder !== first { #expect(window.focusNext()) }
            #expect(f.scroll.bounds.intersection(first.frame) == first.frame)
            while window.firstResponder !== last { #expect(window.focusPrevious()) }
            #expect(inner.contentOffset.y == 26)
            let place = last.convert(last.bounds, to: f.scroll)
            #expect(f.scroll.bounds.intersection(place) == place)
        }
    }
}
