// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Jobs that wait, the more urgent before the less urgent, jobs of equal urgency first in, first out.
///
/// Belongs to one thread, or to the holder of a lock.
struct JobQueue: ~Copyable {
    /// A job that waits.
    struct Entry {
        let job: JobReference
        let urgency: Int

        init(_ job: JobReference, priority: UInt8) {
            self.job = job
            urgency = JobQueue.urgency(of: priority)
        }
    }

    static let urgencies = 5

    /// After a batch that leaves jobs, how many of the less urgent jobs are checked for an escalation.
    private static let asked = 256

    // SAFETY: one ring an urgency, the most urgent first; initialised by init, destroyed by deinit.
    private let rings: UnsafeMutablePointer<JobRing>
    /// One bit for each ring that is not empty, the lowest bit for the most urgent ring.
    private var occupied: UInt32 = 0
    /// Where the next look for escalated jobs begins, counted through the less urgent rings.
    private var lookedAt = 0

    init() {
        rings = .allocate(capacity: Self.urgencies)
        rings.initialize(repeating: JobRing(), count: Self.urgencies)
    }

    deinit {
        for urgency in 0..<Self.urgencies { rings[urgency].free() }
        rings.deallocate()
    }

    var isEmpty: Bool { occupied == 0 }

    var count: Int { (0..<Self.urgencies).reduce(0) { $0 + rings[$1].count } }

    /// The ring for a priority: Swift has five priorities, and numbers between them.
    @inline(__always)
    static func urgency(of priority: UInt8) -> Int {
        // userInteractive 33, high 25, medium 21, low 17, background 9.
        if priority > 21 { return priority > 25 ? 0 : 1 }
        if priority > 17 { return 2 }
        return priority > 9 ? 3 : 4
    }

    @inline(__always)
    mutating func append(_ entry: Entry) {
        rings[entry.urgency].append(entry.job)
        occupied |= 1 << UInt32(entry.urgency)
    }

    /// Removes and returns the oldest of the most urgent jobs.
    @inline(__always)
    mutating func removeMostUrgent() -> JobReference? {
        while occupied != 0 {
            if let job = removeFirst(occupied.trailingZeroBitCount) { return job }
        }
        return nil
    }

    /// Removes and returns the oldest of the least urgent jobs.
    mutating func removeLeastUrgent() -> JobReference? {
        while occupied != 0 {
            if let job = removeFirst(31 - occupied.leadingZeroBitCount) { return job }
        }
        return nil
    }

    @inline(__always)
    private mutating func removeFirst(_ urgency: Int) -> JobReference? {
        let job = rings[urgency].removeFirst()
        if rings[urgency].isEmpty {
            occupied &= ~(1 << UInt32(urgency))
            rings[urgency].trim()
        }
        return job
    }

    /// Moves all jobs of `other` to the end of this queue.
    mutating func append(all other: inout JobQueue) {
        while other.occupied != 0 {
            let urgency = other.occupied.trailingZeroBitCount
            if let job = other.removeFirst(urgency) {
                rings[urgency].append(job)
                occupied |= 1 << UInt32(urgency)
            }
        }
    }

    /// Lifts jobs whose tasks were escalated since the jobs were put in.
    ///
    /// Looks at a bounded number of jobs; the next call goes on where this call ends, so that every job gets a look.
    /// - Parameter priority: The present priority of a job that was put in with the given priority.
    mutating func liftEscalated(_ priority: (JobReference, UInt8) -> UInt8 = { $0.priority($1) }) {
        let waiting = (1..<Self.urgencies).reduce(0) { $0 + rings[$1].count }
        if waiting == 0 { return }
        for _ in 0..<min(waiting, Self.asked) {
            lookedAt = lookedAt &+ 1 < waiting ? lookedAt &+ 1 : 0
            lift(at: lookedAt, priority)
        }
    }

    private mutating func lift(at index: Int, _ priority: (JobReference, UInt8) -> UInt8) {
        var index = index
        for urgency in 1..<Self.urgencies {
            if index >= rings[urgency].count {
                index -= rings[urgency].count
                continue
            }
            guard let job = rings[urgency][index] else { return }
            let present = Self.urgency(of: priority(job, 0))
            if present < urgency {
                rings[urgency][index] = nil
                rings[present].append(job)
                occupied |= 1 << UInt32(present)
            }
            return
        }
    }
}
