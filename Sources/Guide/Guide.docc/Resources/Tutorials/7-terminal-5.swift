import LoopUI
import LoopUITerminal
import RunLoops

final class Counter: ViewController {
    private let answer = Label("Press Enter.")
    private let hint = Label("")
    private let button = Button("Count")
    private var count = 0

    override func loadView() {
        title = "Counter"
        button.addAction { [weak self] _ in self?.press() }
        view = StackView(.vertical, spacing: 1, [answer, button, hint])
    }

    private func press() {
        count += 1
        answer.text = "Pressed: \(count)"
    }

    override func viewDidAppear() {
        button.becomeFirstResponder()
        let timer = RunLoop.Timer(.after(.seconds(1))) { [weak self] _ in
            self?.hint.text = "The key q ends the program."
        }
        RunLoop.main.add(timer, in: .common)
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
