// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI

/// The launch, and the five states of a program.
final class LaunchStory: Story {
    private let states: StateLog
    private let lines = LinesView()

    init(_ states: StateLog) {
        self.states = states
        super.init(
            "The launch",
            "A program is launched in a mode of its own. Ctrl-Z sends it to the background and stops it, fg brings it "
                + "back. Nothing tells it that it is suspended: nothing runs then.",
            page: "FromTouchToPicture")
    }

    override func loadView() {
        let suspend = Button("Suspend") { [unowned self] _ in application.suspend() }
        let row = StackView(.horizontal, spacing: 1, [suspend, Label("as Ctrl-Z does; then type fg")])
        let stack = StackView(.vertical, spacing: 0, [row])
        stack.addArrangedSubview(lines, flex: 1)
        stack.padding.top = 1
        view = stack
        states.whenChanged = { [unowned self] in lines.show(states.lines) }
        lines.show(states.lines)
    }
}
