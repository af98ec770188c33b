// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Code that was written for a program, under a test.
@MainActor @Suite struct TestApplicationTests {
    @Test func `The main loop and the present time are the test's on the main thread, and unchanged on others`() throws
    {
        let (main, before) = (RunLoop.main, RunLoop.Instant.now)
        try TestApplication.with { app in
            #expect(RunLoop.main === app.manual.loop && RunLoop.current === app.manual.loop)
            #expect(RunLoop.main !== main)
            app.advance(by: .seconds(1_000_000))
            for base in RunLoop.ClockID.allCases { #expect(RunLoop.Instant.now(base) == app.manual.now(base)) }
            let seen = Locked<(RunLoop?, RunLoop.Instant?)>((nil, nil))
            TestThread { seen.withLock { $0 = (RunLoop.main, RunLoop.Instant.now) } }.join()
            #expect(seen.copy.0 === main)
            let other = try #require(seen.copy.1)
            #expect(other >= before && other < before.advanced(by: .seconds(900_000)))
        }
        #expect(RunLoop.main === main && RunLoop.Instant.now >= before)
    }

    @Test func `A manual loop on another thread is not that thread's main loop`() {
        let main = RunLoop.main
        TestThread {
            ManualRunLoop.with { manual in
                #expect(RunLoop.main === main && RunLoop.current === manual.loop)
                #expect(RunLoop.Instant.now == manual.now)
            }
        }.join()
    }

    @Test func `A timer that the program adds to the main loop fires in virtual time`() throws {
        try TestApplication.with { app in
            let start = RunLoop.Instant.now
            var ticks: [Duration] = []
            let timer = RunLoop.Timer(.every(.seconds(1))) { _ in ticks.append(start.duration(to: .now)) }
            RunLoop.main.add(timer, in: .common)
            RunLoop.main.add(
                RunLoop.Timer(.at(RunLoop.Instant.now.advanced(by: .seconds(2.5)))) { _ in timer.invalidate() },
                in: .common)
            app.advance(by: .seconds(60))
            #expect(ticks == [.seconds(1), .seconds(2)])
        }
    }

    @Test func `settle waits for the frame that follows one that was shown early`() throws {
        try TestApplication.with { app in
            let label = Label("a")
            app.show(label)
            app.advance(by: .seconds(1))
            label.text = "b"
            app.advance(by: .nanoseconds(1))
            // Half a millisecond before the next frame's time, which is near enough.
            app.advance(by: .nanoseconds(16_166_667))
            label.text = "c"
            app.advance(by: .nanoseconds(1))
            #expect(app.line(0) == "c")
            label.text = "d"
            app.settle()
            #expect(app.line(0) == "d")
        }
    }

    @Test func `An input that was prepared answers a modal question`() throws {
        try TestApplication.with { app in
            let controller = ViewController()
            app.show(controller)
            let alert = AlertController(title: "Sure?")
            alert.addAction(AlertAction("Yes"))
            let no = AlertAction("No", style: .cancel)
            alert.addAction(no)
            app.send(.key(KeyInput(.right)), .key(KeyInput(.enter)), after: .milliseconds(100))
            #expect(alert.runModal(over: controller) === no)
        }
    }

    @Test func `A modal question that no event can answer traps and names the question`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            try TestApplication.with { app in
                let controller = ViewController()
                app.show(controller)
                let alert = AlertController(title: "Delete the file?")
                alert.addAction(AlertAction("Yes"))
                app.application.loop.performLocally { alert.runModal(over: controller) }
                app.advance(by: .seconds(1))
            }
        }
        expectText(result, "runModal waits in virtual time for the dismissal of AlertController \"Delete the file?\"")
        expectText(result, "Prepare the answer before the question")
    }

    @Test func `A wait in a loop of the program's own that no event can end traps and shows the loop`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            try TestApplication.with { app in
                let source = RunLoop.Source(label: "the answer of a server") { _ in }
                RunLoop.main.add(source, in: .default)
                app.application.loop.performLocally {
                    while source.isValid { RunLoop.current.run(in: .default, until: nil) }
                }
                app.advance(by: .seconds(1))
            }
        }
        expectText(result, "was run 10000 times at one instant of virtual time, in the mode")
        expectText(result, "the answer of a server")
    }

    @Test func `A closure that another thread posts to the main loop runs while the test waits for it`() throws {
        try TestApplication.with { app in
            let label = Label("")
            app.show(label)
            let thread = TestThread { RunLoop.performOnMainActor(in: .common) { label.text = "came" } }
            thread.join()
            app.waitForOtherThreads { label.text == "came" }
            #expect(app.text.contains("came"))
            #expect(RunLoop.current === app.manual.loop)
        }
    }

    @Test func `A wait for other threads advances virtual time only by the frame that shows what came`() throws {
        try TestApplication.with { app in
            let label = Label("")
            app.show(label)
            let start = app.manual.now
            var looks = 0
            app.waitForOtherThreads {
                looks += 1
                return looks > 50
            }
            #expect(app.manual.now == start)
            let thread = TestThread { RunLoop.performOnMainActor(in: .common) { label.text = "came" } }
            thread.join()
            app.waitForOtherThreads { app.text.contains("came") }
            #expect(app.manual.now <= start.advanced(by: app.application.commit.frameInterval))
        }
    }
}
