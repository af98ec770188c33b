// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import Testing

/// What a view gets of touches that a recogniser looks at.
@MainActor @Suite struct GestureTouchOptionTests {
    @Test func `A recognised gesture cancels the view's touches and withholds later ones`() throws {
        try withProbe { app, view, log in
            let probe = ProbeRecognizer()
            probe.onMoved = .changed
            view.addGestureRecognizer(probe)
            app.down(1)
            #expect(log.take() == ["view began"])
            app.move(2)
            #expect(log.take() == ["view cancelled"])
            app.move(3)
            app.up(3)
            #expect(log.take() == [])
        }
    }

    @Test func `A recognised gesture does not cancel touches if cancelsTouchesInView is false`() throws {
        try withProbe { app, view, log in
            let probe = view.add(ProbeRecognizer(), "probe")
            probe.onMoved = .changed
            probe.onEnded = .ended
            probe.cancelsTouchesInView = false
            app.down(1)
            app.move(2)
            app.up(2)
            #expect(log.take() == ["view began", "view moved", "probe began", "view ended", "probe ended"])
        }
    }

    @Test func `A cancelled touch has the phase cancelled and its present location`() throws {
        try withProbe { app, view, log in
            let probe = ProbeRecognizer()
            probe.onMoved = .began
            view.addGestureRecognizer(probe)
            var seen: [String] = []
            view.whenTouched = { seen.append("\($0.phase) \($0.location(in: nil).x)") }
            app.down(1)
            app.move(2)
            #expect(seen == ["began 1.0", "cancelled 2.0"])
        }
    }

    @Test func `A delayed touchesBegan is delivered with later moves when the gesture fails`() throws {
        try withProbe { app, view, log in
            let probe = ProbeRecognizer()
            probe.delaysTouchesBegan = true
            view.addGestureRecognizer(probe)
            var places: [Double] = []
            view.whenTouched = { places.append($0.location(in: nil).x) }
            app.down(1)
            app.move(2)
            app.move(3)
            #expect(log.take() == [])
            probe.state = .failed
            app.settle()
            #expect(log.take() == ["view began", "view moved"])
            app.up(4)
            #expect(log.take() == ["view ended"])
            #expect(places == [1, 3, 4])
        }
    }

    @Test func `A delayed touchesBegan is discarded when the gesture is recognised`() throws {
        try withProbe { app, view, log in
            let probe = ProbeRecognizer()
            probe.delaysTouchesBegan = true
            probe.onEnded = .ended
            view.addGestureRecognizer(probe)
            app.down(1)
            app.move(2)
            app.up(2)
            #expect(log.take() == [])
        }
    }

    @Test func `A delayed touchesBegan of a cancelled touch is never delivered`() throws {
        try withProbe { app, view, log in
            let probe = ProbeRecognizer()
            probe.delaysTouchesBegan = true
            view.addGestureRecognizer(probe)
            app.down(1)
            app.cancel(1)
            #expect(log.take() == [])
        }
    }

    /// The sequences of the documentation of `delaysTouchesEnded`.
    @Test(arguments: [true, false])
    func `delaysTouchesEnded decides whether a double tap cancels the view's first touch`(delays: Bool) throws {
        try withProbe { app, view, log in
            let tap = TapGestureRecognizer()
            tap.numberOfTapsRequired = 2
            tap.delaysTouchesEnded = delays
            view.addGestureRecognizer(tap)
            app.tap(at: Point(1, 1), count: 2)
            #expect(
                log.take()
                    == (delays
                        ? ["view began", "view began", "view cancelled", "view cancelled"]
                        : ["view began", "view ended", "view began", "view cancelled"]))
        }
    }

    @Test func `A delayed touchesEnded is delivered when no second tap follows`() throws {
        try withProbe { app, view, log in
            let tap = TapGestureRecognizer()
            tap.numberOfTapsRequired = 2
            view.addGestureRecognizer(tap)
            app.tap(at: Point(1, 1))
            #expect(log.take() == ["view began"])
            app.advance(by: .milliseconds(350))
            #expect(log.take() == ["view ended"])
            #expect(tap.state == .possible)
        }
    }

    @Test func `A delayed touchesEnded does not wait for the gestures of the next touch`() throws {
        try withProbe { app, view, log in
            let (quick, slow) = (ProbeRecognizer(), ProbeRecognizer())
            slow.expects = true
            view.addGestureRecognizer(quick)
            view.addGestureRecognizer(slow)
            app.tap(at: Point(1, 1))
            #expect(log.take() == ["view began"])
            app.down(5)
            #expect(log.take() == ["view began"])
            slow.state = .failed
            app.settle()
            #expect(quick.state == .possible)
            #expect(log.take() == ["view ended"])
            app.up(5)
            #expect(log.take() == ["view ended"])
        }
    }

    @Test func `A touch that a recogniser ignores is still delivered to the view`() throws {
        try withProbe { app, view, log in
            let pan = view.add(PanGestureRecognizer(), "pan")
            pan.maximumNumberOfTouches = 1
            app.down(1)
            app.down(20, finger: 1)
            app.move(2)
            #expect(log.take() == ["view began", "view began", "view cancelled", "pan began"])
            app.move(21, finger: 1)
            app.up(21, finger: 1)
            #expect(log.take() == ["view moved", "view ended"])
            app.up(2)
            #expect(log.take() == ["pan ended"])
        }
    }

    @Test func `The touch of a finger added to a recognised gesture is not delivered to the view`() throws {
        try withProbe { app, view, log in
            let pan = PanGestureRecognizer()
            view.addGestureRecognizer(pan)
            app.down(1)
            app.move(3)
            _ = log.take()
            app.down(20, finger: 1)
            app.move(22, finger: 1)
            #expect(pan.numberOfTouches == 2)
            app.up(22, finger: 1)
            app.up(3)
            #expect(log.take() == [])
        }
    }

    @Test func `A touch that the delegate refuses does not reach the recogniser`() throws {
        try withProbe { app, view, log in
            let tap = TapGestureRecognizer()
            let delegate = ProbeDelegate()
            tap.delegate = delegate
            tap.logActions(log, "tap")
            view.addGestureRecognizer(tap)
            delegate.receives = false
            app.tap(at: Point(1, 1))
            #expect(log.take() == ["view began", "view ended"])
            delegate.receives = true
            app.tap(at: Point(1, 1))
            #expect(log.take() == ["view began", "view cancelled", "tap ended"])
        }
    }
}
