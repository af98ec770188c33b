// A list of bars below the prompt. What is done is printed above them, and the list shrinks; in a pipe only the lines are left.

import LoopUI
import LoopUITerminal
import RunLoops

// snippet.LIST
final class Downloads: ViewController {
    private let list = StackView(.vertical)
    private var parts: [(name: String, bar: ProgressView)] = []

    override func loadView() {
        for name in ["kernel", "library", "pages"] {
            let bar = ProgressView()
            let row = StackView(.horizontal, spacing: 1, [Label(name)])
            row.addArrangedSubview(bar, flex: 1)
            list.addArrangedSubview(row)
            parts.append((name, bar))
        }
        view = list
    }

    override func viewDidAppear() {
        // In a pipe, each change of a bar would be a line.
        if let display = Application.current?.display { list.isHidden = display.abilities.isLinear }
        let timer = RunLoop.Timer(.every(.milliseconds(50))) { [weak self] timer in
            if self?.advance() != true { timer.invalidate() }
        }
        RunLoop.main.add(timer, in: .common)
    }

    /// Goes on with each part; returns whether one is left.
    private func advance() -> Bool {
        guard let application = Application.current else { return false }
        for (number, part) in parts.enumerated() { part.bar.progress += 0.02 * Double(number + 1) }
        for part in parts where part.bar.progress >= 1 {
            application.printLine("\(part.name) is done.")
            part.bar.superview?.removeFromSuperview()
        }
        parts.removeAll { $0.bar.progress >= 1 }
        (application.display as? Terminal)?.rows = parts.count
        if parts.isEmpty { application.terminate() }
        return !parts.isEmpty
    }
}

final class Program: ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) {
        let window = Window()
        window.rootViewController = Downloads()
        window.makeKeyAndVisible()
    }
}

Application.main(Program.self, rows: 3)
// snippet.end
