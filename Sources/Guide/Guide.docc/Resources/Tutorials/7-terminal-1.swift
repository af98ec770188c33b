import LoopUI
import LoopUITerminal

@main final class Program: ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) {
        let window = Window()
        window.rootViewController = ViewController()
        window.makeKeyAndVisible()
    }
}
