// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The programs that the guide teaches for LoopUI, as they are, so that a test can run them. `GuideListingTests` compares each
// with its file.

import Dispatch
import Glibc
import LoopUI
import RunLoops

// MARK: Snippets/UIToDo.swift

@MainActor enum UIToDo {
    final class ToDoController: ViewController, TableViewDataSource, TableViewDelegate {
        private var things = ["Buy milk", "Call Ada"]
        private let field = TextField(placeholder: "What is to be done?")
        private let table = TableView()
        private let status = StatusBar(right: "Enter on a line: done   q: quit")

        override func loadView() {
            title = "To do"
            field.addAction { [weak self] _ in self?.add() }
            let button = Button("Add") { [weak self] _ in self?.add() }
            let row = StackView(.horizontal, spacing: 1)
            row.addArrangedSubview(field, flex: 1)
            row.addArrangedSubview(button)

            table.register(TableCell.init, for: "thing")
            table.dataSource = self
            table.delegate = self
            let stack = StackView(.vertical, [row])
            stack.addArrangedSubview(table, flex: 1)
            stack.addArrangedSubview(status)
            view = stack
            count()
        }

        override func viewDidAppear() { field.becomeFirstResponder() }

        override var keyCommands: [KeyCommand] { [KeyCommand(.character("q"), action: .quit)] }

        private func add() {
            guard !field.text.isEmpty else { return }
            things.append(field.text)
            field.text = ""
            table.insertRows(things.count - 1..<things.count)
            count()
        }

        private func count() { status.left = "To do: \(things.count)" }

        // MARK: The table

        func numberOfRows(in tableView: TableView) -> Int { things.count }

        func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
            let cell = tableView.dequeueCell(for: "thing")
            cell.text = things[row]
            return cell
        }

        func tableView(_ tableView: TableView, didSelectRow row: Int) {
            things.remove(at: row)
            tableView.deleteRows(row..<row + 1)
            count()
        }
    }

    final class Program: ApplicationDelegate {
        func applicationDidFinishLaunching(_ application: Application) {
            let window = Window()
            window.rootViewController = ToDoController()
            window.makeKeyAndVisible()
        }
    }
}

// MARK: Snippets/UIProgress.swift

@MainActor enum UIProgress {
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

        func numberOfRows(in tableView: TableView) -> Int { lines.count }

        func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
            let cell = tableView.dequeueCell(for: "line")
            cell.text = lines[row]
            return cell
        }
    }

    final class Program: ApplicationDelegate {
        func applicationDidFinishLaunching(_ application: Application) {
            let window = Window()
            window.rootViewController = ProgressController()
            window.makeKeyAndVisible()
        }
    }
}

// MARK: Snippets/UISlowTable.swift

@MainActor enum UISlowTable {
    /// What a row shows, as a value that another thread draws: where a sequence of numbers takes longest to reach 1.
    struct Sequences: AsyncDrawing {
        let row: Int

        func draw(in canvas: inout Canvas, layout: AsyncLayout, context: AsyncDrawingContext) {
            var best = (number: 1, steps: 0)
            for start in row * 1000 + 1...row * 1000 + 1000 where !context.isCancelled {
                var (number, steps) = (start, 0)
                while number > 1 {
                    number = number.isMultiple(of: 2) ? number / 2 : 3 * number + 1
                    steps += 1
                }
                if steps > best.steps { best = (start, steps) }
            }
            canvas.write("\(best.number) takes \(best.steps) steps", at: .zero)
        }
    }

    final class SequenceCell: TableCell {
        var row = 0 { didSet { setNeedsDisplay() } }

        override var asyncDrawing: (any AsyncDrawing)? { Sequences(row: row) }
        override func drawPlaceholder(in canvas: inout Canvas) {
            canvas.write("...", at: .zero, style: theme.secondary)
        }
    }

    final class SequencesController: ViewController, TableViewDataSource, TableViewDelegate {
        private let table = TableView()
        private let note = Label("Enter on a row", style: .init(.rgb(255, 200, 0)))

        override func loadView() {
            table.register(SequenceCell.init, for: "sequence")
            table.dataSource = self
            table.delegate = self
            let stack = StackView(.vertical, [note])
            stack.addArrangedSubview(table, flex: 1)
            view = stack
        }

        override func viewDidAppear() { table.becomeFirstResponder() }
        override var keyCommands: [KeyCommand] { [KeyCommand(.character("q")) { [weak self] in self?.quit() }] }

        func numberOfRows(in tableView: TableView) -> Int { 1_000_000 }
        func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
            let cell = tableView.dequeueCell(SequenceCell.self, for: "sequence")
            cell.row = row
            return cell
        }

        func tableView(_ tableView: TableView, didSelectRow row: Int) {
            note.text = "row \(row) was chosen"
            note.alpha = 0
            View.animate(withDuration: .milliseconds(400), options: .curveEaseOut) { note.alpha = 1 }
        }

        private func quit() {
            let alert = AlertController(title: "Leave the table?")
            let leave = AlertAction("Leave")
            alert.addAction(leave)
            alert.addAction(AlertAction("Stay", style: .cancel))
            // The loop runs in the mode of modal panels until the user has answered.
            if alert.runModal(over: self) === leave { Application.current?.terminate() }
        }
    }

    final class Program: ApplicationDelegate {
        func applicationDidFinishLaunching(_ application: Application) {
            let window = Window()
            window.rootViewController = SequencesController()
            window.makeKeyAndVisible()
        }
    }
}

// MARK: Snippets/UITerminalProgram.swift

@MainActor enum UITerminalProgram {
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

    final class Program: ApplicationDelegate {
        func applicationDidFinishLaunching(_ application: Application) {
            let window = Window()
            window.rootViewController = Greeter()
            window.makeKeyAndVisible()
        }
    }
}

// MARK: Snippets/UITesting.swift

@MainActor enum UITesting {
    /// The code under test, which does not know of the test.
    final class BoxController: ViewController {
        let box = View(frame: Rect(x: 2, y: 1, width: 12, height: 4))
        private var start = Point.zero

        override func viewDidLoad() {
            box.backgroundColor = .blue
            view.addSubview(box)
            box.addGestureRecognizer(PanGestureRecognizer { [weak self] in self?.drag($0) })
            let twoTaps = TapGestureRecognizer { [weak self] _ in self?.box.frame.origin = Point(x: 2, y: 1) }
            twoTaps.numberOfTapsRequired = 2
            view.addGestureRecognizer(twoTaps)
        }

        private func drag(_ pan: PanGestureRecognizer) {
            if pan.state == .began { start = box.frame.origin }
            box.frame.origin = start + pan.translation(in: view)
        }
    }
}

// MARK: Sources/Guide/Guide.docc/Resources/Tutorials/7-terminal-5.swift

@MainActor enum TerminalTutorial {
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

    final class Program: ApplicationDelegate {
        func applicationDidFinishLaunching(_ application: Application) {
            let window = Window()
            window.rootViewController = Counter()
            window.makeKeyAndVisible()
        }
    }
}

// MARK: Snippets/UIWindowProgram.swift

@MainActor enum UIWindowProgram {
    final class Program: ApplicationDelegate {
        func applicationDidFinishLaunching(_ application: Application) {
            let controller = ViewController()
            controller.view = Label("Hello from a window.")
            let window = Window()
            window.rootViewController = controller
            window.makeKeyAndVisible()
        }
    }
}
