// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
internal import Synchronization

/// A timer of a loop that ticks ten times and then calls a closure.
///
/// A closure that has the server answer is a test: while something blocks the loop's thread, the timer does not tick, and
/// no answer comes.
public final class Ticks: Sendable {
    private let count = Atomic<Int>(0)

    /// Begins to tick, every ten milliseconds.
    public init(on loop: RunLoop, then body: @escaping @Sendable () -> Void = {}) {
        let timer = RunLoop.Timer.sendable(.every(.milliseconds(10))) { [self] timer in
            guard count.add(1, ordering: .relaxed).newValue == 10 else { return }
            timer.invalidate()
            body()
        }
        loop.add(timer, in: .common)
    }

    /// Prints what has come, and how often the timer has ticked meanwhile.
    public func report(_ title: String, _ answer: String) {
        print("\(title): \(answer), \(count.load(ordering: .relaxed)) ticks meanwhile")
    }
}
