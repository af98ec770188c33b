// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// Which timers are due, and how long the thread may sleep.
@Suite(.ownThread) struct TimerQueueTests {
    @Test func `An empty queue lets the thread sleep for ever`() {
        let queue = SharedQueue()
        #expect(queue.count == 0)
        #expect(queue.firstDate == .max)
        #expect(queue.sleepLimit == .max)
        #expect(queue.firstToServe(at: .max, isAwakeAnyway: true) == nil)
        #expect(queue.firstDue(at: .max, through: 0) == nil)
    }

    @Test func `Without tolerance the thread sleeps until the first date`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: 20))
        queue.insert(FakeTimer(fire: 10))
        #expect(queue.firstDate == 10)
        #expect(queue.sleepLimit == 10)
        queue.insert(at: 5)
        #expect(queue.firstDate == 5)
        #expect(queue.sleepLimit == 5)
    }

    // MARK: Tolerance

    @Test func `With one tolerance the thread sleeps until the latest date of the first`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: 30, slack: 20))
        let first = queue.insert(FakeTimer(fire: 10, slack: 20))
        #expect(queue.firstDate == 10)
        #expect(queue.sleepLimit == 30)
        queue.remove(first)
        #expect(queue.sleepLimit == 50)
    }

    @Test func `With several tolerances the thread sleeps until the earliest of the latest dates`() {
        let queue = SharedQueue()
        let wide = queue.insert(FakeTimer(fire: 10, slack: 100))
        let narrow = queue.insert(FakeTimer(fire: 50, slack: 20))
        let exact = queue.insert(FakeTimer(fire: 90))
        #expect(queue.firstDate == 10)
        #expect(queue.sleepLimit == 70)
        queue.remove(narrow)
        #expect(queue.sleepLimit == 90)
        queue.remove(exact)
        #expect(queue.sleepLimit == 110)
        queue.remove(wide)
        #expect(queue.sleepLimit == .max)
        // Another tolerance can be the only one now.
        queue.insert(FakeTimer(fire: 10, slack: 7))
        #expect(queue.sleepLimit == 17)
    }

    @Test func `A tolerance that does not fit ends at the last date there is`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: .max - 3, slack: 5))
        #expect(queue.sleepLimit == .max)
        queue.insert(FakeTimer(fire: .max - 3, slack: 2))
        #expect(queue.sleepLimit == .max - 1)
    }

    @Test func `A tolerant timer is served at its latest date or with whatever else is served`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: 10, slack: 20))
        #expect(queue.firstToServe(at: 9, isAwakeAnyway: true) == nil)
        #expect(queue.firstToServe(at: 10, isAwakeAnyway: false) == nil)
        #expect(queue.firstToServe(at: 10, isAwakeAnyway: true) == 10)
        #expect(queue.firstToServe(at: 29, isAwakeAnyway: false) == nil)
        #expect(queue.firstToServe(at: 30, isAwakeAnyway: false) == 10)
        queue.insert(FakeTimer(fire: 25))
        #expect(queue.firstToServe(at: 24, isAwakeAnyway: false) == nil)
        #expect(queue.firstToServe(at: 25, isAwakeAnyway: false) == 10)
    }

    @Test func `A date that is the last there is never comes`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: .max))
        #expect(queue.firstToServe(at: .max, isAwakeAnyway: true) == nil)
        #expect(queue.count == 1)
    }

    // MARK: Serving

    @Test func `A date that is now is due`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: 10))
        #expect(queue.firstDue(at: 9, through: queue.sequence) == nil)
        #expect(queue.firstDue(at: 10, through: queue.sequence)?.date == 10)
    }

    @Test func `Asking takes nothing out`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: 1))
        queue.insert(FakeTimer(fire: 1, slack: 5))
        for _ in 0..<2 { #expect(queue.firstDue(at: 1, through: queue.sequence)?.sequence == 1) }
        #expect(queue.count == 2)
    }

    @Test func `Timers of both kinds and closures come in the order of their dates and as they were put in`() {
        let queue = SharedQueue()
        let late = queue.insert(FakeTimer(fire: 9))
        let tolerant = queue.insert(FakeTimer(fire: 5, slack: 50))
        let exact = queue.insert(FakeTimer(fire: 5))
        let closure = queue.insert(at: 5)
        let another = queue.insert(FakeTimer(fire: 5, slack: 3))
        let first = queue.insert(at: 4)
        #expect(queue.serve(at: 9) == [first, tolerant, exact, closure, another, late])
        #expect(queue.count == 0)
        #expect(queue.sleepLimit == .max)
    }

    @Test func `What came after the serving has begun waits for the next`() {
        let queue = SharedQueue()
        let old = queue.insert(FakeTimer(fire: 5))
        let start = queue.sequence
        let timer = queue.insert(FakeTimer(fire: 1))
        let tolerant = queue.insert(FakeTimer(fire: 2, slack: 9))
        let closure = queue.insert(at: 3)
        #expect(queue.serve(at: 9, through: start) == [old])
        // They count for the sleep all the same, by their dates.
        #expect(queue.count == 3)
        #expect(queue.firstDate == 1)
        #expect(queue.sleepLimit == 1)
        #expect(queue.serve(at: 9) == [])
        queue.admitLate()
        #expect(queue.firstDate == 1)
        #expect(queue.serve(at: 9) == [timer, tolerant, closure])
    }

    @Test func `Of those that were set aside each keeps its kind and can go`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: 9))
        let start = queue.sequence
        let gone = queue.insert(FakeTimer(fire: 1, slack: 5))
        let tolerant = queue.insert(FakeTimer(fire: 2, slack: 5))
        let closure = queue.insert(at: 3)
        #expect(queue.firstDue(at: 9, through: start)?.date == 9)
        // A timer that was set aside has no entry to ask for.
        #expect(queue.entry(of: gone) == nil)
        #expect(!queue.move(gone, to: 4))
        queue.remove(gone)
        #expect(queue.cancel(closure))
        #expect(!queue.cancel(closure))
        queue.admitLate()
        #expect(queue.entry(of: tolerant)?.date == 2)
        #expect(queue.sleepLimit == 7)
        #expect(queue.count == 2)
    }

    @Test func `A queue that is numbered anew keeps its order and the names of its closures`() {
        let queue = SharedQueue(sequence: 1000)
        let exact = (0..<5).map { _ in queue.insert(at: 7) }
        let tolerant = (0..<3).map { queue.insert(FakeTimer(fire: 7, slack: Int64(1 + $0))) }
        #expect(queue.serve(at: 7, through: 1002) == Array(exact[..<2]))
        // The others were set aside.
        queue.renumber { $0 - 900 }
        #expect(queue.serve(at: 7, through: 1) == [])
        queue.admitLate()
        #expect(queue.cancel(exact[2]))
        #expect(queue.serve(at: 7, through: 104) == [exact[3]])
        queue.admitLate()
        #expect(queue.sleepLimit == 7)
        #expect(queue.serve(at: 7, through: .max) == [exact[4]] + tolerant)
    }

    // MARK: Moving

    @Test func `An exact timer moves in its place and goes behind others of its date`() {
        let queue = SharedQueue()
        let moved = queue.insert(FakeTimer(fire: 1))
        let other = queue.insert(FakeTimer(fire: 8))
        #expect(queue.move(moved, to: 8))
        #expect(queue.entry(of: moved)?.date == 8)
        #expect(queue.firstDate == 8)
        #expect(queue.serve(at: 8) == [other, moved])
    }

    @Test func `A tolerant timer does not move in its place`() {
        let queue = SharedQueue()
        let timer = queue.insert(FakeTimer(fire: 1, slack: 4))
        #expect(!queue.move(timer, to: 8))
        #expect(queue.entry(of: timer)?.date == 1)
        #expect(queue.sleepLimit == 5)
    }

    // MARK: Closures

    @Test func `A closure that was called or cancelled cannot be cancelled`() {
        let queue = SharedQueue()
        let called = queue.insert(at: 1)
        let cancelled = queue.insert(at: 2)
        #expect(queue.cancel(cancelled))
        #expect(!queue.cancel(cancelled))
        #expect(queue.serve(at: 9) == [called])
        #expect(!queue.cancel(called))
        // Others have their places now.
        let new = [queue.insert(at: 3), queue.insert(at: 4)]
        #expect(!queue.cancel(called))
        #expect(!queue.cancel(cancelled))
        #expect(queue.serve(at: 9) == new)
    }

    @Test func `A closure is released when it was cancelled and not before`() {
        let queue = SharedQueue()
        let witness = Witness()
        let name = queue.insert(at: 1, keeping: witness.makeToken())
        #expect(!witness.isGone)
        #expect(queue.cancel(name))
        #expect(witness.isGone)
    }

    @Test func `A queue that goes releases its closures`() {
        let witness = Witness()
        do {
            let queue = SharedQueue()
            queue.insert(at: 1, keeping: witness.makeToken())
            #expect(!witness.isGone)
        }
        #expect(witness.isGone)
    }

    @Test func `All closures are taken out at once and the timers stay`() {
        let queue = SharedQueue()
        let witness = Witness()
        let timer = queue.insert(FakeTimer(fire: 9))
        let start = queue.sequence
        // A timer that was set aside, a timer that was not, and a free place.
        let late = queue.insert(at: 1, keeping: witness.makeToken())
        _ = queue.firstDue(at: 9, through: start)
        let other = queue.insert(at: 2)
        #expect(queue.cancel(queue.insert(at: 3)))
        do {
            let closures = queue.removeAllDelayed()
            #expect(closures.count == 2)
            #expect(!witness.isGone)
        }
        #expect(witness.isGone)
        #expect(!queue.cancel(late) && !queue.cancel(other))
        #expect(queue.count == 1)
        #expect(queue.removeAllDelayed().isEmpty)
        #expect(queue.serve(at: 9) == [timer])
    }

    @Test func `All that is in the queue is reported once with its label`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: 9))
        queue.insert(FakeTimer(fire: 8, slack: 3))
        let start = queue.sequence
        queue.insert(at: 1)
        _ = queue.firstDue(at: 9, through: start)
        queue.insert(at: 7)
        #expect(queue.all.sorted() == ["1 TimerQueueTests:7", "7 TimerQueueTests:7", "8", "9"])
    }

    // MARK: Memory

    /// Three kinds, past the size from which on tables are made of pages, and past their next.
    private func fill(_ queue: SharedQueue, _ random: inout SeededRandom) {
        for number in 0..<15_000 {
            let date = Int64.random(in: 0..<1000, using: &random)
            switch number % 3 {
            case 0: queue.insert(FakeTimer(fire: date))
            case 1: queue.insert(FakeTimer(fire: date, slack: Int64.random(in: 1...2, using: &random)))
            default: queue.insert(at: date)
            }
        }
    }

    @Test func `A large queue keeps its order through growing and giving memory back`() {
        var random = SeededRandom(51)
        let queue = SharedQueue()
        for round in 0..<2 {
            fill(queue, &random)
            #expect(!queue.isRoomy)
            let first = queue.serve(at: 970)
            expectTrue(first == first.sorted(by: queue.isBefore), "the order in round \(round)")
            #expect(queue.isRoomy)
            queue.trim()
            #expect(queue.count == 15_000 - first.count)
            let stale = first.filter(queue.cancel)
            #expect(stale.isEmpty)
            let rest = queue.serve(at: 1000)
            expectTrue(rest == rest.sorted(by: queue.isBefore), "the order of what is left in round \(round)")
            #expect(first.count + rest.count == 15_000)
            #expect(queue.isRoomy)
            queue.trim()
            #expect(!queue.isRoomy)
            #expect(!rest.contains(where: queue.cancel))
        }
    }

    // MARK: Random operations

    @Test(arguments: [11, 12, 13, 14, 15, 16]) func `Random operations give what a list gives`(seed: UInt64) {
        var random = SeededRandom(seed)
        // Every other one wraps around on its way.
        let queue = SharedQueue(sequence: seed.isMultiple(of: 2) ? 1000 : .max - 10_000)
        // All with one tolerance, or with many.
        let slacks: [Int64] = seed % 3 == 0 ? [0, 6] : [0, 0, 0, 1, 2, 20, .max]
        for step in 0..<3000 {
            let date = FakeTimer.randomDate(&random)
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<20: queue.insert(FakeTimer(fire: date, slack: slacks.randomElement(using: &random) ?? 0))
            case 20..<32: queue.insert(at: date)
            case 32..<52: if let one = queue.names.randomElement(using: &random) { queue.take(out: one) }
            case 52..<70: if let one = queue.names.randomElement(using: &random) { _ = queue.move(one, to: date) }
            case 70..<90:
                // What came last is newer than what is served, or nothing is.
                let through = queue.sequence &- UInt32.random(in: 0...20, using: &random)
                queue.serveOne(at: date, through: through, "at step \(step)")
            case 90..<96: queue.admitLate()
            default: queue.trim()
            }
            queue.check("at step \(step)")
        }
        queue.admitLate()
        queue.check("at the end")
        let left = queue.names
        #expect(queue.serve(at: .max) == left.sorted(by: queue.isBefore))
        #expect(queue.count == 0)
    }
}

/// A queue with a list of what should be in it.
///
/// A queue cannot be copied, which expectations do with what they look at; and it does not keep its timers alive.
private final class SharedQueue {
    /// What a timer or a closure is called: the number of the insertion, from 0 on.
    typealias Name = Int

    private struct Member {
        let timer: FakeTimer?
        /// Of a closure.
        var index: UInt32 = 0
        var date: Int64
        var number: Int
        var isLate = false
        var slack: Int64 { timer?.slack ?? 0 }
    }

    private var queue = TimerQueue<FakeTimer>()
    /// Everything that was ever put in, so that no timer dies too early.
    private var members: [Member] = []
    private var present: Set<Name> = []
    private var called: [Name] = []
    private let firstSequence: UInt32
    private var numbers = 0
    private var namesOfTimers: [ObjectIdentifier: Name] = [:]

    init(sequence: UInt32 = 0) { firstSequence = sequence }

    /// The number of the last that was put in.
    var sequence: UInt32 { firstSequence &+ UInt32(numbers) }
    var count: Int { queue.count }
    var firstDate: Int64 { queue.firstDate }
    var sleepLimit: Int64 { queue.sleepLimit }
    var isRoomy: Bool { queue.isRoomy }
    var names: [Name] { present.sorted() }

    func isBefore(_ a: Name, _ b: Name) -> Bool {
        (members[a].date, members[a].number) < (members[b].date, members[b].number)
    }

    private func nextSequence() -> UInt32 {
        numbers += 1
        return sequence
    }

    private func name(_ member: Member) -> Name {
        members.append(member)
        present.insert(members.count - 1)
        return members.count - 1
    }

    // MARK: Coming, going, moving

    @discardableResult
    func insert(_ timer: FakeTimer) -> Name {
        queue.insert(timer, sequence: nextSequence())
        namesOfTimers[ObjectIdentifier(timer)] = members.count
        return name(Member(timer: timer, date: timer.fire, number: numbers))
    }

    @discardableResult
    func insert(at date: Int64, keeping token: Token? = nil) -> Name {
        let name = members.count
        let body = DelayedBody(
            call: { [unowned self] in
                called.append(name)
                withExtendedLifetime(token) {}
            }, location: CodeLocation("TimerQueueTests", 7))
        let index = queue.insert(body, at: date, sequence: nextSequence())
        return self.name(Member(timer: nil, index: index, date: date, number: numbers))
    }

    func remove(_ name: Name) {
        guard let timer = members[name].timer else { preconditionFailure("a closure is cancelled") }
        queue.remove(timer)
        present.remove(name)
    }

    /// Whether the closure was there.
    func cancel(_ name: Name) -> Bool {
        let member = members[name]
        if member.timer != nil { return false }
        let sequence = firstSequence &+ UInt32(member.number)
        switch queue.remove(delayed: member.index, sequence: sequence) {
        case .some: present.remove(name)
        case .none: return false
        }
        return true
    }

    func take(out name: Name) {
        if members[name].timer == nil { expectTrue(cancel(name), "a closure has gone") } else { remove(name) }
    }

    /// Gives a timer another date as the loop does; returns whether it moved in its place.
    func move(_ name: Name, to date: Int64) -> Bool {
        guard let timer = members[name].timer else { return false }
        let isExact = timer.slack == 0 && !members[name].isLate
        let sequence = nextSequence()
        let hasMoved = queue.move(timer, to: date, sequence: sequence)
        expectTrue(hasMoved == isExact, "\(name) has moved: \(hasMoved)")
        if hasMoved {
            timer.fire = date
            members[name].date = date
            members[name].number = numbers
        }
        return hasMoved
    }

    func admitLate() {
        queue.admitLate()
        for name in present { members[name].isLate = false }
    }

    func renumber(_ number: (UInt32) -> UInt32) { queue.renumber(number) }

    func trim() { queue.trim() }

    func removeAllDelayed() -> [() -> Void] {
        present = present.filter { members[$0].timer != nil }
        return queue.removeAllDelayed()
    }

    // MARK: Serving and asking

    func firstToServe(at now: Int64, isAwakeAnyway: Bool) -> Int64? {
        queue.firstToServe(at: now, isAwakeAnyway: isAwakeAnyway)
    }

    func firstDue(at now: Int64, through sequence: UInt32) -> TimerHeap.Entry? {
        queue.firstDue(at: now, through: sequence)
    }

    func entry(of name: Name) -> TimerHeap.Entry? { members[name].timer.flatMap { queue.entry(of: $0) } }

    /// Takes out the first timer that is due, and returns its name.
    private func takeFirst(at now: Int64, through sequence: UInt32) -> Name? {
        guard let entry = queue.firstDue(at: now, through: sequence) else { return nil }
        var name: Name?
        switch queue.take(entry) {
        case .timer(let timer): name = namesOfTimers[ObjectIdentifier(timer.takeUnretainedValue())]
        case .delayed(let body):
            body.call()
            name = called.popLast()
        }
        guard let name, present.remove(name) != nil, members[name].date == entry.date else {
            Issue.record("what was served is not there, or has another date")
            return nil
        }
        return name
    }

    func serve(at now: Int64, through sequence: UInt32? = nil) -> [Name] {
        var names: [Name] = []
        while let name = takeFirst(at: now, through: sequence ?? self.sequence) { names.append(name) }
        return names
    }

    /// Serves one, and compares with the list.
    func serveOne(at now: Int64, through sequence: UInt32, _ moment: String) {
        // By numbers that do not wrap around.
        let last = numbers - Int(self.sequence &- sequence)
        var expected: Name?
        for name in names.sorted(by: isBefore) where !members[name].isLate && members[name].date <= now {
            if members[name].number <= last {
                expected = name
                break
            }
            members[name].isLate = true
        }
        let found = takeFirst(at: now, through: sequence)
        expectTrue(found == expected, "\(found ?? -1) was served instead of \(expected ?? -1) \(moment)")
    }

    var all: [String] {
        var all: [String] = []
        queue.visit { entry, timer, label in
            expectTrue((timer == nil) != (label == nil), "it is a timer or a closure")
            expectTrue(timer == nil || timer?.fire == entry.date, "the date of another")
            all.append((["\(entry.date)"] + (label.map { [$0.text] } ?? [])).joined(separator: " "))
        }
        return all
    }

    func check(_ moment: String) {
        let present = self.present.map { members[$0] }
        let dates = present.map(\.date)
        let limits = present.map { $0.isLate ? $0.date : $0.date.clampedAdding($0.slack) }
        let limit = limits.min() ?? .max
        expectTrue(queue.count == present.count, "count \(moment)")
        expectTrue(queue.firstDate == dates.min() ?? .max, "first date \(moment)")
        expectTrue(queue.sleepLimit == limit, "limit \(queue.sleepLimit), not \(limit), \(moment)")
        for member in present {
            guard let timer = member.timer else { continue }
            let entry = queue.entry(of: timer)
            expectTrue((entry == nil) == member.isLate, "a timer is set aside or not \(moment)")
            let sequence = firstSequence &+ UInt32(member.number)
            expectTrue(entry == nil || entry?.date == member.date && entry?.sequence == sequence, "entry \(moment)")
        }
        var told = 0
        queue.visit { _, _, _ in told += 1 }
        expectTrue(told == present.count, "all \(moment)")
        let now = dates.min().map { $0.clampedAdding(3) } ?? 0
        let first = dates.min().flatMap { $0 == .max || $0 > now ? nil : $0 }
        expectTrue(queue.firstToServe(at: now, isAwakeAnyway: true) == first, "to serve \(moment)")
        let exact = limit <= now ? first : nil
        expectTrue(queue.firstToServe(at: now, isAwakeAnyway: false) == exact, "to serve exactly \(moment)")
    }
}
