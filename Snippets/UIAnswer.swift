// A program that asks before it deletes, and a test that answers.

import LoopUI
import LoopUITesting

// snippet.CONTROLLER
/// The code under test, which does not know of the test.
final class FileController: ViewController {
    private let file = Label("draft.txt")

    override func loadView() {
        let delete = Button("Delete") { [weak self] _ in self?.delete() }
        view = StackView(.vertical, [file, delete])
    }

    private func delete() {
        let alert = AlertController(title: "Delete the file?")
        let yes = AlertAction("Delete", style: .destructive)
        alert.addAction(yes)
        alert.addAction(AlertAction("Keep", style: .cancel))
        // The call returns when the user has answered.
        if alert.runModal(over: self) === yes { file.text = "deleted" }
    }
}
// snippet.end

// snippet.TEST
try TestApplication.with { app in
    app.show(FileController())

    // The answer comes first: the tap returns when the question has been answered.
    app.send(.key(KeyInput(.escape)), after: .milliseconds(100))
    app.tap(at: Point(x: 3, y: 1))
    precondition(app.text.contains("draft.txt"))

    app.send(.key(KeyInput(.enter)), after: .milliseconds(100))
    app.tap(at: Point(x: 3, y: 1))
    precondition(app.text.contains("deleted"))
}
// snippet.end
