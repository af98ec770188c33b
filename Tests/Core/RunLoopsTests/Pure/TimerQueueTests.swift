// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// Which timers are due, and how long the thread may sleep.
@Suite(.ownThread) struct TimerQueueTests {
    @Test func `An empty queue sets no sleep limit`() {
        let queue = SharedQueue()
        #expect(queue.count == 0)
        #expect(queue.firstDate == .max)
        #expect(queue.sleepLimit == .max)
        #expect(queue.firstToServe(at: .max, isAwakeAnyway: true) == nil)
        #expect(queue.firstDue(at: .max) == nil)
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

    @Test func `With one tolerance the thread sleeps until the first timer's latest date`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: 30, slack: 20))
        let first = queue.insert(FakeTimer(fire: 10, slack: 20))
        #expect(queue.firstDate == 10)
        #expect(queue.sleepLimit == 30)
        queue.remove(first)
        #expect(queue.sleepLimit == 50)
    }

    @Test func `With several tolerances the thread sleeps until the earliest of the timers' latest dates`() {
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

    @Test func `A latest date that overflows is clamped to the last possible date`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: .max - 3, slack: 5))
        #expect(queue.sleepLimit == .max)
        queue.insert(FakeTimer(fire: .max - 3, slack: 2))
        #expect(queue.sleepLimit == .max - 1)
    }

    @Test func `A tolerant timer is served at its latest date or when the thread is awake anyway`() {
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

    @Test func `A timer at the last possible date is never served`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: .max))
        #expect(queue.firstToServe(at: .max, isAwakeAnyway: true) == nil)
        #expect(queue.count == 1)
    }

    // MARK: Serving

    @Test func `firstDue returns a timer that is due exactly now`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: 10))
        #expect(queue.firstDue(at: 9) == nil)
        #expect(queue.firstDue(at: 10)?.date == 10)
    }

    @Test func `firstDue removes nothing`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: 1))
        queue.insert(FakeTimer(fire: 1, slack: 5))
        for _ in 0..<2 { #expect(queue.firstDue(at: 1)?.sequence == 1) }
        #expect(queue.count == 2)
    }

    @Test func `Timers and closures are served by date, equal dates in the order of insertion`() {
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

    // MARK: The list

    @Test func `Timers added while due timers are being served are served only the next time`() {
        let queue = SharedQueue()
        let old = queue.insert(FakeTimer(fire: 5))
        let outer = queue.list(at: 9)
        let timer = queue.insert(FakeTimer(fire: 1))
        let tolerant = queue.insert(FakeTimer(fire: 2, slack: 9))
        let closure = queue.insert(at: 3)
        #expect(queue.serveListed() == [old])
        queue.end(outer)
        #expect(queue.count == 3)
        #expect(queue.firstDate == 1)
        #expect(queue.sleepLimit == 1)
        #expect(queue.serve(at: 9) == [timer, tolerant, closure])
    }

    @Test func `firstDate takes account of timers on the list of due timers until they are served or removed`() {
        let queue = SharedQueue()
        let first = queue.insert(FakeTimer(fire: 1))
        let tolerant = queue.insert(FakeTimer(fire: 2, slack: 50))
        let closure = queue.insert(at: 3)
        queue.insert(FakeTimer(fire: 4))
        queue.insert(FakeTimer(fire: 100))
        let outer = queue.list(at: 9)
        #expect(queue.count == 5)
        #expect(queue.firstDate == 1)
        #expect(queue.sleepLimit == 1)
        #expect(queue.all.sorted() == ["1", "100", "2", "3 TimerQueueTests:7", "4"])
        // In the middle, and then the first.
        queue.remove(tolerant)
        #expect(queue.firstDate == 1)
        queue.remove(first)
        #expect(queue.firstDate == 3)
        #expect(queue.cancel(closure))
        #expect(!queue.cancel(closure))
        #expect(queue.firstDate == 4)
        #expect(queue.serveListed() == [3])
        #expect(queue.lookedAtAgain == [first, tolerant])
        #expect(queue.firstDate == 100)
        queue.end(outer)
        #expect(queue.count == 1)
    }

    @Test func `A timer removed from the list of due timers is released when the pass reaches its position`() {
        let queue = SharedQueue()
        let witness = Witness()
        let timer = queue.insert(FakeTimer(fire: 1))
        queue.watch(timer, witness)
        let outer = queue.list(at: 9)
        queue.remove(timer)
        queue.forget(timer)
        #expect(!witness.isGone)
        #expect(queue.serveListed() == [])
        #expect(witness.isGone)
        queue.end(outer)
    }

    @Test func `Timers put back by a nested pass keep their order, and the outer pass looks at them again`() {
        let queue = SharedQueue()
        let timers = (0..<3).map { queue.insert(FakeTimer(fire: 5, slack: $0 == 1 ? 7 : 0)) }
        let closure = queue.insert(at: 5)
        let cancelled = queue.insert(at: 5)
        let left = queue.insert(at: 5)
        let outer = queue.list(at: 9)
        #expect(queue.serveOneListed() == timers[0])
        queue.putBack()
        // Once.
        queue.putBack()
        #expect(queue.cancel(cancelled))
        #expect(queue.sleepLimit == 5)
        // It serves what was due earlier alone.
        let late = queue.insert(at: 4)
        #expect(queue.serve(at: 4) == [late])
        queue.remove(timers[1])
        #expect(queue.serveOneListed() == nil)
        #expect(queue.serveOneListed() == timers[2])
        #expect(queue.lookedAtAgain == [timers[1], timers[2]])
        // Another serves the rest.
        #expect(queue.serve(at: 9) == [closure, left])
        #expect(queue.serveListed() == [])
        queue.end(outer)
        #expect(queue.count == 0)
    }

    @Test func `A closure that a nested pass does not serve is served by the outer pass`() {
        let queue = SharedQueue()
        let closures = (5...7).map { queue.insert(at: $0) }
        let outer = queue.list(at: 9)
        #expect(queue.serve(at: 5) == [closures[0]])
        #expect(queue.serveListed() == [closures[1], closures[2]])
        queue.end(outer)
    }

    @Test func `Renumbering a queue keeps its order and the identifiers of its closures`() {
        let queue = SharedQueue(sequence: 1000)
        let exact = (0..<5).map { _ in queue.insert(at: 7) }
        let tolerant = (0..<3).map { queue.insert(FakeTimer(fire: 7, slack: Int64(1 + $0))) }
        let outer = queue.list(at: 7)
        #expect(queue.serveOneListed() == exact[0])
        queue.putBack()
        queue.renumber { $0 - 900 }
        #expect(queue.cancel(exact[2]))
        #expect(queue.serve(at: 6) == [])
        // By the names that they have had before.
        #expect(queue.serveListed() == [exact[1], exact[3], exact[4]] + tolerant)
        queue.end(outer)
    }

    // MARK: Moving

    @Test func `An exact timer moved to another date is served after other timers of that date`() {
        let queue = SharedQueue()
        let moved = queue.insert(FakeTimer(fire: 1))
        let other = queue.insert(FakeTimer(fire: 8))
        #expect(queue.move(moved, to: 8))
        #expect(queue.firstDate == 8)
        #expect(queue.serve(at: 8) == [other, moved])
    }

    @Test func `move returns false for a tolerant timer`() {
        let queue = SharedQueue()
        let timer = queue.insert(FakeTimer(fire: 1, slack: 4))
        #expect(!queue.move(timer, to: 8))
        #expect(queue.firstDate == 1)
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

    @Test func `A closure is released when it is cancelled and not before`() {
        let queue = SharedQueue()
        let witness = Witness()
        let name = queue.insert(at: 1, keeping: witness.makeToken())
        #expect(!witness.isGone)
        #expect(queue.cancel(name))
        #expect(witness.isGone)
    }

    @Test func `A released queue releases its closures`() {
        let witness = Witness()
        do {
            let queue = SharedQueue()
            queue.insert(at: 1, keeping: witness.makeToken())
            #expect(!witness.isGone)
        }
        #expect(witness.isGone)
    }

    @Test func `removeAllDelayed removes all closures and keeps the timers`() {
        let queue = SharedQueue()
        let witness = Witness()
        let timer = queue.insert(FakeTimer(fire: 9))
        // A closure that was listed, a closure that was not, and a free place.
        let late = queue.insert(at: 1, keeping: witness.makeToken())
        let outer = queue.list(at: 1)
        queue.putBack()
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
        #expect(queue.serveListed() == [])
        queue.end(outer)
        #expect(queue.serve(at: 9) == [timer])
    }

    @Test func `The property all contains each timer and closure once, with its label`() {
        let queue = SharedQueue()
        queue.insert(FakeTimer(fire: 9))
        queue.insert(FakeTimer(fire: 8, slack: 3))
        queue.insert(at: 1)
        queue.insert(at: 7)
        _ = queue.list(at: 7)
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

    @Test func `A large queue keeps its order while it grows and shrinks`() {
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

    @Test(arguments: [11, 12, 13, 14, 15, 16]) func `Random operations on a timer queue match a list`(seed: UInt64) {
        var random = SeededRandom(seed)
        // Every other one wraps around on its way.
        let queue = SharedQueue(sequence: seed.isMultiple(of: 2) ? 1000 : .max - 10_000)
        // All with one tolerance, or with many.
        let slacks: [Int64] = seed % 3 == 0 ? [0, 6] : [0, 0, 0, 1, 2, 20, .max]
        var servings: [DueList<FakeTimer>.Outer] = []
        for step in 0..<3000 {
            let date = FakeTimer.randomDate(&random)
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<20: queue.insert(FakeTimer(fire: date, slack: slacks.randomElement(using: &random) ?? 0))
            case 20..<32: queue.insert(at: date)
            case 32..<52: if let one = queue.names.randomElement(using: &random) { queue.take(out: one) }
            case 52..<70: if let one = queue.names.randomElement(using: &random) { _ = queue.move(one, to: date) }
            case 70..<76: servings.append(queue.list(at: date))
            case 76..<90: queue.serveOneListed("at step \(step)")
            case 90..<96:
                queue.finish("at step \(step)")
                if let outer = servings.popLast() { queue.end(outer) }
            default: if queue.listed.isEmpty { queue.trim() }
            }
            queue.check("at step \(step)")
        }
        while let outer = servings.popLast() {
            queue.finish("at the end")
            queue.end(outer)
        }
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
        var timer: FakeTimer?
        /// Of a closure.
        var id: DelayedID?
        var date: Int64
        var number: Int
        var slack: Int64 { timer?.slack ?? 0 }
    }

    /// A place on the list.
    private struct Place {
        let name: Name
        var isListed = true
    }

    private var queue = TimerQueue<FakeTimer>(number: BucketNumber(index: 3))
    private var list = DueList<FakeTimer>()
    /// The places of all servings, the innermost last, that were not looked at yet.
    private var places: [[Place]] = []
    /// Timers that have left the list before their turn, as they were looked at.
    private(set) var lookedAtAgain: [Name] = []
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
        let id = queue.insert(body, at: date, sequence: nextSequence())
        return self.name(Member(timer: nil, id: id, date: date, number: numbers))
    }

    func remove(_ name: Name) {
        guard let timer = members[name].timer else { preconditionFailure("a closure is cancelled") }
        queue.remove(timer, &list)
        present.remove(name)
        leaveList(name)
    }

    func watch(_ name: Name, _ witness: Witness) { if let timer = members[name].timer { witness.watch(timer) } }
    func forget(_ name: Name) { members[name].timer = nil }

    /// Whether the closure was there.
    func cancel(_ name: Name) -> Bool {
        guard let id = members[name].id else { return false }
        switch queue.remove(id, &list) {
        case .some: present.remove(name)
        case .none: return false
        }
        leaveList(name)
        return true
    }

    func take(out name: Name) {
        if members[name].timer == nil { expectTrue(cancel(name), "a closure has gone") } else { remove(name) }
    }

    /// Gives a timer another date as the loop does; returns whether it moved in its place.
    func move(_ name: Name, to date: Int64) -> Bool {
        guard let timer = members[name].timer else { return false }
        let isExact = timer.slack == 0 && !listed.contains(name)
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

    func firstDue(at now: Int64) -> TimerHeap.Entry? { queue.firstDue(at: now) }

    /// What is on the list.
    var listed: [Name] { places.last?.filter(\.isListed).map(\.name) ?? [] }

    private func leaveList(_ name: Name) {
        guard let index = places.last?.firstIndex(where: { $0.isListed && $0.name == name }) else { return }
        places[places.count - 1][index].isListed = false
    }

    /// A serving begins; what an outer one has listed goes back first.
    func list(at now: Int64) -> DueList<FakeTimer>.Outer {
        putBack()
        // The last date there is never comes.
        let now = min(now, .max - 1)
        places.append(names.filter { members[$0].date <= now }.sorted(by: isBefore).map { Place(name: $0) })
        let outer = list.begin()
        while let entry = queue.firstDue(at: now) { queue.list(entry, on: &list) }
        return outer
    }

    func putBack() {
        while let place = list.firstListed(from: 0) { queue.putBack(place, &list) }
        if places.isEmpty { return }
        for index in places[places.count - 1].indices { places[places.count - 1][index].isListed = false }
    }

    func end(_ outer: DueList<FakeTimer>.Outer) {
        expectTrue(places.removeLast().isEmpty && !list.hasRest, "a serving has ended early")
        list.end(outer)
    }

    /// Looks at the next place, and calls what is there, or what is in the queue again.
    @discardableResult
    func serveOneListed(_ moment: String = "") -> Name? {
        guard let place = list.takeNext() else {
            expectTrue(places.last?.isEmpty != false, "a place was left out \(moment)")
            return nil
        }
        let expected = places[places.count - 1].removeFirst()
        let member = list[place]
        var name: Name?
        switch list.take(place) {
        case .listed:
            switch queue.serve(member.entry.cell, at: place, &list) {
            case .timer(let timer): name = namesOfTimers[ObjectIdentifier(timer.takeUnretainedValue())]
            case .delayed(let body): name = call(body)
            }
            expectTrue(expected.isListed && name == expected.name, "\(name ?? -1) is not the next \(moment)")
        case .timer(let reference):
            let timer = reference.takeRetainedValue()
            name = namesOfTimers[ObjectIdentifier(timer)]
            expectTrue(!expected.isListed && name == expected.name, "\(name ?? -1) is not again the next \(moment)")
            lookedAtAgain.append(expected.name)
            if present.contains(expected.name) { queue.remove(timer, &list) } else { name = nil }
        case .closure(let generation):
            let body = queue.remove(DelayedID(cell: member.entry.cell, generation: generation), &list)
            switch consume body {
            case .some(let body): name = call(body)
            case .none: expectTrue(!present.contains(expected.name), "a closure was lost \(moment)")
            }
            expectTrue(!expected.isListed && name ?? expected.name == expected.name, "another closure \(moment)")
        }
        if let name { present.remove(name) }
        return name
    }

    private func call(_ body: consuming DelayedBody) -> Name? {
        body.call()
        return called.popLast()
    }

    /// Looks at all places that are left; returns what was called.
    func serveListed(_ moment: String = "") -> [Name] {
        var names: [Name] = []
        while list.hasRest { if let name = serveOneListed(moment) { names.append(name) } }
        return names
    }

    func finish(_ moment: String) { _ = serveListed(moment) }

    /// A whole serving.
    func serve(at now: Int64) -> [Name] {
        let outer = list(at: now)
        defer { end(outer) }
        return serveListed()
    }

    var all: [String] {
        var all: [String] = []
        queue.visit(list) { entry, timer, label in
            expectTrue((timer == nil) != (label == nil), "it is a timer or a closure")
            expectTrue(timer == nil || timer?.fire == entry.date, "the date of another")
            all.append((["\(entry.date)"] + (label.map { [$0.text] } ?? [])).joined(separator: " "))
        }
        return all
    }

    func check(_ moment: String) {
        let present = self.present.map { members[$0] }
        let dates = present.map(\.date)
        let listed = Set(self.listed)
        let limits = self.present.map {
            listed.contains($0) ? members[$0].date : members[$0].date.clampedAdding(members[$0].slack)
        }
        let limit = limits.min() ?? .max
        expectTrue(queue.count == present.count, "count \(moment)")
        expectTrue(queue.firstDate == dates.min() ?? .max, "first date \(moment)")
        expectTrue(queue.sleepLimit == limit, "limit \(queue.sleepLimit), not \(limit), \(moment)")
        for name in self.present {
            guard let timer = members[name].timer else { continue }
            expectTrue(queue.isListed(timer) == listed.contains(name), "a timer is listed or not \(moment)")
        }
        var told = 0
        queue.visit(list) { _, _, _ in told += 1 }
        expectTrue(told == present.count, "all \(moment)")
        let now = dates.min().map { $0.clampedAdding(3) } ?? 0
        let first = dates.min().flatMap { $0 == .max || $0 > now ? nil : $0 }
        expectTrue(queue.firstToServe(at: now, isAwakeAnyway: true) == first, "to serve \(moment)")
        let exact = limit <= now ? first : nil
        expectTrue(queue.firstToServe(at: now, isAwakeAnyway: false) == exact, "to serve exactly \(moment)")
    }
}
