// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Synchronization
import Testing

/// A loop that runs on a thread of its own until `end` is called.
final class RunningLoop: Sendable {
    let loop: RunLoop
    private let thread: TestThread

    init() {
        let found = Locked<RunLoop?>(nil)
        let permit = Permit()
        thread = TestThread {
            let loop = RunLoop.current
            loop.add(RunLoop.Timer(.after(.seconds(86_400))) { _ in }, in: .default)
            found.withLock { $0 = loop }
            permit.signal()
            loop.runUntilStopped()
        }
        permit.wait()
        loop = found.copy!
    }

    func end() {
        // In a block: a stop before the run begins would be forgotten.
        loop.perform { RunLoop.current.stop() }
        thread.join()
    }
}

extension RunLoop {
    /// Runs until a closure stops the run.
    ///
    /// A closure that is lost is an issue, and does not keep the thread that joins this one.
    func runUntilStopped() {
        let result = runPlenty()
        if result != .stopped { Issue.record("the closure that stops the run was not called: \(result)") }
    }
}

/// Two calls on one kind of item.
struct ItemRace: CustomStringConvertible {
    let kind: ItemKind
    let first: ItemCall
    let second: ItemCall

    /// All races of one kind: each call with each other call, and with itself.
    static func all(_ kind: ItemKind) -> [ItemRace] {
        let calls = ItemCall.raced(on: kind)
        return calls.indices.flatMap { index in
            calls[index...].map { ItemRace(kind: kind, first: calls[index], second: $0) }
        }
    }

    var description: String { "\(kind): \(first) beside \(second)" }
    var marks: Bool { first == .markCommon || second == .markCommon }
}

/// What a number of rounds have shown.
struct RaceResult {
    var rounds = 0
    /// Rounds after which one order alone explains what is seen, by the call that came first.
    var firstWon = 0
    var secondWon = 0
    var faults: [String] = []

    mutating func note(_ fault: String) { if faults.count < 5 { faults.append(fault) } }
}

/// The loops of some races.
struct RaceLoops {
    let home = RunningLoop()
    let elsewhere = RunningLoop()
    /// Lends its thread.
    let helper = RunningLoop()

    func end() { for loop in [helper, home, elsewhere] { loop.end() } }
}

/// Races two calls, round after round.
final class RaceArena {
    /// How many modes a loop is given by races that mark modes: a mode stays common for ever.
    private static let maxModes = 64

    /// What the two threads of a race tell each other; the thread that is not waiting has it.
    private final class Relay: @unchecked Sendable {
        /// The rounds for which the item is there; the other thread is there too, on a processor; both may go; and the
        /// other thread's call has returned.
        let prepared = Atomic<Int>(0)
        let met = Atomic<Int>(0)
        let begun = Atomic<Int>(0)
        let done = Atomic<Int>(0)
        @exclusivity(unchecked) var item: RacedItem!
        @exclusivity(unchecked) var track: RaceTrack!
        @exclusivity(unchecked) var answer: Bool?

        static func wait(for count: Int, in counter: borrowing Atomic<Int>) {
            var spins = 0
            while counter.load(ordering: .acquiring) < count {
                spins += 1
                // Usually both threads are on a processor. On a busy machine the other may have to wait for this one.
                if spins > 1000 { sched_yield() }
            }
        }
    }

    private final class WeakItem {
        weak var item: RunLoop.Item?
    }

    private let race: ItemRace
    private var random: SeededRandom
    /// Always readable, and of all arenas: there are a hundred of these, which race one after the other.
    private static let pipes = (0..<2).map { _ in
        let pipe = DescriptorPair.pipe()
        pipe.send()
        return pipe
    }
    private let tally = RaceTally()
    private let lastItems = (0..<16).map { _ in WeakItem() }
    private var batches: Int
    private(set) var result = RaceResult()

    init(_ race: ItemRace, seed: Int) {
        self.race = race
        random = SeededRandom(UInt64(seed))
        batches = seed
    }

    /// Races until `rounds` are over.
    ///
    /// The second call is made by the home loop's own thread in a callout, in every fourth callout by a third thread,
    /// while the home loop serves the item.
    func run(_ loops: RaceLoops, rounds: Int) {
        let last = result.rounds + rounds
        while result.rounds < last {
            let isServed = batches % 4 == 3
            let runner = isServed ? loops.helper : loops.home
            let count = min(isServed ? 16 : max(16, rounds / 8), 128, last - result.rounds)
            raceABatch(loops.home.loop, loops.elsewhere.loop, runner.loop, rounds: count, isSwapped: batches % 2 == 1)
            batches += 1
        }
    }

    /// The same with loops of the arena's own, if the race marks modes.
    func runMarking(rounds: Int) {
        while result.rounds < rounds {
            let loops = RaceLoops()
            run(loops, rounds: min(Self.maxModes, rounds - result.rounds))
            loops.end()
        }
    }

    /// Looks for what is left when the loops have ended.
    func lookForLeaks() {
        let closures = tally.closures.load(ordering: .acquiring)
        if closures != 0 { result.note("\(race): \(closures) closures were not released") }
        let late = tally.lateCallouts.load(ordering: .acquiring)
        if late > 0 { result.note("\(race): \(late) callouts of items that the loop's own thread had made invalid") }
        let left = lastItems.filter { $0.item != nil }.count
        if left > 0 { result.note("\(race): \(left) of the last items were not released") }
    }

    private func raceABatch(_ home: RunLoop, _ elsewhere: RunLoop, _ runner: RunLoop, rounds: Int, isSwapped: Bool) {
        let relay = Relay()
        let (ours, theirs) = isSwapped ? (race.second, race.first) : (race.first, race.second)
        let delays = (0..<rounds).map { _ in Int.random(in: 0..<300, using: &random) }
        runner.perform {
            for (round, delay) in delays.enumerated() {
                Relay.wait(for: round + 1, in: relay.prepared)
                relay.met.store(round + 1, ordering: .releasing)
                Relay.wait(for: round + 1, in: relay.begun)
                Self.idle(delay, relay.done)
                relay.answer = relay.item.make(theirs, on: relay.track)
                relay.done.store(round + 1, ordering: .releasing)
            }
        }
        for round in 0..<rounds {
            // Every round marks a mode of its own.
            let marked = race.marks ? home.commonModes.filter { $0 != .default } : []
            let track = RaceTrack(
                home: home, elsewhere: elsewhere, marked: marked, fresh: RunLoop.Mode("race \(marked.count)"))
            relay.track = track
            let item = makeItem(home)
            relay.item = item
            var model = ItemModel(race.kind, hasEarlierMode: !marked.isEmpty)
            let preparation = ItemCall.preparations[result.rounds % ItemCall.preparations.count]
            for call in preparation where item.make(call, on: track) != model.follow(call) {
                result.note("\(race): \(call) of \(preparation) has another answer than the model's")
            }
            let delay = Int.random(in: 0..<2000, using: &random)

            relay.prepared.store(round + 1, ordering: .releasing)
            Relay.wait(for: round + 1, in: relay.met)
            relay.begun.store(round + 1, ordering: .releasing)
            Self.idle(delay, relay.done)
            let answer = item.make(ours, on: track)
            Relay.wait(for: round + 1, in: relay.done)

            var seen = Outcome(view: item.view(track), first: answer, second: relay.answer)
            if isSwapped { swap(&seen.first, &seen.second) }
            judge(seen, model, "after \(preparation)")
            relay.item = nil
            end(item, track)
        }
    }

    private func makeItem(_ home: RunLoop) -> RacedItem {
        let pipe = Self.pipes[result.rounds % Self.pipes.count]
        let item = RacedItem(race.kind, home: home, descriptor: pipe.first, tally: tally)
        lastItems[result.rounds % lastItems.count].item = item.item
        return item
    }

    private static func idle(_ count: Int, _ counter: borrowing Atomic<Int>) {
        for _ in 0..<count { _ = counter.load(ordering: .acquiring) }
    }

    // MARK: What a round has shown

    /// What is seen after a round.
    private struct Outcome: Equatable {
        var view: ItemView
        var first: Bool?
        var second: Bool?
    }

    /// What is to be seen when one call comes after the other.
    private func outcome(_ model: ItemModel, secondLeads: Bool) -> Outcome {
        var model = model
        var (first, second): (Bool?, Bool?)
        if secondLeads { second = model.follow(race.second) }
        first = model.follow(race.first)
        if !secondLeads { second = model.follow(race.second) }
        return Outcome(view: model.view, first: first, second: second)
    }

    private func judge(_ seen: Outcome, _ model: ItemModel, _ circumstances: @autoclosure () -> String) {
        let one = outcome(model, secondLeads: false)
        let other = outcome(model, secondLeads: true)
        result.rounds += 1
        if seen != one, seen != other {
            result.note("\(race) \(circumstances()): \(seen) is neither \(one) nor \(other)")
        } else if one != other {
            if seen == one { result.firstWon += 1 } else { result.secondWon += 1 }
        }
    }

    /// Makes an item invalid, which is then nowhere.
    private func end(_ item: RacedItem, _ track: RaceTrack) {
        track.home.remove(item.item, from: .common)
        item.item.invalidate()
        let nowhere = ItemView(isValid: false, modes: [], isElsewhere: false, isCommon: false)
        let view = item.view(track)
        if view != nowhere { result.note("\(race): at the end \(view)") }
        let scheduled = item.record.scheduled.load(ordering: .relaxed)
        if scheduled != 0 { result.note("\(race): \(scheduled) more schedule callouts than cancel callouts") }
    }
}
