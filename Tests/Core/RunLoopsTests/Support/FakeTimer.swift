// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport

@testable import RunLoops

/// What queues of timers need, and nothing else.
final class FakeTimer: QueuedTimer {
    var fire: Int64
    let slack: Int64
    var cell: UInt32 = .max

    init(fire: Int64, slack: Int64 = 0) {
        self.fire = fire
        self.slack = slack
    }

    /// Dates that collide often, are negative, or are at the ends of what can be said.
    static func randomDate(_ random: inout SeededRandom) -> Int64 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: Int64.max - Int64.random(in: 0..<3, using: &random)
        case 1: Int64.min + Int64.random(in: 0..<3, using: &random)
        case 2: Int64.random(in: .min ... .max, using: &random)
        case 3, 4: Int64.random(in: -1_000_000...1_000_000, using: &random)
        default: Int64.random(in: -5...5, using: &random)
        }
    }
}
