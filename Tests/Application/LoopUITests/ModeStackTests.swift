// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Modes that a program pushes: its own ones, and ones that nothing can happen in.
@MainActor @Suite(.ownThread) struct ModeStackTests {
    private let mode = RunLoop.Mode("a program's own")

    @Test func `A pushed mode runs only its own items until it is popped`() throws {
        try withProbe { app, view, log in
            let application = app.application
            let timer = RunLoop.Timer(.every(.seconds(1))) { [mode] timer in
                MainActor.assumeIsolated {
                    log.add("timer in \(application.loop.currentMode == mode)")
                    if log.lines.count == 3 { application.modes.pop(mode) }
                }
            }
            application.loop.add(timer, in: mode)
            application.modes.push(mode)
            app.display.push(.pointer(PointerInput(.began, at: Point(1, 1))))
            app.advance(by: .seconds(10))
            #expect(log.take() == ["timer in true", "timer in true", "timer in true", "view began"])
            timer.invalidate()
        }
    }

    @Test func `A pushed mode that was made common receives the application's input`() throws {
        try withProbe { app, view, log in
            app.application.loop.markCommon(mode)
            app.application.modes.push(mode)
            app.tap(at: Point(1, 1))
            #expect(log.take() == ["view began", "view ended"])
        }
    }

    @Test func `Pushing an empty mode traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            try TestApplication.with { app in app.application.modes.push(RunLoop.Mode("empty")) }
        }
        expectText(result, "cannot run in the mode empty: it has no source and no timer. Make it a common mode")
    }

    @Test func `A pushed mode that becomes empty traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            try TestApplication.with { app in
                let mode = RunLoop.Mode("brief")
                app.application.loop.add(RunLoop.Timer(.after(.seconds(1))) { _ in }, in: mode)
                app.application.modes.push(mode)
                app.advance(by: .seconds(2))
            }
        }
        expectText(result, "cannot run in the mode brief")
    }

    @Test func `Pushing the tracking mode after terminate does not trap`() throws {
        try withProbe { app, _, _ in
            let timer = RunLoop.Timer(.every(.seconds(1))) { _ in }
            app.application.loop.add(timer, in: .default)
            app.application.terminate()
            app.application.modes.push(.tracking)
            app.advance(by: .seconds(1))
            #expect(app.application.state == .notRunning)
            timer.invalidate()
        }
    }

    @Test func `A mode pushed in a run nested in a callout begins after that run, which reaches its limit`() throws {
        try withProbe { app, _, log in
            let application = app.application
            let loop = application.loop
            let start = app.manual.now
            let timer = RunLoop.Timer(.every(.milliseconds(100))) { [mode] timer in
                MainActor.assumeIsolated {
                    log.add("timer after \(start.duration(to: app.manual.now))")
                    timer.invalidate()
                    application.modes.pop(mode)
                }
            }
            loop.add(timer, in: mode)
            loop.performLocally { [mode] in
                loop.performLocally { application.modes.push(mode) }
                log.add("\(loop.run(in: .default, for: .milliseconds(250)))")
            }
            app.advance(by: .seconds(10))
            #expect(log.take() == ["timedOut", "timer after \(Duration.milliseconds(250))"])
            #expect(application.modes.current == .default)
        }
    }

    @Test(arguments: 1...3)
    func `Terminating the application from runs nested in callouts ends all of them`(depth: Int) throws {
        try withProbe { app, _, _ in
            let application = app.application
            let loop = application.loop
            var results: [RunLoop.RunResult] = []
            @MainActor func nest(_ depth: Int) {
                if depth == 0 { return application.terminate() }
                loop.performLocally { nest(depth - 1) }
                results.append(loop.run(in: .default, until: nil))
            }
            // Keeps each run from ending by itself.
            let timer = RunLoop.Timer(.every(.seconds(1))) { _ in results.append(.timedOut) }
            loop.add(timer, in: .common)
            loop.performLocally { nest(depth) }
            application.run(until: nil)
            #expect(results == Array(repeating: .stopped, count: depth))
            #expect(application.state == .notRunning)
            timer.invalidate()
        }
    }
}
