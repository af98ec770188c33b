// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import LoopUI
import RunLoops

/// What a loop can be given to do, a button each.
final class WorkStory: Story {
    private let lines = LinesView()
    private lazy var source = RunLoop.Source(label: "inbox") { [weak lines] _ in
        MainActor.assumeIsolated { lines?.add("the source was performed") }
    }

    init() {
        super.init(
            "Kinds of work",
            "Blocks run where the loop drains them, a signalled source in its place in the turn, the main queue and the "
                + "main actor's tasks after that, or when they wake the thread.",
            page: "OneTurn")
    }

    override func loadView() {
        let first = StackView(
            .horizontal, spacing: 1,
            [
                Button("Block") { [unowned self] _ in postBlock() },
                Button("Source") { [unowned self] _ in source.signal() },
                Button("Main queue") { [unowned self] _ in
                    DispatchQueue.main.async { [weak lines] in lines?.add("the main queue's block ran") }
                },
                Button("Task") { [unowned self] _ in
                    Task { [weak lines] in lines?.add("the main actor's task ran") }
                },
            ])
        let second = StackView(
            .horizontal, [Button("Source, from a thread") { [unowned self] _ in signalFromThread() }])
        let stack = StackView(.vertical, [first, second])
        stack.addArrangedSubview(lines, flex: 1)
        stack.padding.top = 1
        view = stack
    }

    override func viewDidAppear() { application.loop.add(source, in: .common) }

    override func viewDidDisappear() { application.loop.remove(source, from: .common) }

    /// A block that is added while blocks run waits for the next drain.
    private func postBlock() {
        let loop = application.loop
        loop.performLocally(in: .common) { [weak lines] in
            lines?.add("a block ran, and posts another")
            loop.performLocally(in: .common) { lines?.add("the other block ran, in a later drain") }
        }
    }

    private func signalFromThread() {
        DispatchQueue.global().async { [source, loop = application.loop] in
            source.signal()
            // The signal only marks; the loop would find the mark in its next turn, whenever that is.
            loop.wakeUp()
        }
    }
}
