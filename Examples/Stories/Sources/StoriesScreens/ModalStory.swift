// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import RunLoops

/// A question that holds one timer and not the other.
final class ModalStory: Story {
    private let counts = Label()
    private let report = Label(lines: 0)
    private var timers: [RunLoop.Timer] = []
    private var (inDefault, inCommon) = (0, 0)

    init() {
        super.init(
            "A modal question",
            "Two timers tick, one in the default mode and one in the common modes. The question runs the loop in the mode of "
                + "modal panels until you answer: one timer waits, and the code that asks goes on with the answer.",
            page: "Modes")
    }

    override func loadView() {
        let button = Button("Ask") { [unowned self] _ in ask() }
        let stack = StackView(.vertical, spacing: 1, [counts, button, report])
        stack.alignment = .leading
        stack.padding.top = 1
        view = stack
        showCounts()
        report.text = "Ask, and wait before you answer."
    }

    override func viewDidAppear() {
        let first = RunLoop.Timer(.every(.milliseconds(250)), label: "default ticks") { [weak self] _ in
            MainActor.assumeIsolated {
                self?.inDefault += 1
                self?.showCounts()
            }
        }
        let second = RunLoop.Timer(.every(.milliseconds(250)), label: "common ticks") { [weak self] _ in
            MainActor.assumeIsolated {
                self?.inCommon += 1
                self?.showCounts()
            }
        }
        application.loop.add(first, in: .default)
        application.loop.add(second, in: .common)
        timers = [first, second]
    }

    override func viewDidDisappear() {
        for timer in timers { timer.invalidate() }
        timers = []
    }

    private func showCounts() { counts.text = "\(inDefault) ticks in default, \(inCommon) ticks in common" }

    private func ask() {
        let alert = AlertController(title: "Which timer waits?")
        for answer in ["default", "common"] { alert.addAction(AlertAction(answer)) }
        let before = (inDefault, inCommon)
        // The call returns with the answer.
        let answer = alert.runModal(over: self)
        let (first, second) = (inDefault - before.0, inCommon - before.1)
        report.text = "Answer: \(answer?.title ?? "none"). Meanwhile: \(first) in default, \(second) in common."
    }
}
