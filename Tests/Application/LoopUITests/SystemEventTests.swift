// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import Testing

/// Works for a long time when a key is pressed, as the test says, and shows how far it has come.
@MainActor private final class Worker: View {
    var work: ((Worker) -> Void)?
    var note = "idle" { didSet { setNeedsDisplay() } }
    var keys: [Key] = []

    override var canBecomeFirstResponder: Bool { true }

    override func draw(in canvas: inout Canvas) {
        canvas.write("\(note), \(Int(canvas.size.width)) wide", at: .zero)
    }

    override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        keys += presses.map(\.key)
        if presses.contains(where: { $0.key == .enter }) { work?(self) }
    }
}

/// The lines between the braces of a mode.
private func section(_ mode: String, of text: String) -> [String] {
    let lines = text.split(separator: "\n").map(String.init)
    let rest = lines.drop { !$0.hasPrefix("    \(mode)") }.dropFirst()
    return Array(rest.prefix { $0 != "    }" })
}

/// An application serves the system alone in the middle of long work.
@MainActor @Suite struct SystemEventTests {
    /// Shows a worker, and starts its work by a key.
    private func withWork(
        _ delegate: (any ApplicationDelegate)? = nil, _ work: @escaping (TestApplication, Worker) -> Void,
        afterwards: (TestApplication, Worker) -> Void = { _, _ in }
    ) throws {
        try TestApplication.with(size: Size(20, 4), delegate: delegate) { app in
            let worker = Worker()
            app.show(worker)
            worker.becomeFirstResponder()
            app.settle()
            var count = 0
            worker.work = {
                count += 1
                work(app, $0)
            }
            app.press(.enter)
            #expect(count == 1)
            afterwards(app, worker)
        }
    }

    @Test func `A request to end is served in the middle of the work, and later input is not handled`() throws {
        var results: [Bool] = []
        try withWork { app, worker in
            let application = app.application
            results.append(application.receiveSystemEvents())
            app.display.push(.key(KeyInput(.character("a"))))
            app.display.push(.terminate(signal: 15))
            results.append(application.receiveSystemEvents())
            #expect(application.state == .notRunning && application.terminationSignal == 15 && !app.display.isOpen)
            results.append(application.receiveSystemEvents())
        } afterwards: { app, worker in
            app.settle()
            #expect(worker.keys == [.enter])
        }
        #expect(results == [true, false, false])
    }

    @Test func `A new size is shown during the work, and keys, timers and closures wait for its end`() throws {
        var log: [String] = []
        try withWork { app, worker in
            let loop = app.application.loop
            loop.add(RunLoop.Timer(.after(.zero)) { _ in log.append("timer") }, in: .common)
            loop.performLocally(in: .common) { log.append("closure") }
            app.display.push(.key(KeyInput(.character("a"))))
            app.display.push(.pointer(PointerInput(.began, at: .zero)))
            worker.note = "working"
            app.display.resize(to: Size(30, 4))
            app.display.push(.key(KeyInput(.character("b"))))
            #expect(app.application.receiveSystemEvents())
            #expect(log == [] && worker.keys == [.enter])
            #expect(app.line(0) == "working, 30 wide")
        } afterwards: { app, worker in
            app.settle()
            #expect(log.sorted() == ["closure", "timer"])
            #expect(worker.keys == [.enter, .character("a"), .character("b")])
        }
    }

    @Test func `Work that goes on longer than a frame shows its progress`() throws {
        try withWork { app, worker in
            // The virtual time stands still during a callout: each frame but the first is too early.
            app.application.commit.frameInterval = .zero
            for part in 1...3 {
                worker.note = "part \(part)"
                #expect(app.application.receiveSystemEvents())
                #expect(app.line(0) == "part \(part), 20 wide")
            }
        }
    }

    @Test func `A stop and its end are served in the middle of the work`() throws {
        final class Recorder: ApplicationDelegate {
            var calls: [String] = []
            func applicationWillResignActive(_ application: Application) { calls.append("resign") }
            func applicationDidEnterBackground(_ application: Application) { calls.append("background") }
            func applicationWillEnterForeground(_ application: Application) { calls.append("foreground") }
            func applicationDidBecomeActive(_ application: Application) { calls.append("active") }
        }
        let recorder = Recorder()
        try withWork(recorder) { app, worker in
            recorder.calls = []
            // Behind a touch that the user has begun before.
            app.display.push(.pointer(PointerInput(.began, at: .zero)))
            app.display.push(.suspend)
            #expect(app.application.receiveSystemEvents())
            #expect(app.application.state == .suspended && app.display.isSuspended)
            app.display.push(.resumed)
            let frames = app.display.frameCount
            app.application.commit.frameInterval = .zero
            #expect(app.application.receiveSystemEvents())
            #expect(app.application.state == .active && !app.display.isSuspended)
            #expect(app.display.frameCount == frames + 1)
        }
        #expect(recorder.calls == ["resign", "background", "foreground", "active"])
    }

    @Test func `A delegate that asks a question while it is ended receives keys again`() throws {
        final class Asking: ApplicationDelegate {
            var app: TestApplication?
            var answer: AlertAction?
            func applicationWillTerminate(_ application: Application) {
                let alert = AlertController(title: "Save?")
                alert.addAction(AlertAction("Yes"))
                guard let app, let root = application.keyWindow?.rootViewController else { return }
                app.send(.key(KeyInput(.enter)), after: .seconds(1))
                answer = alert.runModal(over: root)
            }
        }
        let asking = Asking()
        try TestApplication.with(size: Size(30, 8), delegate: asking) { app in
            asking.app = app
            app.show(ViewController())
            app.display.push(.terminate(signal: nil))
            #expect(!app.application.receiveSystemEvents())
            asking.app = nil
        }
        #expect(asking.answer?.title == "Yes")
    }

    /// [000]: the receive mode contains a signalled source and a source of the kernel alone.
    ///
    /// A display without a device has no source of the kernel.
    @Test func `The receive mode contains the source of the event queue, and no observer and no timer`() throws {
        try TestApplication.with { app in
            let text = app.application.loop.detailedDescription()
            let section = section("GSEventReceiveRunLoopMode", of: text)
            #expect(section.count { $0.contains("<RunLoop.") } == 1, "\(text)")
            #expect(
                section.contains { $0.contains("<RunLoop.Source handleEventQueue>{valid, ") && $0.contains("order -1") }
            )
            #expect(section.contains("      timers = (none)") && section.contains("      observers = (none)"))
        }
    }
}
