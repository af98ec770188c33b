// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import LoopUI
import LoopUITerminal

/// A program on some rows of the screen: `p` prints a line above them, `+` and `-` change their number, `q` ends it.
final class PartProgram: ApplicationDelegate {
    private let controller = PartController()

    func applicationDidFinishLaunching(_ application: Application) {
        let window = Window()
        window.rootViewController = controller
        window.makeKeyAndVisible()
        controller.view.becomeFirstResponder()
    }
}

final class PartController: ViewController {
    override func loadView() { view = PartView() }
}

/// Each row has its number, the size, and how many keys have come.
final class PartView: View {
    private var keys = 0

    override var canBecomeFirstResponder: Bool { true }

    override func draw(in canvas: inout Canvas) {
        let (columns, rows) = (Int(canvas.size.width), Int(canvas.size.height))
        for row in 0..<rows {
            canvas.write(
                "row \(row) of \(rows), \(columns) columns, \(keys) keys.", at: Point(0, Double(row)),
                style: Style(.cyan)
            )
        }
    }

    override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        for press in presses {
            keys += 1
            setNeedsDisplay()
            guard let application = Application.current else { return }
            let terminal = application.display as? Terminal
            switch press.key {
            case .character("p"): application.printLine("printed \(keys)\u{1B}.")
            case .character("+"): terminal?.rows = (terminal?.rows ?? 0) + 2
            case .character("-"): terminal?.rows = (terminal?.rows ?? 0) - 2
            case .character("n"): application.presentNotification("notified")
            case .character("x"): abort()
            case .character("q"): application.terminate()
            default: break
            }
        }
        super.pressesBegan(presses, with: event)
    }
}
