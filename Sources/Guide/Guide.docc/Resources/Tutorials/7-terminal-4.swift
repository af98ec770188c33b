import LoopUI
import LoopUITerminal

final class Counter: ViewController {
    private let answer = Label("Press Enter.")
    private let button = Button("Count")
    private var count = 0

    override func loadView() {
        title = "Counter"
        button.addAction { [weak self] _ in self?.press() }
        view = StackView(.vertical, spacing: 1, [answer, button])
    }

    override func viewDidAppear() { button.becomeFirstResponder() }

    private func press() {
        count += 1
        answer.text = "Pressed: \(count)"
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
