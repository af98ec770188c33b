// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import BenchKit

/// Counts down the operations of a round and times it: a tenth of one to warm up, then as many as the medians want.
@usableFromInline
struct Rounds: ~Copyable {
    @usableFromInline let total: Int64
    @usableFromInline let done: Gate
    @usableFromInline var left: Int64
    @usableFromInline var repetition: Int64 = 0
    @usableFromInline var began: Int64 = 0

    /// Opens `done` after the last round.
    @inlinable
    init(of total: Int64, _ done: Gate) {
        self.total = total
        self.done = done
        left = total / 10
    }

    /// One operation is done; whether there is another, in this round or the next.
    @inlinable @inline(__always)
    mutating func goesOn() -> Bool {
        left -= 1
        return left > 0 || nextRound()
    }

    @inlinable
    mutating func nextRound() -> Bool {
        let now = bk_now()
        if began != 0 {
            bk_repeat("ns", Double(now - began) / Double(total))
            repetition += 1
        }
        guard bk_again(repetition) else {
            done.open()
            return false
        }
        left = total
        began = bk_now()
        return true
    }
}
