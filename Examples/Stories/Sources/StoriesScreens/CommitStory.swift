// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import RunLoops

/// Many marks, one pass: constraints, layout, display, prepare, commit.
final class CommitStory: Story {
    private let probe = Probe()
    private let lines = LinesView()

    init() {
        super.init(
            "A commit",
            "What changes is only marked. Before the loop sleeps, all marks become one pass of five phases: "
                + "constraints, layout, display, prepare, commit. The commit is one frame.",
            page: "OneTurn")
    }

    override func loadView() {
        let row = StackView(
            .horizontal, spacing: 1,
            [
                Button("1 mark") { [unowned self] _ in mark(1) },
                Button("100 marks") { [unowned self] _ in mark(100) },
                Button("10000 marks") { [unowned self] _ in mark(10_000) },
            ])
        let stack = StackView(.vertical, [row])
        stack.addArrangedSubview(lines, flex: 1)
        stack.addArrangedSubview(probe)
        stack.padding.top = 1
        view = stack
    }

    private func mark(_ number: Int) {
        let commit = application.commit
        let before = (phases: probe.phases.count, frames: commit.counts.frames)
        for _ in 0..<number {
            probe.setNeedsUpdateConstraints()
            probe.setNeedsLayout()
            probe.setNeedsDisplay()
        }
        commit.prepare { [probe] in probe.phases.append("prepare") }
        commit.afterCommit { [weak self] in self?.report(number, before) }
    }

    private func report(_ number: Int, _ before: (phases: Int, frames: Int)) {
        let frames = application.commit.counts.frames - before.frames
        let phases = probe.phases.dropFirst(before.phases) + Array(repeating: "frame", count: frames)
        lines.add("\(3 * number) marks → \(phases.joined(separator: ", "))")
    }
}

/// A view that notes its part in the commit.
private final class Probe: View {
    var phases: [String] = []

    override func sizeThatFits(_ size: Size) -> Size { Size(size.width, 1) }

    override func updateConstraints() { phases.append("constraints") }

    override func layoutSubviews() { phases.append("layout") }

    override func draw(in canvas: inout Canvas) {
        phases.append("display")
        let drawn = phases.count { $0 == "display" }
        canvas.write("This line was drawn \(drawn) times.", at: .zero, style: theme.secondary)
    }
}
