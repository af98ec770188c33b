// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// One call of ``View/animate(withDuration:delay:options:animations:completion:)``: what its values have in common.
@MainActor final class AnimationGroup {
    /// The group whose closure is running; values that are set meanwhile move.
    static var current: AnimationGroup?

    let duration: Duration
    let delay: Duration
    let options: View.AnimationOptions
    private(set) var completion: ((Bool) -> Void)?
    /// When the values begin to move: the time of the commit after they were set, and the delay.
    private(set) var begin: RunLoop.Instant?
    /// How many values are on their way.
    var moves = 0
    /// Whether the closure that sets the values is running.
    var isOpen = false
    /// Whether the animator has the group in its list.
    var isListed = false
    /// Whether one of them was set anew, or its view has left the window, before it was there.
    var wasInterrupted = false

    init(
        duration: Duration, delay: Duration, options: View.AnimationOptions, completion: ((Bool) -> Void)?
    ) {
        self.duration = duration
        self.delay = max(.zero, delay)
        self.options = options
        self.completion = completion
    }

    /// Sets the beginning, unless it is set.
    func begin(at instant: RunLoop.Instant) { if begin == nil { begin = instant.advanced(by: delay) } }

    /// How far the values are on their way; nil when they are there.
    func way(at instant: RunLoop.Instant) -> Double? {
        guard let begin else { return 0 }
        let passed = begin.duration(to: instant) / duration
        if passed < 0 { return 0 }
        let reverses = options.contains(.autoreverse)
        if !options.contains(.repeat), passed >= (reverses ? 2 : 1) { return nil }
        let part = passed.truncatingRemainder(dividingBy: 1)
        let isBack = reverses && passed.truncatingRemainder(dividingBy: 2) >= 1
        return options.curve.way(after: isBack ? 1 - part : part)
    }

    /// Calls the completion, once.
    func complete() {
        let body = completion
        completion = nil
        body?(!wasInterrupted)
    }
}
