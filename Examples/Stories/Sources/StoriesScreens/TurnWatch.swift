// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import RunLoops
import RunLoopsDiagnostics

/// Records the loop of an application, and has the log shown a moment after something was done.
///
/// Showing is done in a wake-up of its own, 50 ms later, so that what is shown is not disturbed, and complete. That
/// wake-up and its frame are no news: a program with nothing to do sleeps.
@MainActor package final class TurnWatch {
    /// What was recorded.
    package private(set) var book = TurnBook()
    /// Called when there is something to show.
    var whenChanged: (() -> Void)?

    private static let delay = Duration.milliseconds(50)
    // A wake-up is about thirty events.
    private let recording = RunLoop.Recording(capacity: 1024)
    private let loop: RunLoop
    private var observer: RunLoop.Observer?
    private var timer: RunLoop.Timer?
    private var taken = 0
    private var isShowing = false

    /// Records a loop.
    init(_ loop: RunLoop) {
        self.loop = loop
        recording.add(loop)
        // Before the commit, which draws what the timer has asked for.
        let observer = RunLoop.Observer(
            [.beforeWaiting, .exit], order: CommitTransaction.afterCommitOrder - 1, label: TurnBook.ownLabel
        ) { [weak self] _, _ in MainActor.assumeIsolated { self?.look() } }
        loop.add(observer, in: .common)
        self.observer = observer
    }

    isolated deinit {
        recording.stop()
        observer?.invalidate()
        timer?.invalidate()
    }

    private func look() {
        // What comes before the log is shown will be in it.
        guard timer == nil else { return }
        take()
        guard book.judge(isShowing: isShowing) else { return }
        let timer = RunLoop.Timer(.after(Self.delay), label: TurnBook.ownLabel) { [weak self] _ in
            MainActor.assumeIsolated { self?.show() }
        }
        self.timer = timer
        loop.add(timer, in: .common)
    }

    private func show() {
        timer = nil
        take()
        isShowing = true
        whenChanged?()
    }

    /// The log is in the frame.
    func wasDrawn() { isShowing = false }

    /// Takes the events that were recorded since the last time; events that were overwritten are lost.
    private func take() {
        guard let trace = recording.trace().loops.first else { return }
        book.take(trace.events.dropFirst(max(0, taken - trace.lost)))
        taken = trace.lost + trace.events.count
    }
}
