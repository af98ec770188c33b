// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// What several clocks say at one time.
struct Instants {
    var monotonic: Int64
    /// Goes on while the machine is suspended, when the monotonic clock stands still.
    var boottime: Int64
    /// For how long the thread that asks has been ready to run without a processor, in all.
    var delay: Int64

    /// Of the calling thread.
    static func now() -> Instants {
        Instants(
            monotonic: SystemCalls.now(.monotonic), boottime: SystemCalls.now(.boottime),
            delay: ThreadProbe(thread: SystemCalls.threadID).processorDelay)
    }
}

/// Finds out from a thread's own lateness whether the whole process was stopped: by SIGSTOP, by a freezer, with its
/// machine.
///
/// Values in, values out.
struct StandstillClock {
    /// A thread may be so late for no reason.
    private static let tolerance: Int64 = 50_000_000

    private var before: Instants?

    /// For how many nanoseconds since the time before the process may have been stopped; usually 0.
    ///
    /// The thread asked at `askedAt` to be woken at `wanted`. Being late is no standstill where the thread was ready to
    /// run and something else had the processor: that is what the watched threads suffer from as well.
    mutating func standstill(_ now: Instants, wanted: Int64, askedAt: Int64) -> Int64 {
        defer { before = now }
        guard let before else { return 0 }
        let late = now.monotonic - max(wanted, askedAt) - (now.delay - before.delay)
        let suspended = (now.boottime - now.monotonic) - (before.boottime - before.monotonic)
        guard late > Self.tolerance || suspended > Self.tolerance else { return 0 }
        // Nobody knows when it began: all that has passed since the look before is taken for it.
        return now.monotonic - before.monotonic
    }
}
