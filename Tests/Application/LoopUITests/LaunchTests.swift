// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import RunLoopsTesting
import Testing

@MainActor private final class Greeting: View {
    var touched: [String] = []

    override func draw(in canvas: inout Canvas) { canvas.write("Hello 日本", at: Point(2, 1)) }
    override func touchesBegan(_ touches: Set<Touch>, with event: Event?) {
        touched.append("began \(touches.first!.location(in: self))")
    }
    override func touchesEnded(_ touches: Set<Touch>, with event: Event?) { touched.append("ended") }
}

/// From main to the first frame.
@MainActor @Suite struct LaunchTests {
    @Test func `A view is drawn and receives touches`() throws {
        try TestApplication.with(size: Size(20, 3)) { app in
            let view = Greeting()
            app.show(view)
            #expect(app.text == "\n  Hello 日本\n\n")
            app.tap(at: Point(4, 1))
            #expect(view.touched == ["began Point(x: 4.0, y: 1.0)", "ended"])
        }
    }

    @Test func `A window made before the display opens takes the display's size at launch`() throws {
        try ManualRunLoop.with { _ in
            let display = SyntheticDisplay(size: Size(10, 2))
            let application = Application(display: display)
            let window = Window()
            window.makeKeyAndVisible()
            display.resize(to: Size(20, 3))
            try application.launch()
            #expect(window.frame == Rect(0, 0, 20, 3))
            application.terminate()
        }
    }
}
