// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Synchronization

/// Races a call on an item with the end of the thread that the item's loop belongs to.
final class EndRace: CustomStringConvertible {
    private static let preparations: [[ItemCall]] = [
        [], [.add], [.addCommon], [.addCommon, .removeFromEach], [.add, .addElsewhere],
    ]

    private let kind: ItemKind
    private let call: ItemCall
    private let pipe = DescriptorPair.pipe()
    private let tally = RaceTally()
    private var random = SeededRandom(17)
    private var aim = EndAim()
    private(set) var faults: [String] = []

    init(_ kind: ItemKind, _ call: ItemCall) {
        (self.kind, self.call) = (kind, call)
        pipe.send()
    }

    /// At least so many rounds, and until the call has come before an end and after one.
    func run(_ rounds: Int, elsewhere: RunLoop) {
        var round = 0
        while round < rounds || !aim.hasBothSides {
            race(Self.preparations[round % Self.preparations.count], runs: round % 2 == 1, elsewhere)
            round += 1
        }
    }

    func closePipe() {
        pipe.closeFirst()
        pipe.closeSecond()
    }

    /// Looks for what is left when all loops have ended.
    func lookForLeaks() {
        let closures = tally.closures.load(ordering: .acquiring)
        if closures != 0 { note("\(closures) closures were not released") }
    }

    var description: String { "\(kind), \(call): \(aim)" }

    private func note(_ fault: String) { if faults.count < 5 { faults.append("\(kind), \(call): \(fault)") } }

    private func race(_ preparation: [ItemCall], runs: Bool, _ elsewhere: RunLoop) {
        let ending = EndingLoop(runs: runs)
        let track = RaceTrack(home: ending.loop, elsewhere: elsewhere, marked: [], fresh: "fresh")
        let item = RacedItem(kind, home: ending.loop, descriptor: pipe.first, tally: tally)
        var model = ItemModel(kind, hasEarlierMode: false)
        for call in preparation where item.make(call, on: track) != model.follow(call) {
            note("\(call) of \(preparation) has another answer than the model's")
        }
        var answer: Bool?
        aim.call(ending, &random) { answer = item.make(call, on: track) }
        ending.join()

        let seen = Outcome(view: item.view(track), answer: answer)
        let (early, late) = (outcome(model, endsFirst: false), outcome(model, endsFirst: true))
        if seen != early, seen != late {
            note("after \(preparation), runs: \(runs): \(seen) is neither \(early) nor \(late)")
        }
        end(item, track)
    }

    /// What is seen after a round, or to be seen.
    private struct Outcome: Equatable {
        var view: ItemView
        var answer: Bool?
    }

    private func outcome(_ model: ItemModel, endsFirst: Bool) -> Outcome {
        var model = model
        if endsFirst { model.endHome() }
        let answer = model.follow(call)
        if !endsFirst { model.endHome() }
        return Outcome(view: model.view, answer: answer)
    }

    /// Another loop may have the item after the end, until the item is invalid.
    private func end(_ item: RacedItem, _ track: RaceTrack) {
        track.elsewhere.remove(item.item, from: .default)
        if item.item.isValid, item.make(.addElsewhere, on: track) != true { note("no other loop can have the item") }
        item.item.invalidate()
        let view = item.view(track)
        if view != ItemView(isValid: false, modes: [], isElsewhere: false, isCommon: false) {
            note("at the end \(view)")
        }
        let scheduled = item.record.scheduled.load(ordering: .acquiring)
        if scheduled != 0 { note("\(scheduled) more schedule callouts than cancel callouts") }
    }
}
