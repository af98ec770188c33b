// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Decides whether one test hangs.
///
/// Reads no clock; all times are in nanoseconds.
struct TestPatience {
    var began: Int64
    let time: Int64
    /// For how long the process may use no processor; `nil` for any time.
    let idle: Int64?

    /// Returns why the test hangs, or when to look again.
    ///
    /// - Parameter idleSince: Since when the process has used no processor; `nil` if it has just used one.
    func look(now: Int64, idleSince: Int64?) -> (reason: TestHang.Reason?, next: Int64) {
        if now - began >= time { return (.time, .max) }
        var next = began.clampedAdding(time)
        if let idle {
            let quiet = idleSince.map { now - max($0, began) } ?? 0
            if quiet >= idle { return (.idle, .max) }
            // Four looks in the time: the process may have become idle just after a look.
            next = min(next, now.clampedAdding(max(1_000_000, min(idle - quiet, idle / 4))))
        }
        return (nil, next)
    }
}

/// Finds out from the processor time of a process since when it has been idle.
///
/// Reads no clock.
struct IdleClock {
    private var last: (time: Int64, processor: Int64)?
    /// Since when the process has used no processor; `nil` if it has used one at the last look.
    private(set) var since: Int64?

    /// Takes a look.
    ///
    /// - Parameters:
    ///   - now: The time in nanoseconds.
    ///   - processor: The processor time of the process so far, without that of the looking thread, in nanoseconds.
    mutating func look(now: Int64, processor: Int64) {
        defer { last = (now, processor) }
        guard let last else { return }
        // A thousandth: helpers of the runtime that look after their threads are no work.
        let isIdle = processor - last.processor <= (now - last.time) / 1000
        since = isIdle ? since ?? last.time : nil
    }
}
