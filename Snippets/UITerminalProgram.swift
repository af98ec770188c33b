// A program in a terminal: a field, a button, and what they did.

import LoopUI
import LoopUITerminal

final class Greeter: ViewController {
    private let name = TextField(placeholder: "your name")
    private let answer = Label("Nobody was greeted yet.")
    private var count = 0

    override func loadView() {
        title = "Greeter"
        let greet = Button("Greet") { [weak self] _ in self?.greet() }
        name.addAction { [weak self] _ in self?.greet() }
        let stack = StackView(.vertical, spacing: 1, [Label("Who is there?"), name, greet, answer])
        stack.padding = Insets(all: 1)
        stack.alignment = .leading
        view = stack
    }

    override func viewDidAppear() { name.becomeFirstResponder() }

    private func greet() {
        count += 1
        answer.text = "\(count): hello, \(name.text.isEmpty ? "nobody" : name.text)!"
    }
}

@main final class Program: ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) {
        let window = Window()
        window.rootViewController = Greeter()
        window.makeKeyAndVisible()
    }
}
