// Lines that a thread finds, a bar that shows how far it is, and a clock that goes on while the user scrolls.

import Dispatch
import Glibc
import LoopUI
import LoopUITerminal
import RunLoops

final class ProgressController: ViewController, TableViewDataSource {
    private let bar = ProgressView()
    private let clock = Label("0 s")
    private let table = TableView()
    private var lines: [String] = []

    override func loadView() {
        table.register(TableCell.init, for: "line")
        table.dataSource = self
        table.follows = true
        let stack = StackView(.vertical, [bar, clock])
        stack.addArrangedSubview(table, flex: 1)
        view = stack
    }

    override var keyCommands: [KeyCommand] { [KeyCommand(.character("q"), action: .quit)] }

    // snippet.TIMER
    private var timer: RunLoop.Timer?
    private var seconds = 0

    override func viewDidAppear() {
        table.becomeFirstResponder()
        let timer = RunLoop.Timer(.every(.seconds(1))) { [weak self] _ in
            guard let self else { return }
            seconds += 1
            clock.text = "\(seconds) s"
        }
        RunLoop.main.add(timer, in: .common)
        self.timer = timer
        findLines()
    }

    override func viewDidDisappear() { timer?.invalidate() }
    // snippet.end

    // snippet.THREAD
    private func findLines() {
        DispatchQueue.global().async { [weak self] in
            for number in 1...200 {
                usleep(50_000)
                RunLoop.performOnMainActor(in: .common) { [weak self] in
                    self?.found("line \(number)", progress: Double(number) / 200)
                }
            }
        }
    }

    private func found(_ line: String, progress: Double) {
        lines.append(line)
        table.insertRows(lines.count - 1..<lines.count)
        bar.progress = progress
    }
    // snippet.end

    func numberOfRows(in tableView: TableView) -> Int { lines.count }

    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        let cell = tableView.dequeueCell(for: "line")
        cell.text = lines[row]
        return cell
    }
}

@main final class Program: ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) {
        let window = Window()
        window.rootViewController = ProgressController()
        window.makeKeyAndVisible()
    }
}
