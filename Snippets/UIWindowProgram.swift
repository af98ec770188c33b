// A program in a window, or in the terminal where there is neither a Wayland compositor nor an X server.

// snippet.hide
#if Window
// snippet.show
import LoopUI
import LoopUITerminal
import LoopUIWindow

final class Program: ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) {
        let controller = ViewController()
        controller.view = Label("Hello from a window.")
        let window = Window()
        window.rootViewController = controller
        window.makeKeyAndVisible()
    }
}

do {
    try Application.runInWindow(Program.self)
} catch {
    Application.main(Program.self)
}
// snippet.hide
#endif
// snippet.show
