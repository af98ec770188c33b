// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import RunLoopsTesting
import Testing

@testable import LoopUI

@MainActor @Suite struct IdleTests {
    @Test(arguments: [false, true])
    func `An application does not wake while nothing moves and a modal alert waits`(hasScreen: Bool) throws {
        try TestApplication.with(size: Size(40, 12)) { app in
            let screen = hasScreen ? FakeScreen(app) : nil
            let rows = SlowRows(1000)
            app.drawing.duration = { .milliseconds(5) }
            let list = ViewController()
            list.view = rows.makeTable()
            let page = ViewController()
            let block = View(frame: Rect(0, 0, 4, 2))
            page.view = View()
            page.view.addSubview(block)
            let navigation = NavigationController(rootViewController: list)
            app.show(navigation)
            app.play(.drag(from: Point(5, 9), to: Point(5, 3), lasting: .milliseconds(100)))
            navigation.push(page)
            app.advance(by: .seconds(5))
            var ended = 0
            View.animate(
                withDuration: .milliseconds(300), animations: { block.frame.origin.x = 30 },
                completion: { _ in ended += 1 })
            app.advance(by: .seconds(1))
            #expect(ended == 1 && !rows.log.all.isEmpty)
            #expect(app.application.screenFrames.isInStep == hasScreen)
            #expect(app.wakeUpsWhenIdle == 0)

            // The same while the alert runs its own mode.
            var sleeps: [Int] = []
            for second in [1, 6] {
                let timer = RunLoop.Timer(.after(.seconds(second))) { _ in
                    #expect(app.application.loop.currentMode == .modalPanel)
                    sleeps.append(app.manual.sleeps)
                    if second == 6 { app.display.push(.key(KeyInput(.enter))) }
                }
                app.application.loop.add(timer, in: .common)
            }
            let alert = AlertController(title: "Sure?")
            alert.addAction(AlertAction("Yes"))
            var isAnswered = false
            app.application.loop.performLocally { isAnswered = alert.runModal(over: page) != nil }
            app.advance(by: .seconds(10))
            // One sleep is the five seconds themselves.
            #expect(isAnswered && sleeps.count == 2 && sleeps[1] - sleeps[0] == 1)
            #expect(app.wakeUpsWhenIdle == 0)
            withExtendedLifetime(screen) {}
        }
    }
}
