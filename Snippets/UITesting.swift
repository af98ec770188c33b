// A box that a drag moves and two taps bring back, and its test.

import LoopUI
import LoopUITesting

// snippet.CONTROLLER
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
// snippet.end

// snippet.TEST
try TestApplication.with { app in
    let controller = BoxController()
    app.show(controller)
    app.play(.drag(from: Point(x: 5, y: 2), to: Point(x: 25, y: 10), lasting: .seconds(3)))
    precondition(controller.box.frame.origin == Point(x: 22, y: 9))
    app.tap(at: Point(x: 60, y: 20), count: 2)
    precondition(controller.box.frame.origin == Point(x: 2, y: 1))
}
// snippet.end
