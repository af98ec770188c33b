// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import Testing

@testable import LoopUI

/// States of recognisers, and the actions that are called for them.
@MainActor @Suite struct GestureStateTests {
    typealias State = GestureRecognizer.State

    @Test func `The next state depends only on the present state and the requested one`() {
        let all: [State] = [.possible, .began, .changed, .ended, .cancelled, .failed]
        let table: [State: [State?]] = [
            .possible: [nil, .began, .began, .ended, .failed, .failed],
            .began: [nil, nil, .changed, .ended, .cancelled, .cancelled],
            .changed: [nil, .changed, .changed, .ended, .cancelled, .cancelled],
            .ended: [nil, nil, nil, nil, nil, nil],
            .cancelled: [nil, nil, nil, nil, nil, nil],
            .failed: [nil, nil, nil, nil, nil, nil],
        ]
        for state in all {
            let row = all.map { state.following(wish: $0) }
            #expect(row == table[state], "\(state)")
        }
    }

    @Test func `A continuous gesture begins, changes, ends and is possible again`() throws {
        try withProbe { app, view, log in
            let probe = view.add(ProbeRecognizer(), "probe")
            probe.onMoved = .changed
            probe.onEnded = .ended
            app.down(1)
            #expect(probe.state == .possible)
            app.move(2)
            #expect(probe.state == .began)
            app.move(3)
            app.move(4)
            #expect(probe.state == .changed)
            app.up(4)
            #expect(probe.state == .possible)
            #expect(probe.resets == 1)
            #expect(
                log.lines(of: "probe") == [
                    "probe began", "probe changed", "probe changed", "probe ended",
                ])
        }
    }

    @Test func `A discrete gesture calls its action once and stays ended while the finger is down`()
        throws
    {
        try withProbe { app, view, log in
            let probe = view.add(ProbeRecognizer(), "probe")
            probe.onMoved = .ended
            app.down(1)
            app.move(2)
            #expect(probe.state == .ended)
            app.move(3)
            #expect(probe.state == .ended)
            #expect(probe.resets == 0)
            app.up(3)
            #expect(probe.state == .possible)
            #expect(probe.resets == 1)
            #expect(log.lines(of: "probe") == ["probe ended"])
        }
    }

    @Test func `A failed gesture calls no action and sees no touches until all touches have ended`() throws {
        try withProbe { app, view, log in
            let probe = view.add(ProbeRecognizer(), "probe")
            probe.onBegan = .failed
            probe.touchLog = log
            app.down(1)
            #expect(probe.state == .failed)
            probe.onMoved = .began
            app.move(2)
            #expect(probe.state == .failed)
            app.up(2)
            #expect(probe.state == .possible)
            #expect(log.lines == ["recogniser began", "view began", "view moved", "view ended"])
        }
    }

    @Test func `Cancelled touches cancel a gesture that has begun and fail a gesture that has not begun`() throws {
        try withProbe { app, view, log in
            let probe = view.add(ProbeRecognizer(), "probe")
            probe.onMoved = .changed
            app.down(1)
            app.move(2)
            app.cancel(2)
            #expect(log.take() == ["view began", "view cancelled", "probe began", "probe cancelled"])
            app.down(1)
            app.cancel(1)
            #expect(log.take() == ["view began", "view cancelled"])
            #expect(probe.state == .possible)
        }
    }

    @Test func `Disabling a recogniser cancels a gesture that has begun and fails a gesture that has not begun`() throws
    {
        try withProbe { app, view, log in
            let probe = view.add(ProbeRecognizer(), "probe")
            probe.onMoved = .changed
            app.down(1)
            app.move(2)
            probe.isEnabled = false
            app.move(3)
            #expect(probe.state == .cancelled)
            probe.isEnabled = true
            app.move(4)
            #expect(probe.state == .cancelled)
            app.up(4)
            #expect(probe.state == .possible)
            #expect(log.take(of: "probe") == ["probe began", "probe cancelled"])
            app.down(1)
            probe.isEnabled = false
            app.move(2)
            app.up(2)
            #expect(log.take() == ["view began", "view moved", "view ended"])
            app.down(1)
            app.move(2)
            app.up(2)
            #expect(log.take() == ["view began", "view moved", "view ended"])
        }
    }

    @Test func `The action is called once a turn for each state, even if a state is reached several times`() throws {
        try withProbe { app, view, log in
            let probe = view.add(ProbeRecognizer(), "probe")
            probe.onMoved = .changed
            probe.onEnded = .ended
            app.pushTogether(
                PointerInput(.began, at: Point(1, 1)), PointerInput(.moved, at: Point(2, 1)),
                PointerInput(.began, at: Point(7, 1), identifier: 1), PointerInput(.moved, at: Point(3, 1)),
                PointerInput(.moved, at: Point(8, 1), identifier: 1), PointerInput(.moved, at: Point(4, 1)),
                PointerInput(.ended, at: Point(8, 1), identifier: 1), PointerInput(.ended, at: Point(4, 1)))
            let actions = log.take(of: "probe")
            #expect(actions == ["probe began", "probe changed", "probe ended"])
            #expect(probe.state == .possible)
        }
    }

    @Test func `A recogniser that never changes its state fails when the touches end`() throws {
        try withProbe { app, view, log in
            let probe = ProbeRecognizer()
            view.addGestureRecognizer(probe)
            app.tap(at: Point(1, 1))
            #expect(log.take() == ["view began", "view ended"])
            #expect(probe.resets == 1)
            #expect(probe.state == .possible)
        }
    }

    @Test func `Recognisers see touches before the view does, and a subview's actions run before a superview's`()
        throws
    {
        try withProbe { app, view, log in
            let inner = ProbeView(log, "inner", frame: Rect(0, 0, 10, 10))
            view.addSubview(inner)
            for (name, owner) in [("outer", view), ("inner", inner)] {
                let probe = ProbeRecognizer()
                probe.touchLog = Log()
                probe.addAction { _ in log.add("\(name) action") }
                probe.onBegan = .ended
                probe.cancelsTouchesInView = false
                probe.canPreventOthers = false
                owner.addGestureRecognizer(probe)
            }
            let first = ProbeRecognizer()
            first.touchLog = log
            view.addGestureRecognizer(first)
            app.down(1)
            #expect(log.take() == ["recogniser began", "inner began", "inner action", "outer action"])
        }
    }
}
