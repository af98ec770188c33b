// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
package import RunLoops

/// A timer of 10 ms on a loop, which shows that nothing keeps the loop's thread.
///
/// With `RUNLOOPS_GAPS=1` the longest time between two beats is printed: a figure, which no test depends on.
package final class Heartbeat: Sendable {
    private struct State {
        var count = 0
        var last: RunLoop.Instant?
        var longest = Duration.zero
    }

    private let state: Locked<State>
    private let timer: RunLoop.Timer

    /// Begins in the loop's mode `default`.
    package init(on loop: RunLoop) {
        let state = Locked(State())
        self.state = state
        timer = RunLoop.Timer.sendable(.every(.milliseconds(10)), label: "heartbeat") { _ in
            let now = RunLoop.Instant.now
            state.withLock {
                $0.count += 1
                if let last = $0.last { $0.longest = max($0.longest, last.duration(to: now)) }
                $0.last = now
            }
        }
        loop.add(timer, in: .default)
    }

    /// Whether the timer fires `count` times more within the time that only a thread that is kept needs.
    package func goesOn(beats count: Int = 20) -> Bool {
        let goal = state.copy.count + count
        let deadline = RunLoop.Instant.now.advanced(by: min(plenty, .seconds(20)))
        while state.copy.count < goal {
            if RunLoop.Instant.now > deadline { return false }
            usleep(1000)
        }
        return true
    }

    /// Ends the timer.
    package func end(_ peer: String) {
        timer.invalidate()
        if getenv("RUNLOOPS_GAPS") != nil { print("▹ longest gap \(state.copy.longest) with a peer that \(peer)") }
    }
}
