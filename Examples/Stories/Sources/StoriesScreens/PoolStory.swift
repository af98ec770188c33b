// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import RunLoops
import RunLoopsKit

/// Objects that live until the turn ends.
final class PoolStory: Story {
    private let lines = LinesView()

    init() {
        super.init(
            "Release pools",
            "Objects that are handed to the loop's pool live through the callout and the commit, and are released before "
                + "the loop sleeps, by the last of all observers.",
            page: "PartsOfTheKit")
    }

    override func loadView() {
        let row = StackView(
            .horizontal, spacing: 1,
            [
                Button("Hand over 1") { [unowned self] _ in handOver(1) },
                Button("1000") { [unowned self] _ in handOver(1000) },
            ])
        let stack = StackView(.vertical, [row])
        stack.addArrangedSubview(lines, flex: 1)
        stack.padding.top = 1
        view = stack
    }

    private func handOver(_ number: Int) {
        for _ in 0..<number { RunLoop.ReleasePool.hold(Ball()) }
        lines.add("handed over \(number); in the callout \(Ball.alive) alive")
        let atCommit = RunLoop.Observer(
            [.beforeWaiting, .exit], order: RunLoop.Transaction.commitOrder, repeats: false, label: "count at commit"
        ) { [weak self] _, _ in MainActor.assumeIsolated { self?.countAtCommit() } }
        application.loop.add(atCommit, in: .common)
    }

    private func countAtCommit() {
        lines.add("  at the commit \(Ball.alive) alive")
        let afterSleep = RunLoop.Timer(.after(.zero), label: "count after the sleep") { [weak lines] _ in
            MainActor.assumeIsolated { lines?.add("  after the sleep \(Ball.alive) alive") }
        }
        application.loop.add(afterSleep, in: .common)
    }
}

/// An object whose life is counted.
@MainActor private final class Ball {
    private(set) static var alive = 0

    init() { Self.alive += 1 }

    isolated deinit { Self.alive -= 1 }
}
