// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import RunLoopsTesting
import Testing

@testable import LoopUI

@MainActor private struct Fixture {
    let app: TestApplication
    let controller = ViewController()
    let alert = AlertController(title: "Sure?")
    let yes = AlertAction("Yes")
    let no = AlertAction("No", style: .cancel)

    static func with(_ body: (Fixture) throws -> Void) throws {
        try TestApplication.with(size: Size(40, 12)) { app in
            let fixture = Fixture(app: app)
            fixture.alert.addAction(fixture.yes)
            fixture.alert.addAction(fixture.no)
            fixture.controller.view = View()
            app.show(fixture.controller)
            try body(fixture)
        }
    }

    var loop: RunLoop { app.application.loop }

    /// Does something later, in the common modes.
    func after(_ milliseconds: Int, _ body: @escaping () -> Void) {
        loop.add(RunLoop.Timer(.after(.milliseconds(milliseconds))) { _ in body() }, in: .common)
    }

    func press(_ key: Key, after milliseconds: Int) {
        after(milliseconds) { [display = app.display] in display.push(.key(KeyInput(key))) }
    }

    /// Asks in a turn of its own.
    func ask(_ body: @escaping (AlertAction?) -> Void = { _ in }) {
        loop.performLocally { [controller, alert] in body(alert.runModal(over: controller)) }
    }
}

@MainActor @Suite struct ModalTests {
    @Test func `A modal alert returns the chosen action and the loop returns to its mode`() throws {
        try Fixture.with { f in
            var answer: AlertAction?
            var modes: [RunLoop.Mode?] = []
            f.after(50) { modes.append(f.loop.currentMode) }
            f.press(.enter, after: 100)
            f.ask { answer = $0 }
            f.app.advance(by: .seconds(1))
            #expect(answer === f.yes)
            #expect(modes == [.modalPanel])
            f.after(0) { modes.append(f.loop.currentMode) }
            f.app.settle()
            #expect(modes == [.modalPanel, .default])
            #expect(f.app.application.modes.current == .default)
            #expect(f.app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `An alert action's handler is called before runModal returns`() throws {
        try Fixture.with { f in
            var log: [String] = []
            let alert = AlertController(title: "Sure?")
            alert.addAction(AlertAction("Yes") { log.append("handler") })
            f.press(.enter, after: 100)
            f.loop.performLocally {
                log.append("before")
                alert.runModal(over: f.controller)
                log.append("after")
            }
            f.app.advance(by: .seconds(1))
            #expect(log == ["before", "handler", "after"])
        }
    }

    @Test func `Escape returns the cancel action and a dismissal returns nil`() throws {
        try Fixture.with { f in
            var answers: [String?] = []
            f.press(.escape, after: 100)
            f.ask { answers.append($0?.title) }
            f.app.advance(by: .seconds(1))
            f.after(100) { f.alert.dismiss() }
            f.ask { answers.append($0?.title) }
            f.app.advance(by: .seconds(1))
            #expect(answers == ["No", nil])
        }
    }

    @Test func `A timer in the default mode waits for a modal answer and a timer in the common modes does not`() throws
    {
        try Fixture.with { f in
            var ticks = (default: 0, common: 0)
            f.loop.add(RunLoop.Timer(.every(.milliseconds(100))) { _ in ticks.default += 1 }, in: .default)
            f.loop.add(RunLoop.Timer(.every(.milliseconds(100))) { _ in ticks.common += 1 }, in: .common)
            f.app.advance(by: .milliseconds(450))
            #expect(ticks == (4, 4))
            f.ask()
            f.after(2000) {
                #expect(ticks.default == 4 && (19...25).contains(ticks.common))
                f.app.display.push(.key(KeyInput(.enter)))
            }
            f.app.advance(by: .seconds(3))
            // The dates that have passed are skipped, as Core Foundation's are.
            #expect((8...16).contains(ticks.default) && ticks.common >= 30)
        }
    }

    @Test func `Frames and animations go on while an alert is modal`() throws {
        try Fixture.with { f in
            let label = Label("moves").at(0, 0, 5)
            f.controller.view.addSubview(label)
            f.app.settle()
            f.ask()
            var seen = ""
            f.after(100) { View.animate(withDuration: .milliseconds(200)) { label.frame.origin.x = 30 } }
            f.after(500) {
                seen = f.app.text
                f.app.display.push(.key(KeyInput(.enter)))
            }
            f.app.advance(by: .seconds(1))
            #expect(seen.contains("Sure?"))
            #expect(seen.hasPrefix(String(repeating: " ", count: 30) + "moves"))
            #expect(!f.app.text.contains("Sure?"))
        }
    }

    @Test func `A button's action can call runModal and receives the answer`() throws {
        try Fixture.with { f in
            var answers: [String?] = []
            let button = Button("Ask") { _ in answers.append(f.alert.runModal(over: f.controller)?.title) }
            f.controller.view.addSubview(button.at(0, 0, 9))
            f.app.settle()
            f.press(.enter, after: 300)
            f.app.tap(at: Point(2, 0))
            f.app.advance(by: .seconds(1))
            #expect(answers == ["Yes"])
            // The touch path works on.
            f.press(.escape, after: 300)
            f.app.tap(at: Point(2, 0))
            f.app.advance(by: .seconds(1))
            #expect(answers == ["Yes", "No"])
        }
    }

    @Test func `A drag inside a modal sheet runs the tracking mode and then the modal mode again`() throws {
        try Fixture.with { f in
            let sheet = ViewController()
            let scroll = ScrollView()
            scroll.contentSize = Size(20, 100)
            sheet.view = scroll
            var modes: [RunLoop.Mode?] = []
            f.loop.performLocally { f.controller.runModal(sheet) }
            let inputs: [(Int, PointerInput)] = [
                (100, PointerInput(.began, at: Point(20, 9))), (150, PointerInput(.moved, at: Point(20, 6))),
                (400, PointerInput(.ended, at: Point(20, 6))),
            ]
            for (time, input) in inputs { f.after(time) { f.app.display.push(.pointer(input)) } }
            f.after(300) { modes.append(f.loop.currentMode) }
            f.after(2900) { modes.append(f.loop.currentMode) }
            f.press(.escape, after: 3000)
            f.app.advance(by: .seconds(4))
            #expect(modes == [.tracking, .modalPanel])
            #expect(scroll.contentOffset.y >= 3)
            #expect(f.app.application.modes.current == .default)
        }
    }

    @Test func `Modal controllers can be nested, and dismissing the outer one ends both calls`() throws {
        try Fixture.with { f in
            var log: [String] = []
            let sheet = ViewController()
            f.loop.performLocally {
                f.controller.runModal(sheet)
                log.append("sheet")
            }
            f.after(100) {
                f.alert.runModal(over: sheet)
                log.append("alert")
            }
            f.after(500) { f.controller.dismiss() }
            f.app.advance(by: .seconds(1))
            #expect(log == ["alert", "sheet"])
            #expect(f.app.application.modes.current == .default)
            #expect(f.app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `Terminating the application ends a modal call, which returns nil`() throws {
        try Fixture.with { f in
            var answers: [String?] = []
            f.ask { answers.append($0?.title) }
            f.after(100) { f.app.application.terminate() }
            f.app.application.run(until: nil)
            #expect(answers == [nil])
            #expect(f.app.application.state == .notRunning)
        }
    }

    @Test func `If a mode is popped during a modal call, the loop does not return to it after the call`()
        throws
    {
        try Fixture.with { f in
            f.app.application.modes.push(.tracking)
            f.loop.performLocally(in: .common) { f.alert.runModal(over: f.controller) }
            f.after(100) { f.app.application.modes.pop(.tracking) }
            f.press(.enter, after: 200)
            var modes: [RunLoop.Mode?] = []
            f.after(500) { modes.append(f.loop.currentMode) }
            f.app.advance(by: .seconds(1))
            #expect(modes == [.default])
        }
    }

    @Test func `A modal call returns at once if the controller is dismissed in viewDidAppear`() throws {
        try Fixture.with { f in
            let sheet = DismissingController()
            var isOver = false
            f.loop.performLocally {
                f.controller.runModal(sheet)
                isOver = true
            }
            f.app.settle()
            #expect(isOver)
        }
    }
}

@MainActor private final class DismissingController: ViewController {
    override func viewDidAppear() { dismiss() }

    @Test(arguments: [nil, Duration.seconds(1)])
    func `Dismissing a modal controller from a run nested in a callout ends the modal call`(limit: Duration?) throws {
        try Fixture.with { f in
            var log: [String] = []
            f.ask { log.append($0?.title ?? "dismissed") }
            f.after(100) {
                f.after(50) { f.alert.dismiss() }
                let end = limit.map { RunLoop.Instant.now.advanced(by: $0) }
                log.append("\(f.loop.run(in: .default, until: end))")
            }
            f.app.advance(by: .seconds(2))
            #expect(log == ["stopped", "dismissed"])
            #expect(f.app.application.modes.current == .default)
            #expect(f.app.manual.endlessSleeps == 0)
        }
    }

    @Test func `Dismissing an outer modal controller from a nested run ends both modal calls and the run`() throws {
        try Fixture.with { f in
            var log: [String] = []
            let sheet = ViewController()
            f.loop.performLocally {
                f.controller.runModal(sheet)
                log.append("sheet")
            }
            f.after(100) {
                f.alert.runModal(over: sheet)
                log.append("alert")
            }
            f.after(200) {
                f.after(50) { f.controller.dismiss() }
                log.append("\(f.loop.run(in: .default, until: nil))")
            }
            f.app.advance(by: .seconds(2))
            #expect(log == ["stopped", "alert", "sheet"])
            #expect(f.app.manual.endlessSleeps == 0)
        }
    }
}
