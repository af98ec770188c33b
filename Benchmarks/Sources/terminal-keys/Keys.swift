// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Counts keys and shows the last: what Benchmarks/Terminals/measure compares with other libraries.

import LoopUI
import LoopUITerminal

final class Keys: View {
    private var count = 0
    private var text = "keys: 0" { didSet { setNeedsDisplay() } }

    override func draw(in canvas: inout Canvas) { canvas.write(text, at: .zero) }

    override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        guard let key = presses.first?.text else { return super.pressesBegan(presses, with: event) }
        if key == "q" { Application.current?.terminate() }
        count += 1
        text = "keys: \(count), the last: \(key)"
    }
}

@main final class Program: ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) {
        let window = Window()
        let controller = ViewController()
        controller.view = Keys()
        window.rootViewController = controller
        window.makeKeyAndVisible()
    }
}
