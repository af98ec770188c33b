// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops

/// Time limits as deadlines of the monotonic clock.
enum Deadline {
    /// Do not wait at all.
    static let none = Int64.min
    /// Wait without a limit.
    static let never = Int64.max

    /// Sleeps, at most until the deadline; returns false if the deadline has passed before.
    static func sleep(_ nanoseconds: Int64, until deadline: Int64) -> Bool {
        let now = SystemCalls.now(.monotonic)
        if now >= deadline { return false }
        let end = min(now.clampedAdding(nanoseconds), deadline)
        // A word that nobody changes or wakes.
        let word: UInt32 = 0
        withUnsafePointer(to: word) { while rl_futex_wait($0, 0, end) != -Errors.timedOut {} }
        return true
    }

    static func after(_ limit: Duration?) -> Int64 {
        guard let limit else { return never }
        let nanoseconds = limit.clampedNanoseconds
        return nanoseconds <= 0 ? none : SystemCalls.now(.monotonic).clampedAdding(nanoseconds)
    }
}
