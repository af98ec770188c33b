// A pan begins on a button: the button has its touch, and loses it before the loop sleeps.

import LoopUI
import LoopUITesting
import RunLoops
import RunLoopsTesting

final class PanController: ViewController {
    let button = Button("Tap or pan me")
    var note: (String) -> Void = { _ in }

    override func viewDidLoad() {
        button.frame = Rect(0, 0, 20, 1)
        button.addAction(for: .touchDown) { [unowned self] _ in note("button: touch down") }
        button.addAction(for: .touchCancel) { [unowned self] _ in note("button: touch cancelled") }
        button.addAction(for: .primaryAction) { [unowned self] _ in note("button: tapped") }
        view.addSubview(button)
        view.addGestureRecognizer(
            PanGestureRecognizer { [unowned self] pan in
                if pan.state != .changed { note("pan: \(pan.state)") }
            })
    }
}

try TestApplication.with { app in
    let controller = PanController()
    app.show(controller)
    let recorder = RunLoop.TraceRecorder(app.manual.loop)
    controller.note = { recorder.note($0) }
    app.play(.drag(from: Point(2, 0), to: Point(12, 0), lasting: .milliseconds(100), steps: 1))

    // The sources, the observer of gestures, and what the button and the pan said.
    let telling = ["source", "observer \"gestures\"", "button:", "pan:"]
    for line in recorder.lines where telling.contains(where: line.contains) { print(line) }
}
