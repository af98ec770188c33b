// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import BenchKit
internal import RunLoops

/// Counts the turns of a loop and takes the time of all turns after the first few. Belongs to one thread.
final class Turns: @unchecked Sendable {
    var random = bk_random_seeded()
    private let count: Int
    private var left: Int
    private var began: Int64 = 0
    private var ended: Int64 = 0

    init(_ count: Int) {
        self.count = count
        // A tenth to warm up.
        left = count + count / 10
    }

    /// Called in each turn; `again` brings about the next.
    func next(_ again: () -> Void) {
        if left == count { began = bk_now() }
        if left == 0 {
            ended = bk_now()
            RunLoop.current.stop()
            return
        }
        left -= 1
        again()
    }

    /// Runs until all turns are over; nanoseconds a turn.
    func run(_ loop: RunLoop) -> Double {
        loop.run()
        return Double(ended - began) / Double(count)
    }
}

/// Items that their own callouts choose from. One thread's own.
final class Many<Item>: @unchecked Sendable {
    var items: [Item] = []

    func random(_ random: inout bk_random) -> Item { items[Int(bk_random_below(&random, UInt64(items.count)))] }
}
