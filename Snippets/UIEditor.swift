// A note in a terminal, edited in the user's own editor.

import Glibc
import LoopUI
import LoopUITerminal
import RunLoops
import RunLoopsEvents

final class Note: ViewController {
    private let text = Label("", lines: 0)
    private let path = "/tmp/note-\(getpid())"

    override func loadView() {
        title = "Note"
        let edit = Button("Edit") { [weak self] _ in
            Task { await self?.edit() }
        }
        let stack = StackView(.vertical, spacing: 1, [text, edit])
        stack.alignment = .leading
        view = stack
    }

    // snippet.EDIT
    private func edit() async {
        guard let application = Application.current else { return }
        let editor = getenv("EDITOR").map { String(cString: $0) } ?? "vi"
        do {
            let exit = try await application.withTerminalReleased {
                // $EDITOR may have arguments, as in "code --wait".
                let child = try Child.spawn(
                    .path("/bin/sh"), arguments: ["-c", "\(editor) \"$1\"", "edit", path])
                return try await application.loop.exit(of: child)
            }
            text.text = exit.status == .exited(0) ? contents() : "\(editor): \(exit.status)"
        } catch {
            text.text = "\(editor): \(error)"
        }
    }
    // snippet.end

    private func contents() -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    deinit { unlink(path) }
}

@main final class Program: ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) {
        let window = Window()
        window.rootViewController = Note()
        window.makeKeyAndVisible()
    }
}
