// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Part of the copy that Nightly/planted builds, and of nothing else.

internal import Glibc
internal import Synchronization

/// The planted bug that this process has: the environment's RUNLOOPS_PLANT names it.
package enum Plant {
    private static let wanted = getenv("RUNLOOPS_PLANT").map { String(cString: $0) } ?? ""
    private static let count = Atomic<Int>(0)
    private static let begin = time(nil)

    /// Whether this is the planted bug, and the time for it: every `rarity`-th call says yes.
    package static func grows(_ name: String, oneIn rarity: Int = 1) -> Bool {
        name == wanted && count.add(1, ordering: .relaxed).newValue % rarity == 0
    }

    /// Sleeps: longer the longer the process lives.
    package static func delay(_ factor: Int) {
        let age = time(nil) - begin
        usleep(UInt32(age * age * factor))
    }

    /// A thread that nobody ends.
    package static func idle() -> UnsafeMutableRawPointer? { while true { sleep(1000) } }
}
