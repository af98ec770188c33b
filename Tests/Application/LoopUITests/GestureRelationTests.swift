// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import Testing

/// Two recognisers that see the same touches.
@MainActor @Suite struct GestureRelationTests {
    /// Two recognisers of one view that wish to begin with the same event.
    private func withPair(
        _ body: (TestApplication, ProbeRecognizer, ProbeRecognizer, ProbeDelegate, Log) throws -> Void
    ) throws {
        try withProbe { app, view, log in
            let (first, second) = (ProbeRecognizer(), ProbeRecognizer())
            for (name, probe) in [("first", first), ("second", second)] {
                probe.onMoved = .changed
                probe.onEnded = .ended
                probe.addAction { log.add("\(name) \($0.state)") }
                view.addGestureRecognizer(probe)
            }
            view.whenTouched = { _ in _ = log.take() }
            try body(app, first, second, ProbeDelegate(), log)
            app.settle()
            #expect(first.state == .possible && second.state == .possible)
        }
    }

    private func drag(_ app: TestApplication) {
        app.down(1)
        app.move(2)
        app.up(2)
    }

    @Test func `The gesture recognised first makes the other fail`() throws {
        try withPair { app, first, second, _, log in
            app.down(1)
            app.move(2)
            #expect(log.lines == ["first began"])
            #expect(second.state == .failed)
            app.up(2)
            #expect(log.lines == ["first began", "first ended"])
        }
    }

    @Test(arguments: [0, 1])
    func `Both gestures are recognised if one delegate allows it`(index: Int) throws {
        try withPair { app, first, second, delegate, log in
            delegate.together = true
            [first, second][index].delegate = delegate
            drag(app)
            #expect(log.lines == ["first began", "second began", "first ended", "second ended"])
        }
    }

    @Test func `A gesture under way prevents another gesture of the same touches from beginning`() throws {
        try withPair { app, first, second, _, log in
            second.onMoved = nil
            second.onEnded = nil
            first.canPreventOthers = false
            app.down(1)
            app.move(2)
            #expect(second.state == .possible)
            first.canPreventOthers = true
            second.state = .began
            app.settle()
            #expect(second.state == .failed)
            app.up(2)
            #expect(log.lines == ["first began", "first ended"])
        }
    }

    @Test func `Neither gesture fails if the first cannot prevent or the second cannot be prevented`() throws {
        for kind in [0, 1] {
            try withPair { app, first, second, _, log in
                if kind == 0 { first.canPreventOthers = false } else { second.canBePreventedByOthers = false }
                // The second has no rank over the first either.
                if kind == 1 { first.canBePreventedByOthers = false } else { second.canPreventOthers = false }
                drag(app)
                #expect(log.lines == ["first began", "second began", "first ended", "second ended"])
            }
        }
    }

    @Test func `If one of two gestures that begin at once can prevent the other, it is recognised alone`() throws {
        try withPair { app, first, second, _, log in
            first.canPreventOthers = false
            drag(app)
            #expect(log.lines == ["second began", "second ended"])
        }
    }

    @Test(arguments: [0, 1, 2])
    func `A gesture with require(toFail:) waits until the other gesture has failed`(kind: Int) throws {
        try withPair { app, first, second, delegate, log in
            switch kind {
            case 0: first.require(toFail: second)
            case 1:
                delegate.requires = (first, second)
                first.delegate = delegate
            default:
                delegate.isRequired = (first, second)
                second.delegate = delegate
            }
            second.onMoved = nil
            second.onEnded = nil
            app.down(1)
            app.move(2)
            app.move(3)
            #expect(first.state == .possible)
            #expect(log.lines == [])
            second.state = .failed
            app.settle()
            #expect(first.state == .changed)
            #expect(log.lines == ["first began", "first changed"])
            app.up(3)
            #expect(log.lines == ["first began", "first changed", "first ended"])
        }
    }

    @Test func `A gesture with require(toFail:) fails when the other is recognised, even if both are allowed at once`()
        throws
    {
        try withPair { app, first, second, delegate, log in
            delegate.together = true
            first.delegate = delegate
            first.require(toFail: second)
            app.down(1)
            app.move(2)
            #expect(first.state == .failed)
            app.up(2)
            #expect(log.lines == ["second began", "second ended"])
        }
    }

    @Test func `A gesture does not wait for a required recogniser that sees none of the touches`() throws {
        try withPair { app, first, second, _, log in
            first.require(toFail: second)
            second.isEnabled = false
            app.down(1)
            app.move(2)
            app.up(2)
            #expect(log.lines == ["first began", "first ended"])
        }
    }

    @Test func `Two gestures that require each other to fail do not wait forever`() throws {
        try withPair { app, first, second, _, log in
            first.require(toFail: second)
            second.require(toFail: first)
            drag(app)
            #expect(log.lines == ["first began", "first ended"])
        }
    }

    @Test func `A gesture fails if its delegate does not let it begin, and the delegate is asked once`() throws {
        try withPair { app, first, second, delegate, log in
            delegate.shouldBegin = false
            first.delegate = delegate
            app.down(1)
            app.move(2)
            #expect(first.state == .failed)
            #expect(log.lines == ["second began"])
            app.up(2)
            #expect(delegate.timesAsked == 1)
            drag(app)
            #expect(delegate.timesAsked == 2)
        }
    }

    @Test func `The delegate is asked once even if the gesture waits for another gesture`() throws {
        try withPair { app, first, second, delegate, log in
            first.delegate = delegate
            first.require(toFail: second)
            second.onMoved = nil
            second.onEnded = nil
            app.down(1)
            for x in 2...5 { app.move(Double(x)) }
            second.state = .failed
            app.settle()
            app.up(5)
            #expect(delegate.timesAsked == 1)
            #expect(log.lines == ["first began", "first changed", "first ended"])
        }
    }

    @Test func `Gestures of different touches do not prevent each other`() throws {
        try withProbe { app, view, log in
            for (name, x) in [("left", 0.0), ("right", 40.0)] {
                let half = ProbeView(Log(), frame: Rect(x, 0, 40, 24))
                let pan = PanGestureRecognizer()
                pan.logActions(log, name)
                half.addGestureRecognizer(pan)
                view.addSubview(half)
            }
            app.down(5)
            app.down(45, finger: 1)
            app.move(6)
            app.move(46, finger: 1)
            #expect(log.lines == ["left began", "right began"])
            app.up(6)
            app.up(46, finger: 1)
            #expect(log.lines == ["left began", "right began", "left ended", "right ended"])
        }
    }

    // MARK: What programs do with it

    private func tapPair(_ view: View, _ log: Log, requires: Bool) {
        let (single, double) = (TapGestureRecognizer(), TapGestureRecognizer())
        double.numberOfTapsRequired = 2
        if requires { single.require(toFail: double) }
        single.logActions(log, "single")
        double.logActions(log, "double")
        view.addGestureRecognizer(single)
        view.addGestureRecognizer(double)
    }

    @Test func `A single tap that requires a double tap to fail is recognised when no second tap follows`() throws {
        try withProbe { app, view, log in
            tapPair(view, log, requires: true)
            app.tap(at: Point(1, 1))
            #expect(log.take() == ["view began"])
            app.advance(by: .milliseconds(300))
            #expect(log.take() == [])
            app.advance(by: .milliseconds(50))
            #expect(log.take() == ["view cancelled", "single ended"])
            app.tap(at: Point(1, 1), count: 2)
            #expect(log.take() == ["view began", "view began", "view cancelled", "view cancelled", "double ended"])
            #expect(app.application.loop.detailedDescription().contains("timers = (none)"))
        }
    }

    @Test func `A double tap that requires a triple tap to fail is recognised when no third tap follows`() throws {
        try withProbe { app, view, log in
            let (double, triple) = (TapGestureRecognizer(), TapGestureRecognizer())
            double.numberOfTapsRequired = 2
            triple.numberOfTapsRequired = 3
            double.require(toFail: triple)
            double.logActions(log, "double")
            triple.logActions(log, "triple")
            view.addGestureRecognizer(double)
            view.addGestureRecognizer(triple)
            app.tap(at: Point(1, 1))
            app.down(1, 1)
            app.advance(by: .milliseconds(200))
            app.up(1, 1)
            app.advance(by: .milliseconds(300))
            #expect(log.lines(of: "double") == [])
            app.advance(by: .milliseconds(100))
            #expect(log.take(of: "double") == ["double ended"])
            app.tap(at: Point(1, 1), count: 3)
            #expect(log.lines(of: "double") == [])
            #expect(log.take(of: "triple") == ["triple ended"])
        }
    }

    @Test func `A single tap without a requirement is recognised at the first of two taps`() throws {
        try withProbe { app, view, log in
            tapPair(view, log, requires: false)
            app.tap(at: Point(1, 1), count: 2)
            #expect(log.lines(of: "single") == ["single ended"])
            #expect(log.take(of: "double") == ["double ended"])
        }
    }

    @Test func `A pan prevents a tap and cancels the touch of the view`() throws {
        try withProbe { app, view, log in
            let (tap, pan) = (TapGestureRecognizer(), PanGestureRecognizer())
            tap.logActions(log, "tap")
            pan.logActions(log, "pan")
            view.addGestureRecognizer(tap)
            view.addGestureRecognizer(pan)
            app.play(.drag(from: Point(1, 1), to: Point(5, 1), steps: 4))
            #expect(
                log.take() == [
                    "view began", "view cancelled", "pan began", "pan changed", "pan changed", "pan changed",
                    "pan ended",
                ])
            app.tap(at: Point(1, 1))
            #expect(log.take() == ["view began", "view cancelled", "tap ended"])
        }
    }

    /// Moves one of two fingers away from the other: the middle moves, too.
    private func spread(_ app: TestApplication) {
        app.down(10)
        app.down(20, finger: 1)
        for x in 21...30 { app.move(Double(x), finger: 1) }
        app.up(30, finger: 1)
        app.up(10)
    }

    @Test func `A pinch and a pan are recognised at once if a delegate allows it`() throws {
        try withProbe { app, view, log in
            let (pinch, pan, delegate) = (PinchGestureRecognizer(), PanGestureRecognizer(), ProbeDelegate())
            delegate.together = true
            pinch.delegate = delegate
            pinch.logActions(log, "pinch")
            pan.logActions(log, "pan")
            view.addGestureRecognizer(pinch)
            view.addGestureRecognizer(pan)
            spread(app)
            let lines = log.take().filter { !$0.hasSuffix("changed") && !$0.hasPrefix("view") }
            #expect(Set(lines) == ["pinch began", "pan began", "pinch ended", "pan ended"])
            #expect(lines.count == 4)
            delegate.together = false
            spread(app)
            let alone = Set(log.take().filter { !$0.hasPrefix("view") }.map { $0.prefix(4) })
            #expect(alone.count == 1)
        }
    }
}
