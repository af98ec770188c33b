// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The timers and closures that were due when a serving began, in the order of their dates: Specification 3.3.10.
///
/// What is listed is in no heap. It leaves the list when it is served, gets another date, leaves its modes, or goes back
/// into its queue for a nested run. Its place stays, so that the serving looks at it again when its turn comes.
///
/// Servings are nested: the list of an inner serving begins where the list of the outer serving ends, which has gone back
/// into its queues. Guarded by the loop's lock. `count` and `next` change on the loop's thread alone.
/// Memory: 32 bytes a place, up to twice that while the table grows.
package struct DueList<Timer: AnyObject>: ~Copyable {
    /// What a place stands for.
    package enum Content {
        /// What is still listed: its queue has it.
        case listed
        /// A timer that has left the list, with a reference of the list's own.
        case timer(Unmanaged<Timer>)
        /// A closure that is in the heap again: the slot of the entry is its cell, the sequence its number.
        case closure
        /// Nothing: a cancelled closure.
        case gone
    }

    package struct Member {
        package fileprivate(set) var entry: TimerHeap.Entry
        package let queue: BucketNumber
        package fileprivate(set) var content: Content
    }

    /// What an outer serving has, while an inner one is under way.
    package struct Outer {
        fileprivate let next: Int
        fileprivate let count: Int
    }

    // SAFETY: of members without counted references; moved as bytes.
    private var members = TimerMemory<Member>()
    private var count = 0
    /// The place whose turn is next.
    private var next = 0
    /// How many are listed.
    package private(set) var listedCount = 0

    package init() {}

    /// Whether the innermost serving has places left to look at.
    @inline(__always)
    package var hasRest: Bool { next < count }

    package subscript(place: Int) -> Member {
        @inline(__always) get { members.base[place] }
    }

    // MARK: Servings

    /// A serving begins, with an empty list.
    ///
    /// - Precondition: what an outer serving had listed was put back.
    @inline(__always)
    package mutating func begin() -> Outer {
        assert(listedCount == 0, "A serving has begun while another has timers on its list.")
        defer { next = count }
        return Outer(next: next, count: count)
    }

    /// Lists an entry behind all others; returns its place.
    @inline(__always)
    package mutating func append(_ entry: TimerHeap.Entry, of queue: BucketNumber) -> Int {
        // Pages from the beginning on: a table that grows by small blocks leaves its blocks in glibc's heap.
        if count == members.capacity { members.resize(to: max(128, count * 2)) }
        (members.base + count).initialize(to: Member(entry: entry, queue: queue, content: .listed))
        count += 1
        listedCount += 1
        return count - 1
    }

    /// The place whose turn it is; `nil` at the end.
    @inline(__always)
    package mutating func takeNext() -> Int? {
        if next == count { return nil }
        defer { next += 1 }
        return next
    }

    /// Takes what a place stands for when it is no longer listed; a reference goes to the caller.
    package mutating func take(_ place: Int) -> Content {
        defer { members.base[place].content = .gone }
        return members.base[place].content
    }

    /// A serving ends: the outer one goes on.
    @inline(__always)
    package mutating func end(_ outer: Outer) {
        (next, count) = (outer.next, outer.count)
    }

    /// Takes the references of all servings, which will not go on.
    ///
    /// - Precondition: nothing is listed.
    package mutating func takeAll() -> [Timer] {
        var all: [Timer] = []
        for place in 0..<count { if case .timer(let timer) = take(place) { all.append(timer.takeRetainedValue()) } }
        return all
    }

    // MARK: Places. For queues.

    /// What was listed is served.
    @inline(__always)
    mutating func serve() { listedCount -= 1 }

    /// A timer leaves the list, which keeps it until its turn.
    mutating func leave(_ place: Int, _ timer: Unmanaged<Timer>) {
        listedCount -= 1
        members.base[place].content = .timer(timer.retain())
    }

    /// A closure goes back into its queue; it is known by its cell and its number from here on.
    mutating func leave(_ place: Int, closureAt cell: UInt32, number: UInt32) {
        listedCount -= 1
        let date = members.base[place].entry.date
        members.base[place].entry = TimerHeap.Entry(date: date, sequence: number, slot: cell)
        members.base[place].content = .closure
    }

    /// A closure is cancelled.
    mutating func leave(_ place: Int) {
        listedCount -= 1
        members.base[place].content = .gone
    }

    /// The first place from `start` on where something of the queue is listed.
    @inline(__always)
    func first(of queue: BucketNumber, from start: Int) -> Int? {
        for place in start..<count where isListed(place, of: queue) { return place }
        return nil
    }

    @inline(__always)
    private func isListed(_ place: Int, of queue: BucketNumber) -> Bool {
        guard case .listed = members.base[place].content else { return false }
        return members.base[place].queue == queue
    }

    /// Whether it is this slot of the queue that is listed at a place, which may be an earlier serving's.
    func has(_ slot: UInt32, of queue: BucketNumber, at place: Int) -> Bool {
        next <= place && place < count && isListed(place, of: queue) && members.base[place].entry.slot == slot
    }

    /// The slot of whatever is at a place, perhaps in another queue; `nil` past the end.
    @inline(__always)
    func slot(at place: Int) -> UInt32? { place < count ? members.base[place].entry.slot : nil }

    /// The first place from `start` on that is listed.
    package func firstListed(from start: Int) -> Int? {
        if listedCount == 0 { return nil }
        return (max(start, next)..<count).first { if case .listed = members.base[$0].content { true } else { false } }
    }

    /// Calls `body` with all that is listed.
    package func visit(_ body: (Member) -> Void) {
        if listedCount == 0 { return }
        for place in next..<count { if case .listed = members.base[place].content { body(members.base[place]) } }
    }

    // MARK: Memory

    package var isRoomy: Bool { members.isRoomy(for: count) }

    /// Releases the memory that a burst has left.
    package mutating func trim() {
        members.resize(to: max(TimerMemory<Member>.leastKept, count * 2))
    }
}
