// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import Testing

@testable import LoopUI

/// A control that writes down its touches.
@MainActor private final class Knob: Control {
    var log: [String] = []

    override func touchesBegan(_ touches: Set<Touch>, with event: Event?) { log.append("began") }
    override func touchesMoved(_ touches: Set<Touch>, with event: Event?) { log.append("moved") }
    override func touchesEnded(_ touches: Set<Touch>, with event: Event?) { log.append("ended") }
    override func touchesCancelled(_ touches: Set<Touch>, with event: Event?) { log.append("cancelled") }
}

/// A scroll view that takes touches away from controls, too.
@MainActor private final class Taker: ScrollView {
    override func touchesShouldCancel(in view: View) -> Bool { true }
}

/// A scroll view that lets no touches in.
@MainActor private final class Glass: ScrollView {
    var asked: [View] = []

    override func touchesShouldBegin(_ touches: Set<Touch>, with event: Event?, in view: View) -> Bool {
        asked.append(view)
        return false
    }
}

/// Whether the view inside gets a touch, or the scroll view.
@MainActor @Suite struct ScrollTouchTests {
    private func finger(_ phase: PointerInput.Phase, _ y: Double, in app: TestApplication) {
        app.display.push(.pointer(PointerInput(phase, at: Point(5, y))))
        app.advance(by: .nanoseconds(1))
    }

    @Test func `The view receives a quick tap when the finger lifts`() throws {
        try ScrollFixture.with { f in
            finger(.began, 5, in: f.app)
            f.app.advance(by: .milliseconds(100))
            #expect(f.lines.log.isEmpty && f.scroll.isTracking)
            finger(.ended, 5, in: f.app)
            #expect(f.lines.log == ["began", "ended"] && !f.scroll.isTracking)
            #expect(f.app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `A touch that does not move is delivered to the view after 150 ms`() throws {
        try ScrollFixture.with { f in
            finger(.began, 5, in: f.app)
            f.app.advance(by: .milliseconds(149))
            #expect(f.lines.log.isEmpty)
            f.app.advance(by: .milliseconds(1))
            #expect(f.lines.log == ["began"])
            finger(.ended, 5, in: f.app)
            #expect(f.lines.log == ["began", "ended"])
        }
    }

    @Test func `If delaysContentTouches is false the view gets the touch at once, and a drag cancels it`() throws {
        try ScrollFixture.with { f in
            f.scroll.delaysContentTouches = false
            finger(.began, 5, in: f.app)
            #expect(f.lines.log == ["began"])
            finger(.moved, 3, in: f.app)
            #expect(f.lines.log == ["began", "cancelled"] && f.y == 2)
            finger(.ended, 3, in: f.app)
            #expect(f.lines.log == ["began", "cancelled"])
        }
    }

    @Test func `A drag after the delay cancels the view's touch unless canCancelContentTouches is false`() throws {
        try ScrollFixture.with { f in
            finger(.began, 5, in: f.app)
            f.app.advance(by: .milliseconds(200))
            finger(.moved, 3, in: f.app)
            #expect(f.lines.log.first == "began" && f.lines.log.last == "cancelled" && f.y == 2)
            f.app.advance(by: .seconds(1))
            finger(.ended, 3, in: f.app)
            f.app.settle()

            f.scroll.canCancelContentTouches = false
            finger(.began, 5, in: f.app)
            f.app.advance(by: .milliseconds(200))
            finger(.moved, 3, in: f.app)
            finger(.ended, 3, in: f.app)
            #expect(f.y == 2 && f.lines.log.suffix(3) == ["began", "moved", "ended"])
            // Before the view has got the touch, there is no harm in scrolling.
            finger(.began, 5, in: f.app)
            finger(.moved, 4, in: f.app)
            #expect(f.y == 3)
        }
    }

    @Test func `A drag scrolls only if its touch has not yet been delivered to a control`() throws {
        try ScrollFixture.with { f in
            let knob = Knob(frame: Rect(0, 0, 20, 200))
            let label = View(frame: Rect(0, 0, 20, 200))
            knob.addSubview(label)
            f.scroll.addSubview(knob)
            finger(.began, 5, in: f.app)
            f.app.advance(by: .milliseconds(150))
            finger(.moved, 3, in: f.app)
            finger(.ended, 3, in: f.app)
            #expect(knob.log == ["began", "moved", "ended"] && f.y == 0)
            #expect(f.log.entries.isEmpty && f.app.application.modes.current == .default)
            finger(.began, 5, in: f.app)
            finger(.moved, 3, in: f.app)
            #expect(knob.log.count == 3 && f.y == 2)
        }
    }

    @Test func `A drag cancels a control's touch if touchesShouldCancel returns true`() throws {
        try TestApplication.with(size: Size(20, 10)) { app in
            let taker = Taker()
            let knob = Knob(frame: Rect(0, 0, 20, 50))
            taker.contentSize = knob.frame.size
            taker.addSubview(knob)
            app.show(taker)
            finger(.began, 5, in: app)
            app.advance(by: .milliseconds(150))
            finger(.moved, 3, in: app)
            #expect(knob.log.first == "began" && knob.log.last == "cancelled" && taker.contentOffset.y == 2)
        }
    }

    @Test func `Touches that the scroll view refuses are delivered to no view`() throws {
        try TestApplication.with(size: Size(20, 10)) { app in
            let glass = Glass()
            let lines = Lines(frame: Rect(0, 0, 20, 50))
            glass.contentSize = lines.frame.size
            glass.addSubview(lines)
            app.show(glass)
            app.tap(at: Point(5, 5))
            #expect(glass.asked.count == 1 && glass.asked[0] === lines)
            finger(.began, 5, in: app)
            app.advance(by: .milliseconds(200))
            finger(.moved, 3, in: app)
            finger(.ended, 3, in: app)
            #expect(lines.log.isEmpty && glass.contentOffset.y == 2)
            app.advance(by: .seconds(5))
            // The next touch is a new one.
            app.tap(at: Point(5, 5))
            #expect(glass.asked.count == 3)
        }
    }

    @Test func `A tap recogniser of the content works and a drag prevents it`() throws {
        try ScrollFixture.with { f in
            var taps = 0
            f.lines.addGestureRecognizer(TapGestureRecognizer { _ in taps += 1 })
            f.app.tap(at: Point(5, 5))
            #expect(taps == 1 && f.lines.log.isEmpty)
            f.drag(by: 3)
            #expect(taps == 1 && f.y == 3)
        }
    }

    @Test func `A disabled scroll view leaves the touches to its views`() throws {
        try ScrollFixture.with { f in
            f.scroll.isScrollEnabled = false
            f.drag(by: 6)
            #expect(f.y == 0 && f.lines.log.first == "began" && f.lines.log.last == "ended")
        }
    }

    @Test func `A touch cancelled by the display ends the drag`() throws {
        try ScrollFixture.with { f in
            finger(.began, 8, in: f.app)
            finger(.moved, 5, in: f.app)
            finger(.cancelled, 5, in: f.app)
            #expect(f.y == 3 && !f.scroll.isDragging && !f.scroll.isDecelerating)
            #expect(f.log.entries == ["will begin dragging", "did end dragging, rests"])
            #expect(f.app.application.modes.current == .default)
        }
    }
}
