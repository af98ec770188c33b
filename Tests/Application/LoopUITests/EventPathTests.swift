// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import RunLoopsKit
import RunLoopsTesting
import Testing

@testable import LoopUI

#if canImport(Runtime)
import Runtime
#endif

/// The controller of the write-ups: the breakpoint stands in its touchesBegan.
@MainActor private final class BreakpointController: ViewController {
    private(set) var names: [String] = []

    override func touchesBegan(_ touches: Set<Touch>, with event: Event?) {
        #if canImport(Runtime)
        let trace = try? Backtrace.capture(limit: nil).symbolicated(options: [])
        names = (trace?.frames ?? []).compactMap { $0.symbol?.name }
        #endif
    }
}

/// From the device's input to the methods of views, and to the actions of gestures.
@MainActor @Suite struct EventPathTests {
    #if canImport(Runtime) && DEBUG
    /// The frames of [004], from the innermost: -[ViewController touchesBegan:], -[UIResponder touchesBegan:],
    /// -[UIWindow _sendTouchesForEvent:], -[UIWindow sendEvent:], -[UIApplication sendEvent:], __dispatchPreprocessedEventFromEventQueue,
    /// __handleEventQueueInternal, CALLING_OUT_TO_A_SOURCE0_PERFORM_FUNCTION, __CFRunLoopDoSources0, __CFRunLoopRun,
    /// CFRunLoopRunSpecific, GSEventRunModal.
    ///
    /// An optimised build inlines some of them.
    @Test func `A backtrace in touchesBegan shows the functions of the event path in their documented order`() throws {
        try TestApplication.with { app in
            let controller = BreakpointController()
            app.show(controller)
            app.tap(at: Point(3, 3))
            var rest = controller.names[...]
            for name in [
                "BreakpointController.touchesBegan(", "Responder.touchesBegan(", "GestureArbiter.deliver(",
                "Window.sendEvent(",
                "Application.sendEvent(", "Application.handle(", "Application.handleEventQueue(",
                "RUNLOOP_IS_CALLING_OUT_TO_A_SOURCE(", "RunLoop.performSources(", "RunLoop.turn(", "RunLoop.run(",
                "Application.run(",
            ] {
                let index = rest.firstIndex { $0.hasPrefix(name) }
                #expect(index != nil, "\(name) is not where it should be in \(controller.names.prefix(30))")
                if let index { rest = rest[(index + 1)...] }
            }
        }
    }
    #endif

    @Test func `One turn delivers the touch, the gesture, layout, the frame and then afterCommit`() throws {
        final class LayingOut: ProbeView {
            override func layoutSubviews() { log.add("layout") }
            override func draw(in canvas: inout Canvas) { log.add("draw") }
        }
        try TestApplication.with { app in
            let log = Log()
            let view = LayingOut(log)
            let tap = TapGestureRecognizer()
            view.addGestureRecognizer(tap)
            app.show(view)
            app.advance(by: .seconds(1))
            _ = log.take()
            tap.addAction { _ in
                log.add("action in \(String(describing: app.application.loop.currentMode))")
                view.setNeedsLayout()
                view.setNeedsDisplay()
                app.application.commit.afterCommit { log.add("after commit") }
            }
            let frames = app.display.frameCount
            let waits = app.manual.waits
            app.display.push(.pointer(PointerInput(.began, at: Point(1, 1))))
            app.display.push(.pointer(PointerInput(.ended, at: Point(1, 1))))
            app.advance(by: .nanoseconds(1))
            #expect(
                log.take() == [
                    "view began", "view cancelled", "action in Optional(kCFRunLoopDefaultMode)", "layout", "draw",
                    "after commit",
                ])
            #expect(app.display.frameCount == frames + 1)
            #expect(app.manual.waits - waits == 1)
        }
    }

    @Test func `A second touch sequence in one read is delivered after the gestures of the first are decided`() throws {
        try withProbe { app, view, log in
            view.add(TapGestureRecognizer(), "tap")
            let polls = app.manual.polls
            app.pushTogether(
                PointerInput(.began, at: Point(1, 1)), PointerInput(.ended, at: Point(1, 1)),
                PointerInput(.began, at: Point(9, 1)), PointerInput(.ended, at: Point(9, 1)),
                PointerInput(.began, at: Point(1, 9)), PointerInput(.ended, at: Point(1, 9)))
            let one = ["view began", "view cancelled", "tap ended"]
            #expect(log.take() == one + one + one)
            // It waits by sleeping and being woken, and not by turning.
            #expect(app.manual.polls - polls < 10)
        }
    }

    @Test func `Input after a touch sequence that has to wait is delivered in order`() throws {
        final class Typing: ProbeView {
            override func pressesBegan(_ presses: Set<Press>, with event: Event?) { log.add("key") }
        }
        try TestApplication.with { app in
            let log = Log()
            let view = Typing(log)
            view.add(TapGestureRecognizer(), "tap")
            app.show(view)
            for phase in [PointerInput.Phase.began, .ended, .began] {
                app.display.push(.pointer(PointerInput(phase, at: Point(1, 1))))
            }
            app.display.push(.key(KeyInput(.enter)))
            app.display.push(.pointer(PointerInput(.ended, at: Point(1, 1))))
            app.settle()
            #expect(
                log.take() == [
                    "view began", "view cancelled", "tap ended", "view began", "key", "view cancelled", "tap ended",
                ])
        }
    }

    @Test func `A hundred thousand moves in a second cause at most one change per turn, and the last place is exact`()
        throws
    {
        try withProbe { app, view, log in
            let pan = PanGestureRecognizer()
            var (changes, way) = (0, Point.zero)
            pan.addAction { _ in
                if pan.state == .changed { changes += 1 }
                way = pan.translation(in: nil)
                view.setNeedsDisplay()
            }
            view.addGestureRecognizer(pan)
            app.down(0)
            let frames = app.display.frameCount
            for turn in 0..<1_000 {
                for step in 1...100 {
                    let place = Point(Double((turn * 100 + step) % 79), 5)
                    app.display.push(.pointer(PointerInput(.moved, at: place)))
                }
                app.advance(by: .milliseconds(1))
            }
            #expect(changes <= 1_000)
            #expect(app.display.frameCount - frames <= 61)
            #expect(way == Point(Double(100_000 % 79), 0))
            app.up(Double(100_000 % 79))
            #expect(pan.state == .possible)
        }
    }

    @Test func `tapCount counts taps that are near each other in place and time`() throws {
        try withProbe { app, view, log in
            var counts: [Int] = []
            view.whenTouched = { if $0.phase == .began { counts.append($0.tapCount) } }
            app.tap(at: Point(5, 5), count: 3)
            app.tap(at: Point(20, 5))
            app.advance(by: .milliseconds(400))
            app.tap(at: Point(20, 5))
            #expect(counts == [1, 2, 3, 1, 1])
        }
    }

    @Test func `A touch is one object from beginning to end and has its present and its previous location`() throws {
        try withProbe { app, view, log in
            var lines: [String] = []
            var touches: Set<Touch> = []
            view.whenTouched = {
                touches.insert($0)
                lines.append("\($0.phase) \($0.previousLocation(in: view).x) \($0.location(in: view).x)")
            }
            app.down(3)
            app.move(5)
            app.move(9)
            app.up(10)
            #expect(lines == ["began 3.0 3.0", "moved 3.0 5.0", "moved 5.0 9.0", "ended 9.0 10.0"])
            #expect(touches.count == 1)
        }
    }

    @Test func `The release pool holds the objects of one turn and releases them before the sleep`() throws {
        final class Held {
            let whenReleased: () -> Void
            init(_ whenReleased: @escaping () -> Void) { self.whenReleased = whenReleased }
            deinit { whenReleased() }
        }
        try withProbe { app, view, log in
            var alive = 0
            let commit = app.application.commit
            view.whenTouched = { _ in
                for _ in 0..<3 {
                    alive += 1
                    RunLoop.ReleasePool.hold(Held { alive -= 1 })
                }
                commit.prepare { log.add("\(alive) at the commit") }
            }
            for _ in 0..<2 {
                app.display.push(.pointer(PointerInput(.began, at: Point(1, 1))))
                app.display.push(.pointer(PointerInput(.cancelled, at: Point(1, 1))))
                // Before the commit as well, since frames that follow each other wait for their time.
                app.advance(by: .seconds(1))
                #expect(log.take() == ["view began", "view cancelled", "6 at the commit", "6 at the commit"])
                #expect(alive == 0)
            }
        }
    }
}
