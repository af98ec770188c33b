// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import RunLoopsTesting
import Testing

@testable import LoopUI

/// A screen with 50 frames a second of the test's clock: it reports the frame after the last one, or the present one.
@MainActor final class FakeScreen {
    static let period = Duration.milliseconds(20)

    let app: TestApplication
    /// Whether it reports nothing, as a screen that is off.
    var isSilent = false
    /// Whether it takes requests at all.
    var takesRequests = true
    private(set) var requests = 0
    private var last: Int?

    init(_ app: TestApplication) {
        self.app = app
        app.display.frameRequestHandler = { [weak self] in self?.request() ?? false }
    }

    var frames: ScreenFrames { app.application.screenFrames }
    var missed: Int { app.application.commit.counts.missedFrames }

    private func request() -> Bool {
        requests += 1
        if !takesRequests { return false }
        if isSilent { return true }
        let present = Int(RunLoop.Instant(nanoseconds: 0).duration(to: app.manual.now) / Self.period)
        let number = max(present, (last ?? -1) + 1)
        let start = RunLoop.Instant(nanoseconds: 0).advanced(by: Self.period * number)
        let timer = RunLoop.Timer(.at(start), label: "screen") { [weak self] _ in
            self?.last = number
            self?.app.display.screenFrameBegan(at: start, number: number)
        }
        app.application.loop.add(timer, in: .common)
        return true
    }

    /// Has the thread be busy once, after a while.
    func beBusy(for duration: Duration, after delay: Duration) {
        let timer = RunLoop.Timer(.after(delay)) { [app] _ in
            _ = app.manual.advance(by: duration, in: "nothing happens")
        }
        app.application.loop.add(timer, in: .common)
    }
}

@MainActor private struct Fixture {
    let app: TestApplication
    let screen: FakeScreen
    let block = View(frame: Rect(0, 0, 2, 1))

    static func with(_ body: (Fixture) throws -> Void) throws {
        try TestApplication.with(size: Size(40, 4)) { app in
            let fixture = Fixture(app: app, screen: FakeScreen(app))
            app.show(all: fixture.block)
            app.advance(by: .seconds(1))
            try body(fixture)
        }
    }

    func animate(_ duration: Duration, completion: @escaping (Bool) -> Void = { _ in }) {
        View.animate(
            withDuration: duration, animations: { block.frame.origin.x = block.frame.origin.x == 0 ? 30 : 0 },
            completion: completion)
    }

    /// A link that notes when its frames began.
    func link(_ modes: [RunLoop.Mode] = [.common]) -> (FrameLink, Times) {
        let times = Times()
        return (FrameLink(screen.frames, in: modes) { times.all.append($0.time) }, times)
    }

    final class Times {
        var all: [RunLoop.Instant] = []
    }
}

@MainActor @Suite struct ScreenFrameTests {
    @Test func `An animation is driven by the frames that the screen reports`() throws {
        try Fixture.with { f in
            var ends: [Bool] = []
            f.animate(.seconds(1)) { ends.append($0) }
            f.app.advance(by: .milliseconds(500))
            #expect(f.screen.frames.isInStep && ends.isEmpty)
            #expect(abs(f.block.shownFrame.origin.x - 15) < 1.5)
            f.app.advance(by: .milliseconds(560))
            #expect(ends == [true])
            #expect((49...52).contains(f.screen.frames.delivered) && f.screen.missed == 0)
        }
    }

    @Test func `No frame is requested from the screen while nothing moves`() throws {
        try Fixture.with { f in
            #expect(f.screen.requests == 0)
            f.animate(.milliseconds(200))
            f.app.advance(by: .milliseconds(300))
            let requests = f.screen.requests
            #expect(requests > 8)
            #expect(f.app.wakeUpsWhenIdle == 0)
            #expect(f.screen.requests == requests)
        }
    }

    @Test func `Each frame of the screen costs one wake-up`() throws {
        try Fixture.with { f in
            let (link, times) = f.link()
            f.app.advance(by: .milliseconds(100))
            let (calls, sleeps) = (times.all.count, f.app.manual.sleeps)
            f.app.advance(by: .seconds(1))
            #expect(times.all.count - calls == 50)
            // The last sleep ends with the second.
            #expect(f.app.manual.sleeps - sleeps <= 51)
            withExtendedLifetime(link) {}
        }
    }

    @Test func `Frames missed while the thread is busy are counted, and the link stays in step with the screen`() throws
    {
        try Fixture.with { f in
            let (link, times) = f.link()
            f.app.advance(by: .milliseconds(100))
            let calls = times.all.count
            // Longer than a silent screen is waited for.
            f.screen.beBusy(for: .milliseconds(305), after: .milliseconds(190))
            f.app.advance(by: .seconds(1))
            #expect(f.screen.missed >= 13 && times.all.count - calls + f.screen.missed == 50)
            #expect(f.screen.frames.isInStep && link.grid == nil)
            #expect(zip(times.all, times.all.dropFirst()).allSatisfy { $0 < $1 })
        }
    }

    @Test func `Frames that pass while nothing moves are not counted as missed`() throws {
        try Fixture.with { f in
            f.animate(.milliseconds(100))
            f.app.advance(by: .seconds(3))
            f.animate(.milliseconds(100))
            f.app.advance(by: .seconds(1))
            #expect(f.screen.missed == 0 && f.screen.frames.isInStep)
        }
    }

    @Test func `Two links share the requested frames, and each is called only for frames after its creation`() throws {
        try Fixture.with { f in
            let (first, firstTimes) = f.link()
            f.app.advance(by: .milliseconds(95))
            let start = f.app.manual.now
            let (second, secondTimes) = f.link()
            let (calls, requests) = (firstTimes.all.count, f.screen.requests)
            f.app.advance(by: .seconds(1))
            #expect(secondTimes.all.count == 50 && firstTimes.all.count - calls == 50)
            #expect(secondTimes.all.allSatisfy { $0 > start })
            #expect((49...51).contains(f.screen.requests - requests))
            withExtendedLifetime((first, second)) {}
        }
    }

    @Test func `A link in the tracking mode is called in each run of that mode and in no other mode`() throws {
        try Fixture.with { f in
            let modes = f.app.application.modes
            let (link, times) = f.link([.tracking])
            f.app.advance(by: .milliseconds(50))
            var requests = f.screen.requests
            for round in 1...3 {
                let sleeps = f.app.manual.sleeps
                f.app.advance(by: .seconds(1))
                #expect(f.app.manual.sleeps - sleeps == 1, "another mode wakes up for the link")
                #expect(f.screen.requests == requests)
                modes.push(.tracking)
                let calls = times.all.count
                f.app.advance(by: .seconds(1))
                // The present frame comes at once.
                #expect((49...51).contains(times.all.count - calls), "round \(round)")
                #expect(link.grid == nil)
                modes.pop(.tracking)
                f.app.advance(by: .milliseconds(50))
                requests = f.screen.requests
            }
        }
    }

    @Test func `A deceleration follows the screen's frames and ends at the place computed for it`() throws {
        try ScrollFixture.with { f in
            let screen = FakeScreen(f.app)
            f.fling()
            let rest = Deceleration(from: Point(0, 6), velocity: f.log.velocity, rate: 0.998).target.y
            f.app.advance(by: .milliseconds(300))
            #expect(f.scroll.isDecelerating && screen.frames.isInStep && f.scroll.motion?.link == nil)
            #expect(screen.frames.delivered >= 14)
            f.app.advance(by: .seconds(10))
            #expect(!f.scroll.isDecelerating && f.y == rest.rounded())
            #expect(f.app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `An animation ends on time even if the screen stops reporting frames`() throws {
        try Fixture.with { f in
            var end: RunLoop.Instant?
            let start = f.app.manual.now
            f.animate(.seconds(1)) { _ in end = f.app.manual.now }
            f.app.advance(by: .milliseconds(300))
            #expect(f.screen.frames.isInStep)
            f.screen.isSilent = true
            f.app.advance(by: .milliseconds(300))
            #expect(!f.screen.frames.isInStep)
            f.app.advance(by: .seconds(2))
            let lasted = try start.duration(to: #require(end))
            #expect(lasted < .milliseconds(1050))
            #expect(f.app.wakeUpsWhenIdle == 0)
            // The next one waits for the screen, and takes the grid again.
            end = nil
            f.animate(.seconds(1)) { _ in end = f.app.manual.now }
            f.app.advance(by: .milliseconds(1100))
            #expect(end != nil && f.screen.missed == 0)
        }
    }

    @Test func `A link follows the screen again after the screen resumes its reports`() throws {
        try Fixture.with { f in
            let (link, times) = f.link()
            f.screen.isSilent = true
            f.app.advance(by: .milliseconds(500))
            #expect(link.grid != nil && !f.screen.frames.isInStep)
            f.screen.isSilent = false
            f.app.advance(by: FrameLink.retry + .milliseconds(100))
            #expect(link.grid == nil && f.screen.frames.isInStep)
            let calls = times.all.count
            f.app.advance(by: .seconds(1))
            #expect(times.all.count - calls == 50 && f.screen.missed == 0)
        }
    }

    @Test func `A link uses its own grid of 60 frames a second once the display refuses requests`() throws {
        try Fixture.with { f in
            let (link, times) = f.link()
            f.app.advance(by: .milliseconds(200))
            f.screen.takesRequests = false
            f.app.advance(by: .milliseconds(100))
            #expect(link.grid != nil)
            let calls = times.all.count
            f.app.advance(by: .seconds(1))
            #expect((59...61).contains(times.all.count - calls))
        }
    }

    @Test func `A released link is not called again and leaves no timer`() throws {
        try Fixture.with { f in
            var made: (link: FrameLink, times: Fixture.Times)? = f.link()
            f.app.advance(by: .milliseconds(200))
            let times = try #require(made?.times)
            made = nil
            let calls = times.all.count
            #expect(f.app.wakeUpsWhenIdle == 0 && times.all.count == calls)
        }
    }

    @Test func `A frame reported without a request or after the application's end is ignored`() throws {
        try Fixture.with { f in
            f.app.display.screenFrameBegan(at: f.app.manual.now, number: 5)
            f.app.settle()
            let (link, times) = f.link()
            f.app.advance(by: .milliseconds(100))
            let calls = times.all.count
            f.app.application.terminate()
            f.app.display.screenFrameBegan(at: f.app.manual.now, number: 500)
            #expect(f.app.application.loop.runTurn(in: .default) != .handledSource)
            #expect(times.all.count == calls)
            withExtendedLifetime(link) {}
        }
    }
}
