// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The settings and the state of one call of ``View/animate(withDuration:delay:options:animations:completion:)``.
@MainActor final class AnimationGroup {
    /// The group whose closure is running; the values that the closure sets are animated.
    static var current: AnimationGroup?

    let duration: Duration
    let delay: Duration
    let options: View.AnimationOptions
    private(set) var completion: ((Bool) -> Void)?
    /// The instant at which the values begin to move: the time of the commit after they were set, plus the delay.
    private(set) var begin: RunLoop.Instant?
    /// The number of values that have not arrived yet.
    var moves = 0
    /// Whether the closure that sets the values is running.
    var isOpen = false
    /// Whether the animator has the group in its list.
    var isListed = false
    /// Whether a value was set again, or its view left the window, before the value arrived.
    var wasInterrupted = false

    init(
        duration: Duration, delay: Duration, options: View.AnimationOptions, completion: ((Bool) -> Void)?
    ) {
        self.duration = duration
        self.delay = max(.zero, delay)
        self.options = options
        self.completion = completion
    }

    /// Sets ``begin`` to the instant plus the delay, unless it is set already.
    func begin(at instant: RunLoop.Instant) { if begin == nil { begin = instant.advanced(by: delay) } }

    /// Returns the part of the way that the values have moved at an instant, from 0 to 1; nil when they have arrived.
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
