// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The fields of a timer that a queue reads and writes.
protocol QueuedTimer: AnyObject {
    /// The date of the timer, in nanoseconds.
    var fire: Int64 { get }
    /// How long after its date the timer may be served, less a reserve for waking up; 0 for an exact timer.
    var slack: Int64 { get }
    /// The timer's cell in its queue.
    var cell: UInt32 { get set }
}

/// Timers of one clock, ordered so that a loop can find the first due timer and the limit of its sleep.
///
/// A timer without tolerance must be served at its date; such timers are in one heap. Timers with tolerance are in
/// another heap, by their dates. The latest instant of a timer is its date plus its slack. As long as all tolerant
/// timers have the same slack, their latest instants have the same order as their dates. When a timer with a second
/// slack is added, the latest instants get a heap of their own. The thread sleeps until the earliest latest instant and
/// then serves all timers that are due: the fewest wake-ups there can be (stabbing intervals, earliest end first).
///
/// While due timers are served, they are on a list and in no heap (``DueList``); the queue still has their cells, and
/// knows the first of them.
///
/// The queue does not keep its timers alive; their owner does. Delayed closures, which have no timer object, are stored
/// in the queue itself.
struct TimerQueue<Timer: QueuedTimer>: ~Copyable {
    /// A timer or closure that was removed from the queue to be called.
    enum Served: ~Copyable {
        // Unmanaged: the owner keeps the timer, and counting would cost two atomic operations a fire.
        case timer(Unmanaged<Timer>)
        case delayed(DelayedBody)
    }

    private let passedByAddress = PassedByAddress()
    private var exact = TimerHeap()
    private var tolerant = TimerHeap()
    /// The latest instants of the tolerant timers; unused while all of these have the same slack.
    private var latest = TimerHeap()
    /// The places of the entries of `latest`.
    private var latestPlaces = TimerHeap.Places()
    private var commonSlack: Int64?
    private var cells = TimerCells<Timer>()

    /// The number of this queue's bucket, which identifies the queue in a ``DueList``.
    private let number: BucketNumber
    /// The date of the queue's first listed entry, or `Int64.max` if there is none; `listedPlace` is its place.
    private var listedDate = Int64.max
    private var listedPlace = 0

    init(number: BucketNumber) { self.number = number }

    @inline(__always)
    var count: Int { cells.count }

    /// The date of the first timer; `Int64.max` if there is none.
    ///
    /// O(1).
    @inline(__always)
    var firstDate: Int64 { min(exact.firstDate, min(tolerant.firstDate, listedDate)) }

    /// The instant until which the thread may sleep; `Int64.max` if there is no timer.
    ///
    /// O(1).
    @inline(__always)
    var sleepLimit: Int64 { min(exact.firstDate, min(listedDate, firstLatest)) }

    /// The earliest of the latest instants of tolerant timers.
    @inline(__always)
    private var firstLatest: Int64 {
        guard let commonSlack else { return latest.firstDate }
        return tolerant.firstDate.clampedAdding(commonSlack)
    }

    /// The date of the first timer that is to be served at `now`; `nil` if there is nothing to serve.
    ///
    /// Timers are served if one of them has to be served at `now`, or if one is due and the thread is awake for
    /// something else anyway. All timers that are due are then served together.
    @inline(__always)
    func firstToServe(at now: Int64, isAwakeAnyway: Bool) -> Int64? {
        let first = firstDate
        if first > now || first == .max { return nil }
        return isAwakeAnyway || sleepLimit <= now ? first : nil
    }

    // MARK: Coming, going, moving

    /// Adds a timer, behind all timers of the same date.
    ///
    /// `sequence` must be greater than the sequence of every other entry.
    @inline(__always)
    mutating func insert(_ timer: Timer, sequence: UInt32) {
        let cell = cells.add(timer)
        timer.cell = cell
        let entry = TimerHeap.Entry(date: timer.fire, sequence: sequence, cell: cell)
        let slack = timer.slack
        insert(entry, slack: slack)
    }

    @inline(__always)
    private mutating func insert(_ entry: TimerHeap.Entry, slack: Int64) {
        if slack == 0 { exact.insert(entry, cells.places) } else { insertTolerant(entry, slack) }
    }

    /// Adds a closure that is called once.
    @inline(__always)
    mutating func insert(_ body: consuming DelayedBody, at date: Int64, sequence: UInt32) -> DelayedID {
        let id = cells.add(body)
        exact.insert(TimerHeap.Entry(date: date, sequence: sequence, cell: id.cell), cells.places)
        return id
    }

    /// Removes a timer; if the timer is listed for a serving, the serving checks it again when it comes to its place.
    @inline(__always)
    mutating func remove(_ timer: Timer, _ list: inout DueList<Timer>) {
        removeEntry(timer.cell, &list)
        cells.remove(timer.cell)
    }

    /// Removes and returns a closure; `nil` if it was called or cancelled before.
    @inline(__always)
    mutating func remove(_ id: DelayedID, _ list: inout DueList<Timer>) -> DelayedBody? {
        guard cells.contains(id) else { return nil }
        removeEntry(id.cell, &list)
        return cells.takeClosure(id.cell)
    }

    @inline(__always)
    private mutating func removeEntry(_ cell: UInt32, _ list: inout DueList<Timer>) {
        if isExact(cell) { exact.remove(cell, cells.places) } else { removeOther(cell, &list) }
    }

    @inline(__always)
    private func isExact(_ cell: UInt32) -> Bool { exact.has(cell, at: cells.places[Int(cell)]) }

    private mutating func removeOther(_ cell: UInt32, _ list: inout DueList<Timer>) {
        let place = cells.places[Int(cell)]
        if place.isListed { return leave(place.listIndex, cell, &list) }
        tolerant.remove(cell, cells.places)
        if commonSlack == nil { latest.remove(cell, latestPlaces) }
    }

    /// Marks the place of a cell on the list as no longer listed.
    private mutating func leave(_ place: Int, _ cell: UInt32, _ list: inout DueList<Timer>) {
        if let timer = cells[cell] {
            list.leave(place, timer)
        } else {
            list.leave(place, generation: cells.generation(of: cell))
        }
        listedLeaves(place, list)
    }

    /// Whether a timer is on the list of due timers.
    func isListed(_ timer: Timer) -> Bool { cells.places[Int(timer.cell)].isListed }

    /// Changes the date of an exact timer within its heap; returns false if the timer is not there.
    @inline(__always)
    mutating func move(_ timer: Timer, to date: Int64, sequence: UInt32) -> Bool {
        guard isExact(timer.cell) else { return false }
        exact.update(TimerHeap.Entry(date: date, sequence: sequence, cell: timer.cell), cells.places)
        return true
    }

    private mutating func insertTolerant(_ entry: TimerHeap.Entry, _ slack: Int64) {
        if tolerant.isEmpty { commonSlack = slack }
        if let common = commonSlack, common != slack { separateLatest(common) }
        tolerant.insert(entry, cells.places)
        if commonSlack == nil { insertLatest(entry.later(by: slack)) }
    }

    /// Moves the latest instants into a heap of their own, when the first timer with a second slack is added.
    private mutating func separateLatest(_ common: Int64) {
        commonSlack = nil
        latest = TimerHeap()
        var entries: [TimerHeap.Entry] = []
        tolerant.visit { entries.append($0) }
        for entry in entries { insertLatest(entry.later(by: common)) }
    }

    private mutating func insertLatest(_ entry: TimerHeap.Entry) {
        if entry.cell >= latestPlaces.capacity { latestPlaces.resize(to: cells.places.capacity) }
        latest.insert(entry, latestPlaces)
    }

    // MARK: Serving

    /// The first entry in the heaps that is due at `now`.
    @inline(__always)
    func firstDue(at now: Int64) -> TimerHeap.Entry? {
        let exactDate = exact.firstDate
        let tolerantDate = tolerant.firstDate
        if min(exactDate, tolerantDate) > now { return nil }
        if exactDate < tolerantDate { return exact.first }
        guard let second = tolerant.first else { return exact.first }
        guard let first = exact.first else { return second }
        return first.isBefore(second) ? first : second
    }

    /// Moves up to `count` entries that are due at `now` to the list of due timers; returns whether more may be due.
    mutating func list(_ count: Int, at now: Int64, on list: inout DueList<Timer>) -> Bool {
        for _ in 0..<count {
            guard let entry = firstDue(at: now) else { return false }
            self.list(entry, on: &list)
        }
        return true
    }

    /// Moves the entry that ``firstDue(at:)`` has found from its heap to the list of due timers.
    @inline(__always)
    mutating func list(_ entry: TimerHeap.Entry, on list: inout DueList<Timer>) {
        let place = list.append(entry, of: number)
        if exact.first?.cell == entry.cell {
            exact.removeFirst(cells.places)
        } else {
            tolerant.removeFirst(cells.places)
            if commonSlack == nil { latest.remove(entry.cell, latestPlaces) }
        }
        cells.places[Int(entry.cell)] = TimerPlace(onList: place)
        if listedDate == .max { (listedDate, listedPlace) = (entry.date, place) }
    }

    /// Removes the entry that is listed at a place from the queue, and returns its timer or closure to the caller,
    /// which calls it.
    @inline(__always)
    mutating func serve(_ cell: UInt32, at place: Int, _ list: inout DueList<Timer>) -> Served {
        list.serve()
        listedLeaves(place, list)
        prefetchNext(list)
        guard let timer = cells[cell] else { return .delayed(cells.takeClosure(cell)) }
        cells.remove(cell)
        return .timer(timer)
    }

    /// Puts the entry that is listed at a place back into its heap with its old sequence, for a nested run.
    ///
    /// The serving checks the timer or closure again when it comes to the place.
    mutating func putBack(_ place: Int, _ list: inout DueList<Timer>) {
        let entry = list[place].entry
        leave(place, entry.cell, &list)
        insert(entry, slack: cells[entry.cell]?.takeUnretainedValue().slack ?? 0)
    }

    /// Finds the queue's next listed entry, if the entry at `place` was the first and is no longer listed.
    @inline(__always)
    private mutating func listedLeaves(_ place: Int, _ list: borrowing DueList<Timer>) {
        if place != listedPlace { return }
        if let next = list.first(of: number, from: place + 1) {
            (listedDate, listedPlace) = (list[next].entry.date, next)
        } else {
            listedDate = .max
        }
    }

    /// Prefetches the next object, and the address of the object after it.
    @inline(__always)
    private func prefetchNext(_ list: borrowing DueList<Timer>) {
        if listedDate == .max { return }
        cells.prefetchTimer(list[listedPlace].entry.cell)
        if let cell = list.cell(at: listedPlace + 1) { cells.prefetch(cell) }
    }

    // MARK: The rest

    /// Calls `body` with each entry of the queue, in no order: with the timer, or with the location that posted a
    /// closure.
    func visit(_ list: borrowing DueList<Timer>, _ body: (TimerHeap.Entry, Timer?, ItemLabel?) -> Void) {
        func show(_ entry: TimerHeap.Entry) {
            body(entry, cells[entry.cell]?.takeUnretainedValue(), cells.label(of: entry.cell))
        }
        exact.visit(show)
        tolerant.visit(show)
        list.visit { member in if member.queue == number { show(member.entry) } }
    }

    /// Gives all entries of the queue a new sequence, in the same order; the numbers that identify closures do not
    /// change.
    ///
    /// - Precondition: nothing is listed.
    mutating func renumber(_ number: (UInt32) -> UInt32) {
        exact.renumber(number)
        tolerant.renumber(number)
        latest.renumber(number)
    }

    /// Removes all delayed closures from the queue, and returns them.
    ///
    /// - Precondition: nothing is listed.
    mutating func removeAllDelayed() -> [() -> Void] {
        var all: [() -> Void] = []
        for cell in cells.cellsOfClosures {
            exact.remove(cell, cells.places)
            all.append(cells.takeClosure(cell).call)
        }
        return all
    }

    /// Whether much more memory is allocated than used after a burst.
    var isRoomy: Bool {
        exact.isRoomy || tolerant.isRoomy || latest.isRoomy || cells.isRoomy
    }

    /// Releases unused memory after a burst.
    ///
    /// The caller calls this before a long sleep and not while it serves timers,
    /// because the next burst would allocate the pages again.
    mutating func trim() {
        exact.trim()
        tolerant.trim()
        latest.trim()
        if cells.isRoomy { cells.trim() }
        if latest.isEmpty, latestPlaces.isRoomy(for: 0) { latestPlaces.resize(to: TimerMemory<TimerPlace>.minKept) }
    }
}

extension TimerHeap.Entry {
    fileprivate func later(by slack: Int64) -> TimerHeap.Entry {
        TimerHeap.Entry(date: date.clampedAdding(slack), sequence: sequence, cell: cell)
    }
}
