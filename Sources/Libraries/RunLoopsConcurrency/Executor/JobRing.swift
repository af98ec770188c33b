// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Jobs in a ring of memory: put in at the end, taken out at the beginning, without an allocation for each job.
///
/// Not copied: ``JobQueue``, which owns the rings, releases the memory.
struct JobRing {
    // SAFETY: `capacity` places, of which `count` from `first` on, around the end, hold jobs.
    // `nil` is the place of a job that was lifted to another ring.
    private var base: UnsafeMutablePointer<JobReference?>?
    private var capacity = 0
    private var first = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    @inline(__always)
    mutating func append(_ job: JobReference) {
        if count == capacity { grow() }
        // A power of two: a mask gives the remainder of the division.
        base.unsafelyUnwrapped[(first &+ count) & (capacity &- 1)] = job
        count &+= 1
    }

    /// Removes and returns the first job; `nil` where the job was lifted.
    ///
    /// - Precondition: the ring is not empty.
    @inline(__always)
    mutating func removeFirst() -> JobReference? {
        let job = base.unsafelyUnwrapped[first]
        first = (first &+ 1) & (capacity &- 1)
        count &-= 1
        return job
    }

    /// The job at `index` from the beginning, to be looked at or lifted.
    subscript(index: Int) -> JobReference? {
        get { base.unsafelyUnwrapped[(first &+ index) & (capacity &- 1)] }
        nonmutating set { base.unsafelyUnwrapped[(first &+ index) & (capacity &- 1)] = newValue }
    }

    /// Releases the memory, if there is more than a burst's worth of it and no job in it.
    mutating func trim() {
        if isEmpty, capacity > 4096 { free() }
    }

    mutating func free() {
        base?.deallocate()
        base = nil
        (capacity, first, count) = (0, 0, 0)
    }

    @inline(never)
    private mutating func grow() {
        let larger = max(64, capacity * 2)
        let new = UnsafeMutablePointer<JobReference?>.allocate(capacity: larger)
        for index in 0..<count { (new + index).initialize(to: self[index]) }
        (new + count).initialize(repeating: nil, count: larger - count)
        base?.deallocate()
        (base, capacity, first) = (new, larger, 0)
    }
}
