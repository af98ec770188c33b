// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The timers and closures that were due when a serving began, in the order of their dates: Specification 3.3.10.
///
/// A serving is one call of ``RunLoop/fireTimers(_:)``. It first moves the due entries from the heaps to this list,
/// where each entry has a place: its index. While an entry is listed, it is in no heap. An entry is no longer listed
/// when it is served, gets another date, is removed from its modes, or is put back into its queue for a nested run. Its
/// place stays, so that the serving checks the timer or closure again when it comes to that place.
///
/// Servings are nested: the list of an inner serving begins at the end of the list of the outer serving, whose entries
/// are back in their queues. `count` and `next` change on the loop's thread alone. Memory: 32 bytes a place, up to twice that while the table grows.
struct DueList<Timer: AnyObject>: ~Copyable {
    /// What a place contains.
    enum Content {
        /// A listed entry; its queue stores the timer or closure.
        case listed
        /// A timer that is no longer listed; the list has a reference of its own to it.
        case timer(Unmanaged<Timer>)
        /// A closure that is no longer listed, by its generation; if the cell of the entry has another one, the closure
        /// was cancelled, or called in a nested run.
        case closure(generation: UInt32)
    }

    struct Member: BitwiseCopyable {
        // Not stored as a `Content`: with two kinds of payload, 40 bytes, and a mask and a shift at each look.
        private enum Kind: UInt8 {
            case listed, timer, closure
        }

        let entry: TimerHeap.Entry
        let queue: BucketNumber
        private var kind = Kind.listed
        /// The address of the timer, or the generation of the closure.
        private var word: UInt = 0

        fileprivate init(_ entry: TimerHeap.Entry, of queue: BucketNumber) { (self.entry, self.queue) = (entry, queue) }

        var isListed: Bool { kind == .listed }

        fileprivate var content: Content {
            get {
                switch kind {
                case .listed: .listed
                // SAFETY: the address of the timer that was set; the list has a reference to it.
                case .timer: .timer(.fromOpaque(UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped))
                case .closure: .closure(generation: UInt32(truncatingIfNeeded: word))
                }
            }
            set {
                switch newValue {
                case .listed: kind = .listed
                case .timer(let timer): (kind, word) = (.timer, UInt(bitPattern: timer.toOpaque()))
                case .closure(let generation): (kind, word) = (.closure, UInt(generation))
                }
            }
        }
    }

    /// The positions of an outer serving, while an inner one is under way.
    struct Outer {
        fileprivate let next: Int
        fileprivate let count: Int
    }

    // SAFETY: of members whose references are unmanaged, so that they can be moved as bytes.
    private var members = TimerMemory<Member>()
    private var count = 0
    /// The place that is served next.
    private var next = 0
    /// The number of listed entries.
    private(set) var listedCount = 0

    init() {}

    /// Whether the innermost serving has places left that it has not come to.
    var hasRest: Bool { next < count }

    subscript(place: Int) -> Member {
        get { members.base[place] }
    }

    // MARK: Servings

    /// Begins a serving, with an empty list.
    ///
    /// - Precondition: the listed entries of an outer serving were put back.
    mutating func begin() -> Outer {
        assert(listedCount == 0, "A serving has begun while another has timers on its list.")
        defer { next = count }
        return Outer(next: next, count: count)
    }

    /// Adds an entry to the end of the list; returns its place.
    mutating func append(_ entry: TimerHeap.Entry, of queue: BucketNumber) -> Int {
        // The list uses pages of memory from the beginning: a table that grows by small blocks leaves its blocks in
        // glibc's heap.
        if count == members.capacity { members.resize(to: max(128, count * 2)) }
        (members.base + count).initialize(to: Member(entry, of: queue))
        count += 1
        listedCount += 1
        return count - 1
    }

    /// Returns the place that is to be served now, and moves on to the next place; `nil` at the end.
    mutating func takeNext() -> Int? {
        if next == count { return nil }
        defer { next += 1 }
        return next
    }

    /// Returns the content of a place that is not listed, and empties the place; a reference is transferred to the
    /// caller.
    mutating func take(_ place: Int) -> Content {
        // No closure has the generation 0.
        defer { members.base[place].content = .closure(generation: 0) }
        return members.base[place].content
    }

    /// Ends a serving, so that the outer serving continues.
    mutating func end(_ outer: Outer) {
        (next, count) = (outer.next, outer.count)
    }

    /// Removes and returns the timers that the list has references to; called at the end of the loop, when no serving
    /// continues.
    ///
    /// - Precondition: nothing is listed.
    mutating func takeAll() -> [Timer] {
        var all: [Timer] = []
        for place in 0..<count { if case .timer(let timer) = take(place) { all.append(timer.takeRetainedValue()) } }
        return all
    }

    // MARK: Places. For queues.

    /// Reduces the number of listed entries, because one is served.
    mutating func serve() { listedCount -= 1 }

    /// Marks a place as no longer listed; the list keeps a reference to the timer until the serving reaches the place.
    mutating func leave(_ place: Int, _ timer: Unmanaged<Timer>) {
        listedCount -= 1
        members.base[place].content = .timer(timer.retain())
    }

    /// Marks a place as no longer listed, because its closure is put back into its queue, or cancelled.
    mutating func leave(_ place: Int, generation: UInt32) {
        listedCount -= 1
        members.base[place].content = .closure(generation: generation)
    }

    /// The first place from `start` on at which an entry of the queue is listed.
    func first(of queue: BucketNumber, from start: Int) -> Int? {
        for place in start..<count where isListed(place, of: queue) { return place }
        return nil
    }

    private func isListed(_ place: Int, of queue: BucketNumber) -> Bool {
        members.base[place].isListed && members.base[place].queue == queue
    }

    /// The cell of the entry at a place; `nil` after the last place.
    ///
    /// The cell may be one of another queue.
    func cell(at place: Int) -> UInt32? { place < count ? members.base[place].entry.cell : nil }

    /// The first place from `start` on at which an entry is listed.
    func firstListed(from start: Int) -> Int? {
        if listedCount == 0 { return nil }
        return (max(start, next)..<count).first { members.base[$0].isListed }
    }

    /// Calls `body` with each listed entry.
    func visit(_ body: (Member) -> Void) {
        if listedCount == 0 { return }
        for place in next..<count where members.base[place].isListed { body(members.base[place]) }
    }

    // MARK: Memory

    var isRoomy: Bool { members.isRoomy(for: count) }

    /// Releases unused memory after a burst.
    mutating func trim() {
        members.resize(to: max(TimerMemory<Member>.minKept, count * 2))
    }
}
