// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import Testing

@testable import LoopUI

/// What the content does when the finger has left it.
@MainActor @Suite struct ScrollMotionTests {
    @Test(arguments: [(ScrollView.DecelerationRate.normal, 0.998), (.fast, 0.99)])
    func `The velocity of a deceleration is multiplied by the rate each millisecond`(
        rate: ScrollView.DecelerationRate, part: Double
    ) {
        #expect(rate.rawValue == part)
        let motion = Deceleration(from: Point(0, 5), velocity: Point(0, 0.1), rate: part)
        // The way of one millisecond against the way of the millisecond before: the rate itself.
        for time in stride(from: 1.0, to: 2000, by: 100) {
            let before = motion.offset(after: time).y - motion.offset(after: time - 1).y
            let after = motion.offset(after: time + 1).y - motion.offset(after: time).y
            #expect(abs(after / before - part) < 1e-5)
        }
        #expect(abs((motion.offset(after: 0.001).y - 5) / 0.001 - 0.1) < 1e-6)
        // The sum of v₀·rateᵗ over all time.
        let sum = (0..<200_000).reduce(0.0) { sum, step in sum + 0.1 * exponent(part, Double(step) / 10) / 10 }
        #expect(abs(motion.target.y - 5 - sum) < 0.01)
    }

    private func exponent(_ base: Double, _ power: Double) -> Double {
        Deceleration(from: .zero, velocity: .zero, rate: base).part(after: power)
    }

    @Test func `A fling continues after the touch and ends where the deceleration rate determines`() throws {
        try ScrollFixture.with { f in
            f.fling()
            #expect(f.scroll.isDecelerating)
            let velocity = f.log.velocity.y
            #expect(abs(velocity - 0.04) < 0.005)
            let expected = Deceleration(from: Point(0, 6), velocity: Point(0, velocity), rate: 0.998).target.y
            var last = f.y
            while f.scroll.isDecelerating {
                f.app.advance(by: .milliseconds(10))
                #expect(f.y >= last)
                last = f.y
            }
            #expect(f.y == expected.rounded())
            #expect(
                f.log.entries == [
                    "will begin dragging", "will end dragging", "did end dragging, goes on",
                    "will begin decelerating", "did end decelerating",
                ])
            #expect(f.app.application.modes.current == .default)
            #expect(f.app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `A fast deceleration rate stops the content sooner`() throws {
        var ways: [Double] = []
        for rate in [ScrollView.DecelerationRate.normal, .fast] {
            try ScrollFixture.with { f in
                f.scroll.decelerationRate = rate
                f.fling()
                f.app.advance(by: .seconds(10))
                ways.append(f.y - 6)
            }
        }
        // −1/ln 0.998 against −1/ln 0.99 milliseconds' worth of the velocity.
        #expect(abs(ways[0] / ways[1] - 5) < 0.6)
    }

    @Test func `The delegate can change the place where the content stops`() throws {
        try ScrollFixture.with { f in
            f.log.target = Point(0, 50)
            f.fling()
            f.app.advance(by: .seconds(10))
            #expect(f.y == 50)
        }
    }

    @Test func `A fling ends at the edge of the content`() throws {
        try ScrollFixture.with { f in
            f.scroll.contentSize.height = 20
            f.fling()
            f.app.advance(by: .milliseconds(300))
            #expect(f.y == 10 && !f.scroll.isDecelerating)
            #expect(f.app.application.modes.current == .default)
            // At the edge itself nothing goes on.
            f.fling()
            #expect(!f.scroll.isDecelerating)
            #expect(f.log.entries.last == "did end dragging, rests")
        }
    }

    @Test func `With reduced motion a fling does not decelerate`() throws {
        try ScrollFixture.with { f in
            f.app.display.abilities.reducesMotion = true
            f.fling()
            #expect(f.y == 6 && !f.scroll.isDecelerating)
            #expect(f.log.entries.last == "did end dragging, rests")
            #expect(f.app.application.modes.current == .default)
        }
    }

    @Test func `A touch that stops a deceleration is neither delivered to the content nor a tap`() throws {
        try ScrollFixture.with { f in
            var taps = 0
            f.lines.addGestureRecognizer(TapGestureRecognizer { _ in taps += 1 })
            f.fling()
            f.app.advance(by: .milliseconds(200))
            f.app.send(.pointer(PointerInput(.began, at: Point(5, 5))))
            let place = f.y
            #expect(place > 6 && !f.scroll.isDecelerating)
            #expect(f.log.entries.last == "did end decelerating")
            f.app.advance(by: .seconds(1))
            f.app.send(.pointer(PointerInput(.ended, at: Point(5, 5))))
            #expect(f.y == place && f.lines.log.isEmpty && taps == 0)
            // The next touch is a tap again.
            f.app.tap(at: Point(5, 5))
            #expect(taps == 1)
            // And a drag can begin with the touch that stops.
            f.fling()
            f.app.advance(by: .milliseconds(100))
            let before = f.y
            f.drag(by: 3)
            #expect(f.y > before)
            #expect(f.log.entries.last == "did end dragging, rests")
        }
    }

    @Test func `The wheel, contentOffset and stopScrolling end a deceleration`() throws {
        try ScrollFixture.with { f in
            f.fling()
            f.app.send(.wheel(WheelInput(Point(0, 1), at: Point(5, 5))))
            #expect(!f.scroll.isDecelerating)
            f.fling()
            f.scroll.contentOffset = Point(0, 77)
            #expect(!f.scroll.isDecelerating)
            f.fling()
            f.scroll.stopScrolling()
            #expect(!f.scroll.isDecelerating)
            #expect(f.log.entries.filter { $0 == "did end decelerating" }.count == 3)
            f.app.settle()
            #expect(f.app.application.modes.current == .default)
        }
    }

    @Test func `A scroll view removed from its window during a drag leaves the tracking mode`() throws {
        try ScrollFixture.with { f in
            f.app.send(.pointer(PointerInput(.began, at: Point(5, 8))))
            f.app.send(.pointer(PointerInput(.moved, at: Point(5, 5))))
            #expect(f.app.application.modes.current == .tracking)
            let window = f.scroll.window
            f.app.show(View())
            window?.rootViewController = nil
            f.app.settle()
            #expect(!f.scroll.isDragging && f.app.application.modes.current == .default)
            f.app.send(.pointer(PointerInput(.ended, at: Point(5, 5))))
            #expect(f.app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `A scroll view released during a deceleration leaves the tracking mode`() throws {
        try TestApplication.with { app in
            var scroll: ScrollView? = ScrollView(frame: Rect(0, 0, 20, 10))
            scroll?.contentSize = Size(20, 100)
            var window: Window? = Window()
            window?.addSubview(scroll!)
            window?.makeKeyAndVisible()
            app.settle()
            app.play(.drag(from: Point(5, 8), to: Point(5, 2), lasting: .milliseconds(100)))
            #expect(scroll?.isDecelerating == true)
            window?.close()
            weak let seen = scroll
            (scroll, window) = (nil, nil)
            app.advance(by: .milliseconds(500))
            #expect(seen == nil)
            #expect(app.application.modes.current == .default)
            #expect(app.wakeUpsWhenIdle == 0)
        }
    }
}

/// The values that a delegate receives, against the values that are used.
@MainActor @Suite struct ScrollTargetTests {
    @MainActor private final class Targets: ScrollViewDelegate {
        var told: Point?
        var change: (Point) -> Point = { $0 }
        func scrollViewWillEndDragging(_ scrollView: ScrollView, velocity: Point, target: inout Point) {
            told = target
            target = change(target)
        }
    }

    @Test(arguments: [11.0, 13, 18, 18.4, 25, 60, 200], [ScrollView.DecelerationRate.normal, .fast])
    func `The target that the delegate receives is the offset at which the content rests`(
        height: Double, rate: ScrollView.DecelerationRate
    ) throws {
        for inset in [0.0, 3] {
            for (from, to) in [(8.0, 2.0), (1, 7)] {
                for milliseconds in [40, 150, 600] {
                    try ScrollFixture.with { f in
                        let targets = Targets()
                        f.scroll.delegate = targets
                        f.scroll.decelerationRate = rate
                        f.scroll.contentInset.bottom = inset
                        f.scroll.contentSize.height = height
                        f.scroll.contentOffset.y = height / 3
                        f.app.settle()
                        f.app.play(
                            .drag(from: Point(5, from), to: Point(5, to), lasting: .milliseconds(milliseconds)))
                        f.app.advance(by: .seconds(10))
                        let told = try #require(targets.told)
                        #expect(f.scroll.contentOffset == told)
                        #expect(f.app.application.modes.current == .default)
                    }
                }
            }
        }
    }

    @Test(arguments: [nil, 30.0])
    func `With reduced motion the content rests at once at the target that the delegate returns`(wanted: Double?) throws
    {
        try ScrollFixture.with { f in
            let targets = Targets()
            f.scroll.delegate = targets
            f.app.display.abilities.reducesMotion = true
            if let wanted { targets.change = { Point($0.x, wanted) } }
            f.scroll.contentOffset.y = 50
            f.app.settle()
            f.fling()
            #expect(f.y == wanted ?? targets.told?.y)
            f.app.advance(by: .seconds(10))
            #expect(f.y == wanted ?? targets.told?.y)
        }
    }

    @Test(arguments: [-50.0, 3.4, 20, 1e9])
    func `A target that the delegate sets is limited to the content and rounded`(wanted: Double) throws {
        try ScrollFixture.with { f in
            let targets = Targets()
            f.scroll.delegate = targets
            targets.change = { Point($0.x, wanted) }
            f.scroll.contentOffset.y = 50
            f.app.settle()
            f.fling()
            f.app.advance(by: .seconds(60))
            #expect(f.y == min(190, max(0, wanted.rounded())))
        }
    }
}
