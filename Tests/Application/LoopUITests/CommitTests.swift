// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import RunLoopsTesting
import Testing

@MainActor private final class Logged: View {
    let name: String
    let log: Log
    var text = "" { didSet { setNeedsDisplay() } }

    init(_ name: String, _ log: Log, _ frame: Rect = .zero) {
        self.name = name
        self.log = log
        super.init(frame: frame)
    }

    override func layoutSubviews() { log.add("layout \(name)") }
    override func draw(in canvas: inout Canvas) {
        log.add("display \(name)")
        canvas.write(text, at: .zero)
    }
}

/// What was marked during a turn is done once, before the loop sleeps.
@MainActor @Suite struct CommitTests {
    @Test func `Superviews are laid out first, then all views draw, then prepare runs, then one frame is presented`()
        throws
    {
        try TestApplication.with { app in
            let log = Log()
            let (outer, inner) = (Logged("outer", log), Logged("inner", log, Rect(1, 1, 5, 1)))
            outer.addSubview(inner)
            app.show(outer)
            _ = log.take()
            let frames = app.display.frameCount
            app.manual.loop.performLocally {
                inner.text = "drawn"
                inner.setNeedsLayout()
                outer.setNeedsLayout()
                outer.setNeedsLayout()
                app.application.commit.prepare { log.add("prepare \(app.display.frameCount - frames)") }
            }
            app.settle()
            #expect(log.take() == ["layout outer", "layout inner", "display inner", "prepare 0"])
            #expect(app.display.frameCount == frames + 1)
        }
    }

    @Test func `A change after a quiet time is shown at once and the changes that follow are shown together`() throws {
        try TestApplication.with { app in
            let log = Log()
            let view = Logged("view", log, Rect(0, 0, 20, 1))
            app.show(View()).addSubview(view)
            app.advance(by: .seconds(1))
            let frames = app.display.frameCount
            @MainActor func change(_ text: String) {
                app.manual.loop.performLocally { view.text = text }
                app.advance(by: .milliseconds(1))
            }
            change("first")
            #expect(app.display.frameCount == frames + 1)
            #expect(app.text.hasPrefix("first"))
            for number in 0..<10 { change("number \(number)") }
            #expect(app.display.frameCount == frames + 1)
            app.advance(by: .milliseconds(10))
            #expect(app.display.frameCount == frames + 2)
            #expect(app.text.hasPrefix("number 9"))
            #expect(log.take().count { $0 == "display view" } == 3)
        }
    }

    @Test func `While the display is busy, changes are not presented, and the next frame shows the last change`() throws
    {
        try TestApplication.with { app in
            let log = Log()
            let view = Logged("view", log, Rect(0, 0, 20, 1))
            app.show(View()).addSubview(view)
            app.advance(by: .seconds(1))
            app.display.isBusy = true
            let frames = app.display.frameCount
            for number in 0..<100 {
                app.manual.loop.performLocally { view.text = "number \(number)" }
                app.advance(by: .milliseconds(50))
            }
            #expect(app.display.frameCount == frames)
            // One refusal, and then nobody tries or draws until the display says that it is ready.
            #expect(app.application.commit.counts.refusals == 1)
            #expect(log.take().count { $0 == "display view" } == 2)
            app.display.isBusy = false
            app.settle()
            #expect(app.display.frameCount == frames + 1)
            #expect(app.text.hasPrefix("number 99"))
        }
    }

    @Test func `A thousand size changes lead to at most one layout per frame, and the last size is shown`() throws {
        try TestApplication.with { app in
            let log = Log()
            app.show(Logged("root", log))
            _ = log.take()
            let frames = app.display.frameCount
            for number in 0..<1000 {
                app.display.resize(to: Size(Double(40 + number % 100), 24))
                app.advance(by: .milliseconds(1))
            }
            app.display.resize(to: Size(33, 7))
            app.advance(by: .milliseconds(20))
            #expect(log.take().count { $0 == "layout root" } <= 61)
            #expect(app.display.frameCount - frames <= 62)
            #expect(app.display.frame?.cells.width == 33)
            #expect(app.display.frame?.cells.height == 7)
        }
    }

    @Test func `A hundred thousand moves in a second make at most 62 frames, and the last place is shown`() throws {
        try TestApplication.with { app in
            let view = Follower()
            app.show(view)
            app.display.push(.pointer(PointerInput(.began, at: .zero)))
            let frames = app.display.frameCount
            for number in 1...100_000 {
                app.display.push(.pointer(PointerInput(.moved, at: Point(Double(number % 80), Double(number / 5000)))))
                if number.isMultiple(of: 100) { app.advance(by: .milliseconds(1)) }
            }
            app.advance(by: .milliseconds(20))
            #expect(app.display.frameCount - frames <= 62)
            #expect(view.place == Point(Double(100_000 % 80), 20))
            #expect(app.text.contains("0.0, 20.0"))
        }
    }

    @Test func `An idle application wakes no thread`() throws {
        try TestApplication.with { app in
            app.show(Follower())
            app.tap(at: Point(1, 1))
            app.advance(by: .seconds(1))
            let sleeps = app.manual.sleeps
            app.advance(by: .seconds(3600))
            #expect(app.manual.sleeps - sleeps <= 1)
            #expect(app.manual.loop.nextTimerDeadline(in: .default) == nil)
        }
    }

    @Test func `A view that requests layout endlessly is laid out a limited number of times in each turn`() throws {
        try TestApplication.with { app in
            let view = Restless()
            app.show(view)
            app.settle()
            let layouts = view.layouts
            #expect(layouts >= 16)
            app.settle()
            #expect(view.layouts - layouts <= 48)
            #expect(app.display.frameCount > 0)
        }
    }

    @Test func `A hidden view draws nothing and is drawn when it is shown`() throws {
        try TestApplication.with(size: Size(10, 2)) { app in
            let log = Log()
            let view = Logged("view", log, Rect(1, 0, 5, 1))
            let window = app.show(View())
            view.isHidden = true
            window.addSubview(view)
            view.text = "seen"
            app.settle()
            #expect(app.text == "\n\n")
            #expect(log.take().contains("display view") == false)
            view.isHidden = false
            app.settle()
            #expect(app.text == " seen\n\n")
            view.frame.origin = Point(3, 1)
            app.settle()
            #expect(app.text == "\n   seen\n")
            #expect(log.take().count { $0 == "display view" } == 1)
            view.removeFromSuperview()
            app.settle()
            #expect(app.text == "\n\n")
        }
    }

    @Test func `afterCommit runs once, in the next turn, without another event`() throws {
        try TestApplication.with { app in
            app.show(View())
            app.advance(by: .seconds(1))
            let log = Log()
            app.manual.loop.performLocally {
                app.application.commit.prepare { log.add("commit") }
                app.application.commit.afterCommit { log.add("after") }
            }
            // No time passes in which anything else could wake the loop.
            app.advance(by: .nanoseconds(1))
            #expect(log.take() == ["commit", "after"])
            app.settle()
            #expect(log.take().isEmpty)
        }
    }

    @Test func `A change is committed before the loop sleeps and not in the callout`() throws {
        try TestApplication.with { app in
            let log = Log()
            let view = Logged("view", log, Rect(0, 0, 20, 1))
            app.show(View()).addSubview(view)
            app.advance(by: .seconds(1))
            _ = log.take()
            app.manual.loop.performLocally {
                view.text = "one"
                view.text = "two"
                log.add("callout")
            }
            app.manual.loop.performLocally { log.add("next callout") }
            app.settle()
            #expect(log.take() == ["callout", "next callout", "display view"])
        }
    }

    @Test func `Changes in nested groups are committed at the end of the outermost group`() throws {
        try TestApplication.with { app in
            let log = Log()
            let view = Logged("view", log, Rect(0, 0, 20, 1))
            app.show(View()).addSubview(view)
            app.advance(by: .seconds(1))
            _ = log.take()
            let commit = app.application.commit
            commit.group(completion: { log.add("outer completed") }) {
                commit.group(completion: { log.add("inner completed") }) { view.text = "inner" }
                // A turn of the loop and a flush commit nothing while a group is open.
                app.advance(by: .seconds(1))
                commit.flush()
                log.add("outer group")
                view.text = "outer"
            }
            app.settle()
            #expect(log.take() == ["outer group", "display view", "inner completed", "outer completed"])
            #expect(app.text.hasPrefix("outer"))
        }
    }

    @Test func `A group's completion waits for a postponed commit`() throws {
        try TestApplication.with { app in
            let log = Log()
            let view = Logged("view", log, Rect(0, 0, 20, 1))
            app.show(View()).addSubview(view)
            app.advance(by: .seconds(1))
            @MainActor func change(_ text: String) {
                app.application.commit.group(completion: { log.add("completed") }) {
                    app.application.commit.group { view.text = text }
                    log.add("inner group")
                }
            }
            app.manual.loop.performLocally { change("first") }
            app.advance(by: .milliseconds(1))
            #expect(log.take().suffix(3) == ["inner group", "display view", "completed"])
            app.manual.loop.performLocally { change("second") }
            app.advance(by: .milliseconds(1))
            #expect(log.take() == ["inner group"])
            app.advance(by: .milliseconds(20))
            #expect(log.take() == ["display view", "completed"])
        }
    }

    @Test func `The changes directly before the end are shown, although the last frame was shown just before`() throws {
        try TestApplication.with(size: Size(20, 2)) { app in
            app.display.abilities.keepsLastFrame = true
            let label = Label("one")
            app.show(label)
            app.settle()
            label.text = "two"
            app.advance(by: .zero)
            #expect(app.line(0) == "two")
            // Too early for another frame: a timer waits for its time.
            label.text = "three"
            app.advance(by: .zero)
            #expect(app.line(0) == "two")
            app.application.terminate()
            #expect(app.line(0) == "three")
        }
    }
}

/// Shows where the finger is.
@MainActor private final class Follower: View {
    var place = Point.zero { didSet { setNeedsDisplay() } }

    override func touchesMoved(_ touches: Set<Touch>, with event: Event?) {
        if let touch = touches.first { place = touch.location(in: self) }
    }
    override func draw(in canvas: inout Canvas) { canvas.write("\(place.x), \(place.y)", at: .zero) }
}

/// Asks for layout whenever it was laid out.
@MainActor private final class Restless: View {
    var layouts = 0

    override func layoutSubviews() {
        layouts += 1
        setNeedsLayout()
    }
}
