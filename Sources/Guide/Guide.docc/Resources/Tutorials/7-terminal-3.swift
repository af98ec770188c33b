import LoopUI
import LoopUITerminal

final class Counter: ViewController {
    override func loadView() {
        title = "Counter"
        view = StackView(.vertical, spacing: 1, [Label("Press Enter.")])
    }

    override var keyCommands: [KeyCommand] { [KeyCommand(.character("q"), action: .quit)] }
}

@main final class Program: ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) {
        let window = Window()
        window.rootViewController = Counter()
        window.makeKeyAndVisible()
    }
}
