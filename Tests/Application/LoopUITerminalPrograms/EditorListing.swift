// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The program that the guide teaches for an editor, as it is. `GuideListingTests` compares it with its file, and runs the test below,
// whose tasks need a main thread that no task has.

import Glibc
import LoopUI
import LoopUITerminal
import LoopUITesting
import RunLoops
import RunLoopsEvents

// MARK: Snippets/UIEditor.swift

@MainActor enum UIEditor {
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

        private func contents() -> String {
            guard let file = fopen(path, "r") else { return "" }
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = fread(&bytes, 1, bytes.count, file)
            return String(decoding: bytes.prefix(count), as: UTF8.self)
        }

        deinit { unlink(path) }
    }

    final class Program: ApplicationDelegate {
        func applicationDidFinishLaunching(_ application: Application) {
            let window = Window()
            window.rootViewController = Note()
            window.makeKeyAndVisible()
        }
    }
}

// MARK: the test

/// Presses the button of the editor's program in virtual time, and waits until the screen shows a text.
@MainActor func playEditor(_ text: String) {
    do {
        try TestApplication.with(size: Size(width: 60, height: 12), delegate: UIEditor.Program()) { app in
            app.press(.tab, .enter)
            let end = time(nil) + 120
            app.waitForOtherThreads { app.text.contains(text) || time(nil) > end }
            print(app.text.contains(text) ? "shown: \(text)" : app.text)
        }
    } catch {
        print("no application: \(error)")
    }
}
