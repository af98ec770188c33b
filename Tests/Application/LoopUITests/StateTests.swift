// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import RunLoopsTesting
import Testing

/// Logs each callback with the state at that time.
@MainActor private final class LoggingDelegate: ApplicationDelegate {
    let log = Log()
    var whenLaunched: ((Application) -> Void)?

    init() { log.add("delegate") }

    private func add(_ name: String, _ application: Application) {
        let mode = application.loop.currentMode.map { "\($0)" } ?? "no mode"
        log.add("\(name), \(application.state), \(mode)")
    }
    func applicationWillFinishLaunching(_ application: Application) { add("willFinishLaunching", application) }
    func applicationDidFinishLaunching(_ application: Application) {
        add("didFinishLaunching", application)
        whenLaunched?(application)
    }
    func applicationDidBecomeActive(_ application: Application) { add("didBecomeActive", application) }
    func applicationWillResignActive(_ application: Application) { add("willResignActive", application) }
    func applicationDidEnterBackground(_ application: Application) { add("didEnterBackground", application) }
    func applicationWillEnterForeground(_ application: Application) { add("willEnterForeground", application) }
    func applicationWillTerminate(_ application: Application) { add("willTerminate", application) }
}

@MainActor private final class LoggingController: ViewController {
    var log: Log?
    override func loadView() {
        log?.add("loadView")
        super.loadView()
    }
    override func viewDidLoad() { log?.add("viewDidLoad") }
    override func viewWillAppear() { log?.add("viewWillAppear") }
    override func viewDidAppear() { log?.add("viewDidAppear") }
    override func viewWillLayoutSubviews() { log?.add("viewWillLayoutSubviews") }
}

/// The five states of a program, and its launch.
@MainActor @Suite struct StateTests {
    @Test func `A launch calls the delegate, makes the window key, becomes active and presents the first frame`() throws
    {
        let delegate = LoggingDelegate()
        let log = delegate.log
        delegate.whenLaunched = { application in
            let controller = LoggingController()
            controller.log = log
            let window = Window()
            window.rootViewController = controller
            window.makeKeyAndVisible()
            log.add("key window \(window.isKeyWindow)")
        }
        try TestApplication.with(delegate: delegate) { app in
            #expect(
                log.take() == [
                    "delegate", "willFinishLaunching, inactive, UIInitializationRunLoopMode",
                    "didFinishLaunching, inactive, UIInitializationRunLoopMode",
                    "loadView", "viewDidLoad", "viewWillAppear", "viewDidAppear", "key window true",
                    "didBecomeActive, active, UIInitializationRunLoopMode",
                    "viewWillLayoutSubviews",
                ])
            #expect(app.display.frameCount == 1)
        }
        #expect(log.take() == ["willTerminate, active, no mode"])
    }

    @Test func `A launch calls the delegate in the initialization mode before the default mode begins`() throws {
        try ManualRunLoop.with { manual in
            let delegate = LoggingDelegate()
            let log = delegate.log
            let observer = RunLoop.Observer([.entry, .exit]) { _, activity in
                MainActor.assumeIsolated {
                    let word = activity == .entry ? "entry" : "exit"
                    log.add("\(word) \(RunLoop.current.currentMode.map { "\($0)" } ?? "none")")
                }
            }
            let display = SyntheticDisplay()
            let application = Application(display: display, delegate: delegate)
            log.add("application, \(application.state)")
            for mode in [RunLoop.Mode.initialization, .default] { application.loop.add(observer, in: mode) }
            delegate.whenLaunched = { application in
                let controller = LoggingController()
                controller.log = log
                let window = Window()
                window.rootViewController = controller
                window.makeKeyAndVisible()
                log.add("key window \(application.keyWindow === window)")
                application.loop.performLocally(in: .default) { display.push(.terminate(signal: nil)) }
            }
            try application.run()
            let (initial, normal) = ("UIInitializationRunLoopMode", "kCFRunLoopDefaultMode")
            #expect(
                log.take() == [
                    "delegate", "application, notRunning",
                    "entry \(initial)",
                    "willFinishLaunching, inactive, \(initial)", "didFinishLaunching, inactive, \(initial)",
                    "loadView", "viewDidLoad", "viewWillAppear", "viewDidAppear", "key window true",
                    "didBecomeActive, active, \(initial)",
                    "exit \(initial)", "viewWillLayoutSubviews",
                    "entry \(normal)", "willTerminate, active, \(normal)", "exit \(normal)",
                ])
            observer.invalidate()
        }
    }

    @Test func `The program is not running before its launch and after its end`() throws {
        try ManualRunLoop.with { manual in
            let delegate = LoggingDelegate()
            let display = SyntheticDisplay()
            let application = Application(display: display, delegate: delegate)
            #expect(application.state == .notRunning && !display.isOpen)
            delegate.whenLaunched = { application in
                #expect(display.isOpen)
                application.loop.performLocally { application.terminate() }
            }
            try application.run()
            #expect(application.state == .notRunning && !display.isOpen)
            #expect(
                delegate.log.takeNames() == [
                    "delegate", "willFinishLaunching", "didFinishLaunching", "didBecomeActive", "willTerminate",
                ])
            // A second end is none.
            application.terminate()
            #expect(delegate.log.take() == [])
        }
    }

    @Test func `Losing the focus makes the application inactive, and getting the focus makes it active`() throws {
        let delegate = LoggingDelegate()
        try TestApplication.with(delegate: delegate) { app in
            let mode = "kCFRunLoopDefaultMode"
            _ = delegate.log.take()
            app.send(.focus(false))
            #expect(app.application.state == .inactive)
            app.send(.focus(false))
            app.send(.focus(true))
            #expect(app.application.state == .active)
            app.send(.focus(true))
            #expect(
                delegate.log.take() == [
                    "willResignActive, active, \(mode)", "didBecomeActive, active, \(mode)",
                ])
        }
    }

    @Test func `Suspending passes through inactive to background and resuming returns to active`() throws {
        let delegate = LoggingDelegate()
        try TestApplication.with(delegate: delegate) { app in
            let mode = "kCFRunLoopDefaultMode"
            app.show(View())
            _ = delegate.log.take()
            app.send(.suspend)
            #expect(
                delegate.log.take() == [
                    "willResignActive, active, \(mode)", "didEnterBackground, background, \(mode)",
                ])
            #expect(app.application.state == .suspended && app.display.isSuspended)
            // Neither focus nor a second stop changes anything.
            app.send(.focus(true), .suspend)
            #expect(delegate.log.take() == [])
            let frames = app.display.frameCount
            app.send(.resumed)
            #expect(
                delegate.log.take() == [
                    "willEnterForeground, background, \(mode)", "didBecomeActive, active, \(mode)",
                ])
            #expect(app.application.state == .active && !app.display.isSuspended)
            #expect(app.display.frameCount == frames + 1)
            app.send(.resumed)
            #expect(delegate.log.take() == [])
        }
    }

    @Test func `Suspending an inactive application does not call applicationWillResignActive again`() throws {
        let delegate = LoggingDelegate()
        try TestApplication.with(delegate: delegate) { app in
            app.send(.focus(false))
            _ = delegate.log.take()
            app.send(.suspend)
            #expect(delegate.log.takeNames() == ["didEnterBackground"])
        }
    }

    @Test func `A signal ends the program, and later input is not handled`() throws {
        let delegate = LoggingDelegate()
        try TestApplication.with(delegate: delegate) { app in
            let log = Log()
            let view = ProbeView(log)
            app.show(view)
            _ = delegate.log.take()
            app.display.push(.terminate(signal: 15))
            app.display.push(.pointer(PointerInput(.began, at: Point(1, 1))))
            app.display.push(.focus(false))
            app.settle()
            #expect(app.application.terminationSignal == 15)
            #expect(app.application.state == .notRunning && !app.display.isOpen)
            #expect(delegate.log.take() == ["willTerminate, active, kCFRunLoopDefaultMode"])
            #expect(log.take() == [])
        }
    }

    @Test func `Ctrl-C ends and Ctrl-Z suspends the program if no responder uses the key`() throws {
        try TestApplication.with { app in
            app.show(View())
            app.press(.character("z"), modifiers: .control)
            #expect(app.application.state == .suspended)
            app.send(.resumed)
            app.press(.character("c"), modifiers: .control)
            #expect(app.application.state == .notRunning)
        }
    }

    @Test func `An application that has ended is released, with its commit, its windows and its display`() throws {
        try ManualRunLoop.with { manual in
            weak var application: Application?
            weak var commit: CommitTransaction?
            weak var window: Window?
            weak var display: SyntheticDisplay?
            do {
                let newDisplay = SyntheticDisplay()
                let newApplication = Application(display: newDisplay)
                (application, commit, display) = (newApplication, newApplication.commit, newDisplay)
                try newApplication.launch()
                let newWindow = Window()
                window = newWindow
                newWindow.rootViewController = ViewController()
                newWindow.makeKeyAndVisible()
                newApplication.run(until: manual.now.advanced(by: .seconds(1)))
                #expect(newDisplay.frameCount == 1)
                newApplication.terminate()
            }
            #expect(application == nil && commit == nil && window == nil && display == nil)
            #expect(Application.current == nil)
        }
    }
}
