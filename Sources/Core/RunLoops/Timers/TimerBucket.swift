// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The timers that are in the same modes and count on the same clock.
///
/// A timer is in one bucket, however many modes it is in, so that it has one entry in one heap. A mode has an array of
/// the few buckets whose timers fire in it; a bucket knows its modes by their numbers.
struct TimerBucket: ~Copyable {
    private(set) var clock: RunLoop.ClockID
    /// The numbers of the bucket's modes, in ascending order; at least one.
    private(set) var modes: [Int]
    // Stored, because each fire reads it.
    private(set) var hasSeveralModes: Bool
    /// The number of the bucket's timers and delayed closures, including timers whose callouts are under way.
    var count = 0
    var queue: TimerQueue<RunLoop.Timer>

    init(number: BucketNumber, clock: RunLoop.ClockID, modes: [Int]) {
        queue = TimerQueue(number: number)
        self.clock = clock
        self.modes = modes
        hasSeveralModes = modes.count > 1
    }

    /// Uses the bucket for other timers.
    ///
    /// - Precondition: empty.
    mutating func reuse(_ clock: RunLoop.ClockID, _ modes: [Int]) {
        (self.clock, self.modes, hasSeveralModes) = (clock, modes, modes.count > 1)
    }

    var isEmpty: Bool { count == 0 }

    func isVacant() -> Bool { count == 0 }
    func firstDate() -> Int64 { queue.firstDate }
    func sleepLimit() -> Int64 { queue.sleepLimit }
    func queueCount() -> Int { queue.count }
    func firstToServe(at now: Int64, isAwakeAnyway: Bool) -> Int64? {
        queue.firstToServe(at: now, isAwakeAnyway: isAwakeAnyway)
    }

    func visit(
        _ list: borrowing DueList<RunLoop.Timer>, _ body: (TimerHeap.Entry, RunLoop.Timer?, ItemLabel?) -> Void
    ) { queue.visit(list, body) }

    func contains(_ mode: Int) -> Bool { modes[0] == mode || hasSeveralModes && modes.contains(mode) }
}

extension Numbered<TimerBucket> {
    subscript(number: BucketNumber) -> TimerBucket {
        // SAFETY: a bucket's number is made of its index.
        unsafeAddress { UnsafePointer(base + number.index) }
        unsafeMutableAddress { base + number.index }
    }
}
