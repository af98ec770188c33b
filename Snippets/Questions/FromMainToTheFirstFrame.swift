// A program from its launch to its end, with the state and the mode at each call of its delegate.

import LoopUI
import LoopUITesting
import RunLoops

@MainActor func note(_ what: String, _ application: Application) {
    print("\(what): \(application.state), \(application.loop.currentMode?.rawValue ?? "no mode")")
}

final class FirstView: View {
    override func draw(in canvas: inout Canvas) {
        canvas.write("Hello", at: .zero)
        if let application = Application.current { note("the view is drawn", application) }
    }
}

final class FirstController: ViewController {
    override func loadView() { view = FirstView() }
}

final class Delegate: ApplicationDelegate {
    func applicationWillFinishLaunching(_ application: Application) { note("will finish launching", application) }
    func applicationDidFinishLaunching(_ application: Application) {
        note("did finish launching", application)
        let window = Window()
        window.rootViewController = FirstController()
        window.makeKeyAndVisible()
    }
    func applicationDidBecomeActive(_ application: Application) { note("did become active", application) }
    func applicationWillResignActive(_ application: Application) { note("will resign active", application) }
    func applicationDidEnterBackground(_ application: Application) { note("did enter background", application) }
    func applicationWillEnterForeground(_ application: Application) { note("will enter foreground", application) }
    func applicationWillTerminate(_ application: Application) { note("will terminate", application) }
}

try TestApplication.with(delegate: Delegate()) { app in
    print("frames: \(app.display.frameCount)")
    print("Ctrl-Z")
    app.press(.character("z"), modifiers: .control)
    print("state: \(app.application.state)")
    print("fg")
    app.send(.resumed)
    print("Ctrl-C")
    app.press(.character("c"), modifiers: .control)
    print("state: \(app.application.state)")
}
