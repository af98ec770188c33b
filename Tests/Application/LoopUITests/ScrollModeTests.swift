// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import RunLoopsKit
import RunLoopsTesting
import Testing

@testable import LoopUI

/// What the loop does while the user scrolls.
@MainActor @Suite struct ScrollModeTests {
    /// Has timers play a script, so that the application runs without a break, as a program does.
    private func schedule(_ script: TouchScript, in app: TestApplication, after delay: Duration = .zero) {
        var time = delay
        for step in script.steps {
            time += step.delay
            let timer = RunLoop.Timer(.after(time)) { [display = app.display] _ in display.push(.pointer(step.input)) }
            app.application.loop.add(timer, in: .common)
        }
    }

    /// Back and forth for three seconds, with a rest before the finger goes up.
    private var threeSeconds: TouchScript {
        var script = TouchScript()
        script.add(.began, at: Point(5, 8))
        for step in 1...30 {
            script.add(.moved, at: Point(5, step % 10 < 5 ? 8 - Double(step % 5) : 4), after: .milliseconds(100))
        }
        script.add(.ended, at: Point(5, 8), after: .milliseconds(200))
        return script
    }

    @Test func `A drag leaves the default mode, and the end of the drag returns to it`() throws {
        try ScrollFixture.with { f in
            var log: [String] = []
            let loop = f.app.application.loop
            let observer = RunLoop.Observer([.entry, .exit]) { _, activity in
                log.append(
                    "\(activity == .entry ? "entry" : "exit") \(loop.currentMode == .default ? "default" : "tracking")")
            }
            for mode in [RunLoop.Mode.default, .tracking] { loop.add(observer, in: mode) }
            schedule(.drag(from: Point(5, 8), to: Point(5, 2), lasting: .milliseconds(150)), in: f.app)
            f.app.advance(by: .seconds(10))
            #expect(
                log == [
                    "entry default", "exit default", "entry tracking", "exit tracking", "entry default", "exit default",
                ])
            #expect(f.y > 20)
        }
    }

    @Test func `During a drag a timer in the default mode does not fire, and a timer in the common modes does`() throws
    {
        try ScrollFixture.with { f in
            var ticks = (default: 0, common: 0)
            let loop = f.app.application.loop
            loop.add(RunLoop.Timer(.every(.milliseconds(100))) { _ in ticks.default += 1 }, in: .default)
            loop.add(RunLoop.Timer(.every(.milliseconds(100))) { _ in ticks.common += 1 }, in: .common)
            f.app.advance(by: .seconds(1))
            #expect(ticks == (10, 10))
            f.app.send(.pointer(PointerInput(.began, at: Point(5, 8))))
            f.app.send(.pointer(PointerInput(.moved, at: Point(5, 6))))
            ticks = (0, 0)
            f.app.advance(by: .seconds(3))
            #expect(ticks == (0, 30))
            f.app.send(.pointer(PointerInput(.ended, at: Point(5, 6))))
            ticks = (0, 0)
            f.app.advance(by: .seconds(1))
            #expect(f.scroll.isDecelerating == false)
            // The stuck timer makes up for nothing: one tick that is late, and then its old rhythm.
            #expect((9...11).contains(ticks.default) && (9...10).contains(ticks.common))
        }
    }

    @Test func `Pictures loaded during a drag are shown after the drag`() throws {
        try ScrollFixture.with { f in
            let images = [0.0, 1, 2, 3, 4].map { ImageView(frame: Rect(0, $0, 4, 1)) }
            let pixel = Picture(width: 1, height: 1, bytes: [255, 0, 0, 255])
            for image in images {
                image.loader = { $0() }
                f.scroll.addSubview(image)
            }
            schedule(threeSeconds, in: f.app)
            var seen: [Int] = []
            let loop = f.app.application.loop
            for (index, image) in images.enumerated() {
                // One load each half second, on whatever mode runs.
                let start = RunLoop.Timer(.after(.milliseconds(500 * (index + 1)))) { _ in image.load { pixel } }
                loop.add(start, in: .common)
            }
            let probe = RunLoop.Timer(.after(.milliseconds(110), every: .milliseconds(50))) { _ in
                if f.scroll.isDragging { seen.append(images.filter { $0.picture != nil }.count) }
            }
            loop.add(probe, in: .common)
            f.app.advance(by: .milliseconds(3100))
            #expect(f.scroll.isDragging && seen.count >= 58 && seen.allSatisfy { $0 == 0 })
            #expect(images.allSatisfy { $0.isLoading })
            f.app.advance(by: .seconds(10))
            probe.invalidate()
            #expect(images.allSatisfy { $0.picture == pixel })
            #expect(f.app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `The display link of a deceleration delivers or skips each frame that is due`() throws {
        try ScrollFixture.with { f in
            f.scroll.contentSize.height = 10_000
            f.fling(by: 8, lasting: .milliseconds(40))
            let link = try #require(f.scroll.motion?.link)
            let start = f.app.manual.now
            let busy = RunLoop.Timer(.after(.milliseconds(100), every: .milliseconds(250))) { _ in
                // The thread is busy for three frames and a half.
                _ = f.app.manual.advance(by: .microseconds(58_333), in: "nothing happens")
            }
            f.app.application.loop.add(busy, in: .tracking)
            f.app.advance(by: .seconds(1))
            let due = Double(start.duration(to: f.app.manual.now) / .nanoseconds(1)) * 60 / 1e9
            #expect(f.scroll.isDecelerating && link.skipped >= 8)
            #expect(abs(Double(link.delivered + link.skipped) - due) <= 1)
            busy.invalidate()
            f.app.advance(by: .seconds(10))
            #expect(!f.scroll.isDecelerating)
            // The place of rest does not depend on the frames that were skipped.
            let rest = Deceleration(from: Point(0, 8), velocity: f.log.velocity, rate: 0.998).target.y
            #expect(f.y == rest.rounded())
        }
    }

    @Test func `Each frame of a deceleration costs one wake-up`() throws {
        try ScrollFixture.with { f in
            f.scroll.contentSize.height = 10_000
            f.fling(by: 8, lasting: .milliseconds(40))
            let link = try #require(f.scroll.motion?.link)
            let (delivered, sleeps, frames) = (link.delivered, f.app.manual.sleeps, f.app.display.frameCount)
            f.app.advance(by: .seconds(1))
            #expect(link.delivered - delivered == 60 && f.scroll.isDecelerating)
            // The last sleep ends with the second.
            #expect(f.app.manual.sleeps - sleeps <= 61)
            #expect((45...60).contains(f.app.display.frameCount - frames))
        }
    }

    @Test func `The tracking mode lasts from the first movement until the content rests`() throws {
        try ScrollFixture.with { f in
            let modes = f.app.application.modes
            f.app.send(.pointer(PointerInput(.began, at: Point(5, 8))))
            #expect(f.scroll.isTracking && modes.current == .default)
            for y in [7.0, 5, 2] {
                f.app.send(.pointer(PointerInput(.moved, at: Point(5, y))))
                #expect(f.scroll.isDragging && modes.current == .tracking)
            }
            f.app.send(.pointer(PointerInput(.ended, at: Point(5, 2))))
            var frames = 0
            while f.scroll.isDecelerating, frames < 1_000 {
                #expect(modes.current == .tracking)
                f.app.settle()
                frames += 1
            }
            #expect(frames > 20 && modes.current == .default && !f.scroll.isTracking)
        }
    }
}
