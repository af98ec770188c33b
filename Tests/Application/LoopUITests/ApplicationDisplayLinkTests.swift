// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import RunLoopsTesting
import Testing

@MainActor @Suite struct ApplicationDisplayLinkTests {
    private final class Notes {
        var frames: [DisplayLink.Frame] = []
        var link: DisplayLink?
    }

    /// An application with a screen of 50 frames a second, or with a display that has none.
    private func with(screen: Bool = true, _ body: (TestApplication, FakeScreen?) throws -> Void) throws {
        try TestApplication.with(size: Size(40, 4)) { app in
            let screen = screen ? FakeScreen(app) : nil
            app.show(all: View(frame: Rect(0, 0, 2, 1)))
            app.advance(by: .seconds(1))
            try body(app, screen)
        }
    }

    @Test func `A display link is called with each frame of the screen and knows when the next one begins`() throws {
        try with { app, _ in
            let notes = Notes()
            let link = DisplayLink(for: app.application) { notes.frames.append($0) }
            app.advance(by: .seconds(1))
            #expect(notes.frames.count == 50 && link.delivered == 50 && link.skipped == 0)
            #expect(notes.frames.allSatisfy { $0.isOfScreen })
            // The first frame does not know the screen's period.
            for (frame, next) in zip(notes.frames.dropFirst(), notes.frames.dropFirst(2)) {
                #expect(frame.next == next.time)
            }
        }
    }

    @Test func `Frames that pass while the thread is busy are skipped and counted`() throws {
        try with { app, screen in
            let notes = Notes()
            let link = DisplayLink(for: app.application) { notes.frames.append($0) }
            app.advance(by: .milliseconds(100))
            let before = link.delivered
            screen?.beBusy(for: .milliseconds(205), after: .milliseconds(190))
            app.advance(by: .seconds(1))
            #expect(link.skipped >= 8)
            #expect(link.delivered - before + link.skipped == 50)
            #expect(notes.frames.map(\.skipped).reduce(0, +) == link.skipped)
        }
    }

    @Test func `A display link of a display without frames is called 60 times a second`() throws {
        try with(screen: false) { app, _ in
            let notes = Notes()
            let link = DisplayLink(for: app.application) { notes.frames.append($0) }
            app.advance(by: .seconds(1))
            #expect((59...61).contains(link.delivered) && link.skipped == 0)
            #expect(notes.frames.allSatisfy { !$0.isOfScreen })
            #expect(zip(notes.frames, notes.frames.dropFirst()).allSatisfy { $0.next == $1.time })
        }
    }

    @Test(arguments: [true, false])
    func `A link that is paused, invalidated or released wakes nothing, and a pause is not counted`(screen: Bool) throws
    {
        try with(screen: screen) { app, fake in
            var link: DisplayLink? = DisplayLink(for: app.application, isPaused: true) { _ in }
            #expect(app.wakeUpsWhenIdle == 0 && fake?.requests ?? 0 == 0)
            link?.isPaused = false
            app.advance(by: .milliseconds(200))
            let delivered = try #require(link?.delivered)
            #expect(delivered >= 9)
            link?.isPaused = true
            #expect(app.wakeUpsWhenIdle == 0 && link?.delivered == delivered)
            link?.isPaused = false
            app.advance(by: .milliseconds(200))
            let again = try #require(link?.delivered)
            #expect(again >= delivered + 9 && link?.skipped == 0)
            link?.invalidate()
            link?.isPaused = true
            link?.isPaused = false
            #expect(app.wakeUpsWhenIdle == 0)
            link = DisplayLink(for: app.application) { _ in }
            app.advance(by: .milliseconds(200))
            link = nil
            #expect(app.wakeUpsWhenIdle == 0)
        }
    }

    @Test(arguments: [true, false])
    func `A link that is invalidated in its own closure is not called again`(screen: Bool) throws {
        try with(screen: screen) { app, _ in
            let notes = Notes()
            notes.link = DisplayLink(for: app.application) { frame in
                notes.frames.append(frame)
                notes.link?.invalidate()
                notes.link = nil
            }
            app.advance(by: .seconds(1))
            #expect(notes.frames.count == 1)
            #expect(app.wakeUpsWhenIdle == 0)
        }
    }

    @Test(arguments: [true, false])
    func `A display link is not called after the end of its application`(screen: Bool) throws {
        try with(screen: screen) { app, _ in
            let link = DisplayLink(for: app.application) { _ in }
            app.advance(by: .milliseconds(200))
            app.application.terminate()
            let delivered = link.delivered
            app.manual.advance(by: .seconds(1))
            link.isPaused = true
            link.isPaused = false
            app.manual.advance(by: .seconds(1))
            #expect(link.delivered == delivered)
        }
    }

    @Test func `A display link in the tracking mode is called in that mode alone`() throws {
        try with { app, screen in
            let modes = app.application.modes
            let link = DisplayLink(for: app.application, in: [.tracking]) { _ in }
            app.advance(by: .milliseconds(50))
            let requests = screen?.requests
            app.advance(by: .seconds(1))
            #expect(link.delivered == 0 && screen?.requests == requests)
            modes.push(.tracking)
            app.advance(by: .seconds(1))
            #expect((49...51).contains(link.delivered))
            modes.pop(.tracking)
        }
    }
}
