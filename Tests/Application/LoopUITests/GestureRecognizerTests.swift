// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import RunLoopsTesting
import Testing

@testable import LoopUI

/// What each recogniser takes for its gesture.
@MainActor @Suite struct GestureRecognizerTests {
    /// Logs the actions of one recogniser on a view that fills the display.
    private func with<R: GestureRecognizer>(
        _ recognizer: R, _ body: (TestApplication, R, Log) throws -> Void
    ) throws {
        try withProbe { app, view, _ in
            let log = Log()
            recognizer.addAction { log.add("\($0.state)") }
            view.addGestureRecognizer(recognizer)
            try body(app, recognizer, log)
            app.advance(by: .seconds(2))
            #expect(recognizer.state == .possible)
            #expect(app.application.loop.detailedDescription().contains("timers = (none)"))
        }
    }

    // MARK: Tap

    @Test func `A tap may move by one cell and fails if it moves further`() throws {
        try with(TapGestureRecognizer()) { app, tap, log in
            app.down(5)
            app.up(6)
            #expect(log.take() == ["ended"])
            app.down(5)
            app.up(7)
            #expect(log.take() == [])
            app.down(5)
            app.move(8)
            app.up(5)
            #expect(log.take() == [])
        }
    }

    @Test func `A tap reports its location`() throws {
        try with(TapGestureRecognizer()) { app, tap, log in
            var place = Point.zero
            tap.addAction { place = $0.location(in: nil) }
            app.tap(at: Point(7, 3))
            #expect(place == Point(7, 3))
            #expect(log.take() == ["ended"])
        }
    }

    @Test func `A double tap is recognised if the second tap follows within the interval and near the first`() throws {
        let double = TapGestureRecognizer()
        double.numberOfTapsRequired = 2
        try with(double) { app, _, log in
            @MainActor func taps(after pause: Duration, at place: Point) -> [String] {
                app.tap(at: Point(5, 5))
                app.advance(by: pause)
                app.tap(at: place)
                app.advance(by: .seconds(1))
                return log.take()
            }
            #expect(taps(after: .milliseconds(300), at: Point(5, 5)) == ["ended"])
            #expect(taps(after: .milliseconds(360), at: Point(5, 5)) == [])
            #expect(taps(after: .milliseconds(100), at: Point(6, 5)) == ["ended"])
            #expect(taps(after: .milliseconds(100), at: Point(9, 5)) == [])
        }
    }

    @Test func `A triple tap is recognised after three taps and not after two`() throws {
        let triple = TapGestureRecognizer()
        triple.numberOfTapsRequired = 3
        try with(triple) { app, _, log in
            app.tap(at: Point(5, 5), count: 2)
            app.advance(by: .seconds(1))
            #expect(log.take() == [])
            app.tap(at: Point(5, 5), count: 3)
            #expect(log.take() == ["ended"])
        }
    }

    @Test func `A touch that is held too long is not counted as the first tap of a double tap`() throws {
        let double = TapGestureRecognizer()
        double.numberOfTapsRequired = 2
        try with(double) { app, double, log in
            app.down(5)
            app.advance(by: .milliseconds(350))
            #expect(double.state == .failed)
            app.up(5)
            app.tap(at: Point(5, 5))
            app.advance(by: .seconds(1))
            #expect(log.take() == [])
        }
    }

    @Test func `A tap of two fingers needs two fingers at once`() throws {
        let tap = TapGestureRecognizer()
        tap.numberOfTouchesRequired = 2
        try with(tap) { app, tap, log in
            app.tap(at: Point(5, 5), count: 2)
            #expect(log.take() == [])
            app.down(5)
            app.down(25, finger: 1)
            app.up(5)
            app.up(25, finger: 1)
            #expect(log.take() == ["ended"])
            for finger in 0..<3 { app.down(5 + 10 * Double(finger), finger: finger) }
            for finger in 0..<3 { app.up(5 + 10 * Double(finger), finger: finger) }
            #expect(log.take() == [])
        }
    }

    // MARK: Long press

    @Test func `A long press begins after half a second and not before`() throws {
        try with(LongPressGestureRecognizer()) { app, press, log in
            app.display.push(.pointer(PointerInput(.began, at: Point(5, 5))))
            app.advance(by: .nanoseconds(499_999_999))
            #expect(log.take() == [])
            app.advance(by: .nanoseconds(1))
            app.settle()
            #expect(log.take() == ["began"])
            app.move(30)
            app.up(30)
            #expect(log.take() == ["changed", "ended"])
        }
    }

    @Test func `A long press may move by a cell before it begins`() throws {
        try with(LongPressGestureRecognizer()) { app, press, log in
            #expect(press.minimumPressDuration == .milliseconds(500))
            app.down(5)
            app.move(6)
            app.advance(by: .milliseconds(500))
            #expect(log.take() == ["began"])
            app.up(6)
            #expect(log.take() == ["ended"])
            app.down(5)
            app.move(7)
            #expect(press.state == .failed)
            app.advance(by: .seconds(1))
            app.up(7)
            #expect(log.take() == [])
        }
    }

    @Test func `A long press has a timer only while a finger is down`() throws {
        try with(LongPressGestureRecognizer()) { app, press, log in
            let loop = app.application.loop
            #expect(loop.nextTimerDeadline(in: .default) == nil)
            app.down(5)
            #expect(loop.nextTimerDeadline(in: .default) != nil)
            #expect(loop.nextTimerDeadline(in: .tracking) != nil)
            app.up(5)
            #expect(loop.nextTimerDeadline(in: .default) == nil)
            #expect(log.take() == [])
        }
    }

    @Test func `A long press fails if another finger touches`() throws {
        try with(LongPressGestureRecognizer()) { app, press, log in
            app.down(5)
            app.down(15, finger: 1)
            app.advance(by: .seconds(1))
            app.up(5)
            app.up(15, finger: 1)
            #expect(log.take() == [])
        }
    }

    // MARK: Pan

    @Test func `A pan begins after one cell and its translation counts from the first touch`() throws {
        try with(PanGestureRecognizer()) { app, pan, log in
            app.down(5)
            app.move(5.5)
            #expect(pan.state == .possible)
            app.move(6)
            #expect(pan.translation(in: nil) == Point(1, 0))
            app.move(8, 7)
            #expect(pan.translation(in: nil) == Point(3, 2))
            pan.setTranslation(.zero, in: nil)
            app.move(9, 7)
            #expect(pan.translation(in: nil) == Point(1, 0))
            app.up(9, 7)
            #expect(log.take() == ["began", "changed", "changed", "ended"])
        }
    }

    @Test func `The defaults of recognisers are the documented values`() {
        #expect(LongPressGestureRecognizer().minimumPressDuration == .milliseconds(500))
        #expect(LongPressGestureRecognizer().allowableMovement == 1)
        #expect(TapGestureRecognizer().allowableMovement == 1)
        #expect(PanGestureRecognizer().threshold == 1)
    }

    @Test func `A pan's threshold can be set`() throws {
        let pan = PanGestureRecognizer()
        pan.threshold = 10
        try with(pan) { app, pan, log in
            app.down(5)
            app.move(14)
            #expect(pan.state == .possible)
            app.move(15)
            #expect(pan.state == .began)
            app.up(15)
            #expect(log.take() == ["began", "ended"])
        }
    }

    @Test func `A drag with only a first and a last point is a pan`() throws {
        try with(PanGestureRecognizer()) { app, pan, log in
            var way = Point.zero
            pan.addAction { way = $0.translation(in: nil) }
            app.down(5)
            app.up(9)
            #expect(log.take() == ["began", "ended"])
            #expect(way == Point(4, 0))
        }
    }

    @Test func `The velocity of a pan is measured over the last tenth of a second`() throws {
        try with(PanGestureRecognizer()) { app, pan, log in
            var velocity = Point.zero
            pan.addAction { velocity = $0.velocity(in: nil) }
            app.play(.drag(from: Point(0, 5), to: Point(60, 5), lasting: .milliseconds(300), steps: 30))
            #expect(abs(velocity.x - 200) < 10 && velocity.y == 0)
            // A finger that has rested throws nothing.
            app.down(0)
            app.move(20)
            app.advance(by: .milliseconds(150))
            app.up(20)
            #expect(velocity == .zero)
        }
    }

    @Test func `Moves that arrive at once do not give an excessive velocity`() {
        var tracker = VelocityTracker()
        let begin = RunLoop.Instant.now
        for column in 0...5 {
            tracker.add(Point(Double(column), 5), at: begin.advanced(by: .microseconds(10 * column)))
        }
        #expect(abs(tracker.velocity.x - 100) < 0.001 && tracker.velocity.y == 0)
    }

    @Test func `A pan's translation does not jump when fingers are added and lifted`() throws {
        let pan = PanGestureRecognizer()
        try with(pan) { app, pan, log in
            app.down(0)
            app.move(10)
            app.down(50, finger: 1)
            #expect(pan.translation(in: nil) == Point(10, 0))
            app.move(54, finger: 1)
            #expect(pan.translation(in: nil) == Point(12, 0))
            app.up(54, finger: 1)
            app.move(11)
            #expect(pan.translation(in: nil) == Point(13, 0))
            app.up(11)
            #expect(log.take().last == "ended")
        }
    }

    @Test func `A pan of two fingers begins with the second finger and ends when either is lifted`() throws {
        let pan = PanGestureRecognizer()
        pan.minimumNumberOfTouches = 2
        try with(pan) { app, pan, log in
            app.down(0)
            app.move(10)
            #expect(pan.state == .possible)
            app.down(50, finger: 1)
            app.move(54, finger: 1)
            #expect(log.take() == ["began"])
            app.up(54, finger: 1)
            #expect(log.take() == ["ended"])
            app.move(30)
            app.up(30)
            #expect(log.take() == [])
        }
    }

    // MARK: Swipe

    @Test(arguments: [
        (SwipeGestureRecognizer.Direction.right, Point(10, 0)), (.left, Point(-10, 0)), (.up, Point(0, -8)),
        (.down, Point(0, 8)),
    ])
    func `A swipe is recognised in its direction alone`(
        direction: SwipeGestureRecognizer.Direction, way: Point
    ) throws {
        for wanted in [SwipeGestureRecognizer.Direction.right, .left, .up, .down] {
            let swipe = SwipeGestureRecognizer()
            swipe.direction = wanted
            try with(swipe) { app, swipe, log in
                app.play(.drag(from: Point(40, 12), to: Point(40, 12) + way, lasting: .milliseconds(100)))
                #expect(log.take() == (wanted == direction ? ["ended"] : []))
            }
        }
    }

    @Test func `A slow or short swipe is not recognised`() throws {
        try with(SwipeGestureRecognizer()) { app, swipe, log in
            app.play(.drag(from: Point(1, 5), to: Point(11, 5), lasting: .seconds(5)))
            app.play(.drag(from: Point(1, 5), to: Point(3, 5), lasting: .milliseconds(50)))
            #expect(log.take() == [])
        }
    }

    // MARK: Pinch

    @Test func `A pinch scales by the distance of two fingers`() throws {
        try with(PinchGestureRecognizer()) { app, pinch, log in
            var (scale, velocity) = (0.0, 0.0)
            pinch.addAction { (scale, velocity) = ($0.scale, max(velocity, $0.velocity)) }
            app.play(.pinch(around: Point(40, 12), from: 10, to: 30, lasting: .seconds(1), steps: 50))
            #expect(scale == 3)
            #expect(abs(velocity - 2) < 0.3)
            let lines = log.take()
            #expect(lines.first == "began" && lines.last == "ended")
            app.play(.pinch(around: Point(40, 12), from: 20, to: 5))
            #expect(scale == 0.25)
        }
    }

    @Test func `Setting a pinch's scale restarts its measurement`() throws {
        try with(PinchGestureRecognizer()) { app, pinch, log in
            app.down(10)
            app.down(20, finger: 1)
            app.move(30, finger: 1)
            #expect(pinch.scale == 2)
            pinch.scale = 1
            app.move(50, finger: 1)
            #expect(pinch.scale == 2)
            app.up(50, finger: 1)
            app.up(10)
            #expect(log.take() == ["began", "changed", "ended"])
        }
    }

    @Test func `Two fingers in one cell do not make the scale infinite`() throws {
        try with(PinchGestureRecognizer()) { app, pinch, log in
            app.down(10)
            app.down(10, finger: 1)
            app.move(14, finger: 1)
            #expect(pinch.scale == 4)
            app.move(10, finger: 1)
            #expect(pinch.scale == 1)
            app.up(10, finger: 1)
            app.up(10)
        }
    }

    @Test func `A recogniser that waits for touches costs no wake-up`() throws {
        try withProbe { app, view, _ in
            for recognizer in [
                TapGestureRecognizer(), LongPressGestureRecognizer(), PanGestureRecognizer(),
                SwipeGestureRecognizer(), PinchGestureRecognizer(),
            ] as [GestureRecognizer] { view.addGestureRecognizer(recognizer) }
            app.tap(at: Point(3, 3))
            app.advance(by: .seconds(1))
            let waits = app.manual.waits
            app.advance(by: .seconds(3600))
            // The one sleep that the end of the hour ends.
            #expect(app.manual.waits - waits == 1)
        }
    }

    @Test func `A resting finger whose gesture is still possible costs no wake-up`() throws {
        try withProbe { app, view, log in
            for recognizer in [
                TapGestureRecognizer(), PanGestureRecognizer(), SwipeGestureRecognizer(), PinchGestureRecognizer(),
            ] as [GestureRecognizer] { view.addGestureRecognizer(recognizer) }
            app.down(3)
            app.advance(by: .seconds(1))
            let waits = app.manual.waits
            app.advance(by: .seconds(3600))
            #expect(app.manual.waits - waits == 1)
            app.up(3)
            #expect(log.take() == ["view began", "view cancelled"])
        }
    }
}
