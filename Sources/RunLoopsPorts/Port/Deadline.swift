// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Time limits as deadlines of the monotonic clock.
enum Deadline {
    /// Do not wait at all.
    static let none = Int64.min
    /// Wait for ever.
    static let never = Int64.max

    static func after(_ limit: Duration?) -> Int64 {
        guard let limit else { return never }
        let nanoseconds = limit.clampedNanoseconds
        return nanoseconds <= 0 ? none : SystemCalls.now(.monotonic).clampedAdding(nanoseconds)
    }
}
