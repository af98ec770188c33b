// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Synchronization

/// A loop whose thread ends when the test wants.
final class EndingLoop: Sendable {
    let loop: RunLoop
    private let runs: Bool
    private let thread: TestThread
    private let signs: Signs

    private final class Signs: Sendable {
        let mayEnd = Atomic<Bool>(false)
        /// Whether the loop has let its items go.
        let isOver = Atomic<Bool>(false)
    }

    /// - Parameter runs: Whether the thread runs the loop until it ends.
    init(runs: Bool) {
        let signs = Signs()
        let found = Locked<RunLoop?>(nil)
        let permit = Permit()
        thread = TestThread {
            let loop = RunLoop.current
            let keeper = RunLoop.Source.sendable(
                cancel: { _, _ in signs.isOver.store(true, ordering: .releasing) }, handler: { _ in })
            loop.add(keeper, in: .default)
            found.withLock { $0 = loop }
            permit.signal()
            if runs { loop.runUntilStopped() }
            while !signs.mayEnd.load(ordering: .acquiring) { sched_yield() }
        }
        permit.wait()
        loop = found.copy!
        self.runs = runs
        self.signs = signs
    }

    /// Whether the loop has let its items go; takes no lock, which would keep the threads of a race in step.
    var isOver: Bool { signs.isOver.load(ordering: .acquiring) }

    /// Has the thread end, soon.
    func tellEnd() {
        signs.mayEnd.store(true, ordering: .releasing)
        if runs { loop.perform { RunLoop.current.stop() } }
    }

    func join() { thread.join() }

    /// Spins for a while that grows with `count`.
    func idle(_ count: Int) { for _ in 0..<count { _ = isOver } }
}

/// Finds how long to wait for a call to meet the end of a thread, and counts what came first.
struct EndAim: CustomStringConvertible {
    private(set) var delay = 500
    private(set) var before = 0
    private(set) var during = 0
    private(set) var after = 0

    /// Whether a call was seen on either side of the end.
    var hasBothSides: Bool { before > 0 && after > 0 }

    var description: String { "\(before) calls before the end, \(during) during it, \(after) after it" }

    /// Makes the call, notes whether the end came before it, and aims anew.
    mutating func call(_ loop: EndingLoop, _ random: inout SeededRandom, _ body: () -> Void) {
        loop.tellEnd()
        loop.idle(Int.random(in: delay / 2...delay, using: &random))
        let wasOver = loop.isOver
        body()
        if wasOver {
            after += 1
            delay = max(2, delay - delay / 8)
        } else if loop.isOver {
            during += 1
        } else {
            before += 1
            delay += delay / 8 + 1
        }
    }
}
