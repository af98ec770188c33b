// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A terminal application with Foundation's timers in it: not a line of it names this package's loop.

import CoreFoundation
import Foundation
import LoopUI
import LoopUITerminal

/// Shows what Foundation's main loop has called; `q` ends the program.
final class Board: View {
    private var fires = 0
    private var isPerformed = false

    override var canBecomeFirstResponder: Bool { true }

    override func draw(in canvas: inout Canvas) {
        canvas.write("\(min(fires, 5)) fires, a closure of a thread: \(isPerformed).", at: Point(2, 1))
    }

    override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        if presses.contains(where: { $0.key == .character("q") }) { Application.current?.terminate() }
        super.pressesBegan(presses, with: event)
    }

    func start() {
        let board = self
        _ = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: true) { _ in
            MainActor.assumeIsolated {
                board.fires += 1
                if board.fires <= 5 { board.setNeedsDisplay() }
            }
        }
        Thread.detachNewThread {
            RunLoop.main.perform {
                MainActor.assumeIsolated {
                    board.isPerformed = true
                    board.setNeedsDisplay()
                }
            }
            CFRunLoopWakeUp(CFRunLoopGetMain())
        }
    }
}

final class Program: ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) {
        let board = Board()
        let controller = ViewController()
        controller.view = board
        let window = Window()
        window.rootViewController = controller
        window.makeKeyAndVisible()
        board.becomeFirstResponder()
        board.start()
    }
}

Application.main(Program.self)
