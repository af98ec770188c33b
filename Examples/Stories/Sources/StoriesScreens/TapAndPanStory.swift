// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI

/// A tap that a pan takes away.
final class TapAndPanStory: Story {
    private let lines = LinesView()
    private let pan = PanGestureRecognizer()
    private let finger = Finger()
    private var taps = 0
    private lazy var cancels = Switch("the pan cancels touches in its view", isOn: true) { [unowned self] control in
        pan.cancelsTouchesInView = control.isOn
    }

    init() {
        super.init(
            "A tap and a pan",
            "Press the button, and move before you let go. The button has its touch; before the loop sleeps, the pan is "
                + "recognised and takes the touch away. Without a move it is a tap.",
            page: "FromTouchToPicture")
    }

    override func loadView() {
        let button = Button("Tap or pan me")
        button.addAction(for: .touchDown) { [unowned self] _ in lines.add("button: touch down") }
        button.addAction(for: .touchCancel) { [unowned self] _ in lines.add("button: touch cancelled") }
        button.addAction(for: .touchUpOutside) { [unowned self] _ in lines.add("button: touch up outside") }
        button.addAction(for: .primaryAction) { [unowned self] _ in
            taps += 1
            lines.add("button: tap \(taps)")
        }
        pan.addAction { [unowned self] recognizer in
            // The moves in between would fill the screen.
            if recognizer.state != .changed { lines.add("pan: \(recognizer.state)") }
        }
        let byItself = Button("Pan for me") { [unowned self] _ in
            finger.drag(button, by: Point(2, 0), lasting: .seconds(1))
        }
        let row = StackView(.horizontal, spacing: 2, [button, byItself])
        row.addArrangedSubview(View(), flex: 1)
        let stack = StackView(.vertical, [row, cancels])
        stack.addArrangedSubview(lines, flex: 1)
        stack.padding.top = 1
        stack.addGestureRecognizer(pan)
        view = stack
    }

    override func viewDidDisappear() { finger.cancel(application) }
}
