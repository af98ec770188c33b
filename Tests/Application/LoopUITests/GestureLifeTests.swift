// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import Testing

@testable import LoopUI

/// What is removed, disabled or closed in the middle of a touch.
@MainActor @Suite struct GestureLifeTests {
    @Test func `A view removed during a touch gets touchesCancelled, and its superview's gesture continues`() throws {
        try withProbe { app, view, log in
            let inner = ProbeView(log, "inner", frame: Rect(0, 0, 20, 10))
            view.addSubview(inner)
            let pan = view.add(PanGestureRecognizer(), "pan")
            pan.cancelsTouchesInView = false
            app.down(1)
            app.move(3)
            _ = log.take()
            inner.removeFromSuperview()
            app.settle()
            #expect(log.take() == ["inner cancelled"])
            app.move(5)
            app.up(5)
            #expect(log.take() == ["pan changed", "pan ended"])
        }
    }

    @Test func `A view that is removed in its own touchesBegan receives touchesCancelled`() throws {
        try withProbe { app, view, log in
            let inner = ProbeView(log, "inner", frame: Rect(0, 0, 20, 10))
            let tap = inner.add(TapGestureRecognizer(), "tap")
            view.addSubview(inner)
            inner.whenTouched = { [weak inner] _ in inner?.removeFromSuperview() }
            app.tap(at: Point(1, 1))
            #expect(log.take() == ["inner began", "inner cancelled"])
            #expect(tap.state == .possible)
        }
    }

    @Test func `A gesture whose view is removed is cancelled`() throws {
        try withProbe { app, view, log in
            let inner = ProbeView(log, "inner", frame: Rect(0, 0, 20, 10))
            let pan = inner.add(PanGestureRecognizer(), "pan")
            view.addSubview(inner)
            pan.addAction { [weak inner] in if $0.state == .changed { inner?.removeFromSuperview() } }
            app.down(1)
            app.move(3)
            app.move(5)
            app.settle()
            #expect(log.take() == ["inner began", "inner cancelled", "pan began", "pan changed", "pan cancelled"])
            app.move(9)
            app.up(9)
            #expect(log.take() == [])
            #expect(pan.state == .possible)
        }
    }

    @Test func `A recogniser that is removed or disabled in its own action is cancelled`() throws {
        for removes in [true, false] {
            try withProbe { app, view, log in
                let pan = PanGestureRecognizer()
                pan.logActions(log, "pan")
                pan.addAction { [weak view] in
                    guard $0.state == .began else { return }
                    if removes { view?.removeGestureRecognizer($0) } else { $0.isEnabled = false }
                }
                view.addGestureRecognizer(pan)
                app.pushTogether(
                    PointerInput(.began, at: Point(1, 1)), PointerInput(.moved, at: Point(5, 1)),
                    PointerInput(.ended, at: Point(5, 1)))
                #expect(log.take(of: "pan") == ["pan began", "pan cancelled"])
                #expect(pan.state == .possible)
            }
        }
    }

    @Test(arguments: ["disable", "remove", "remove the view"])
    func `A tap removed while it waits for another gesture to fail does not call its action`(how: String) throws {
        try withProbe { app, view, log in
            let inner = ProbeView(log, "inner", frame: Rect(0, 0, 20, 10))
            view.addSubview(inner)
            let (single, double) = (TapGestureRecognizer(), TapGestureRecognizer())
            double.numberOfTapsRequired = 2
            single.require(toFail: double)
            single.delaysTouchesEnded = false
            double.delaysTouchesEnded = false
            single.logActions(log, "single")
            inner.addGestureRecognizer(single)
            view.addGestureRecognizer(double)
            app.tap(at: Point(1, 1))
            switch how {
            case "disable": single.isEnabled = false
            case "remove": inner.removeGestureRecognizer(single)
            default: inner.removeFromSuperview()
            }
            app.advance(by: .seconds(1))
            #expect(log.take(of: "single") == [])
            #expect(single.state == .possible && double.state == .possible)
        }
    }

    @Test func `A removed recogniser is released`() throws {
        try withProbe { app, view, log in
            weak var released: GestureRecognizer?
            do {
                let tap = TapGestureRecognizer()
                released = tap
                view.addGestureRecognizer(tap)
                app.down(1)
                view.removeGestureRecognizer(tap)
                app.up(1)
            }
            app.settle()
            #expect(released == nil)
        }
    }

    @Test func `A touch is released after its end`() throws {
        try withProbe { app, view, log in
            weak var known: Touch?
            view.addGestureRecognizer(PanGestureRecognizer())
            view.whenTouched = { known = $0 }
            app.down(1)
            #expect(known != nil)
            app.move(9)
            app.up(9)
            #expect(known == nil)
        }
    }

    @Test func `Closing a window during a touch cancels the touch`() throws {
        try withProbe { app, view, log in
            let pan = view.add(PanGestureRecognizer(), "pan")
            pan.cancelsTouchesInView = false
            app.down(1)
            app.move(4)
            _ = log.take()
            view.window?.close()
            app.settle()
            #expect(Set(log.take()) == ["view cancelled", "pan cancelled"])
            app.move(6)
            app.up(6)
            #expect(log.take() == [])
            #expect(pan.state == .possible)
        }
    }

    @Test func `A window closed in a tap's action receives no further touches`() throws {
        try withProbe { app, view, log in
            let tap = view.add(TapGestureRecognizer(), "tap")
            tap.addAction { $0.view?.window?.close() }
            app.tap(at: Point(1, 1), count: 3)
            #expect(log.take() == ["view began", "view cancelled", "tap ended"])
        }
    }

    @Test func `A call of terminate in a gesture's action ends the program and leaves no timer`() throws {
        try withProbe { app, view, log in
            let tap = TapGestureRecognizer()
            tap.addAction { [weak app] _ in app?.application.terminate() }
            view.addGestureRecognizer(tap)
            view.addGestureRecognizer(LongPressGestureRecognizer())
            app.pushTogether(PointerInput(.began, at: Point(1, 1)), PointerInput(.ended, at: Point(1, 1)))
            #expect(app.application.state == .notRunning)
            #expect(app.application.loop.detailedDescription().contains("timers = (none)"))
        }
    }

    @Test func `Suspending the program cancels all touches`() throws {
        try withProbe { app, view, log in
            let pan = view.add(PanGestureRecognizer(), "pan")
            pan.cancelsTouchesInView = false
            app.down(1)
            app.move(4)
            _ = log.take()
            app.send(.suspend)
            #expect(log.take() == ["view cancelled", "pan cancelled"])
            app.send(.resumed)
            app.tap(at: Point(1, 1))
            #expect(log.take() == ["view began", "view ended"])
        }
    }

    @Test func `A touch whose end was lost is cancelled when the finger touches again`() throws {
        try withProbe { app, view, log in
            view.add(TapGestureRecognizer(), "tap")
            app.down(1)
            app.tap(at: Point(9, 1))
            #expect(log.take() == ["view began", "view cancelled", "view began", "view cancelled", "tap ended"])
        }
    }
}
