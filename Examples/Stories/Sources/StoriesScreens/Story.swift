// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI

/// One story: a screen where the user does something, and a few sentences about what it shows.
@MainActor class Story: ViewController {
    /// Its name, in the list.
    let name: String
    /// What it is about.
    let explanation: String
    /// The page of the documentation that tells more.
    let page: String

    init(_ name: String, _ explanation: String, page: String) {
        self.name = name
        self.explanation = explanation
        self.page = page
        super.init()
    }

    /// The application that the story is about.
    var application: Application {
        guard let application = Application.current else { preconditionFailure("A story needs an application.") }
        return application
    }

    /// All stories, as they come in the list.
    static func all(states: StateLog) -> [Story] {
        [
            LaunchStory(states), StuckTimerStory(), TapAndPanStory(), CommitStory(), PoolStory(),
            WaitingPictureStory(), WorkStory(), SlowDrawingStory(), ModalStory(), AnimationStory(),
        ]
    }
}

/// Shows the latest of some lines.
final class LinesView: View {
    /// The lines, the latest last.
    private(set) var lines: [String] = []

    /// Adds a line at the end.
    func add(_ line: String) { show(lines.suffix(99) + [line]) }

    /// Shows other lines.
    func show(_ lines: [String]) {
        self.lines = lines
        setNeedsDisplay()
    }

    override func draw(in canvas: inout Canvas) {
        for (row, line) in lines.suffix(Int(canvas.size.height)).enumerated() {
            canvas.write(theme.signs(line), at: Point(0, Double(row)), style: theme.text)
        }
    }
}
