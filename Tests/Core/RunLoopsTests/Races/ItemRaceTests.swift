// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

/// Rounds of each race: `few`, a night's work if the environment asks for it, or as many as it says.
func raceRounds(orElse few: Int) -> Int {
    if let number = getenv("RUNLOOPS_RACE_ROUNDS").flatMap({ Int(String(cString: $0)) }) { return number }
    return isFull ? 100_000 : few
}

/// Calls of two threads on one item at the same time, while its loops run.
@Suite(.ownThread, .serialized) struct ItemRaceTests {
    private static let rounds = raceRounds(orElse: 16)
    private static var isLarge: Bool { rounds > 16 }

    @Test(arguments: ItemKind.allCases)
    func `Two concurrent calls on an item act as if made one after the other`(kind: ItemKind) {
        let results = TestThread.run {
            let loops = RaceLoops()
            let arenas = ItemRace.all(kind).enumerated().map { index, race in
                let arena = RaceArena(race, seed: index)
                if race.marks { arena.runMarking(rounds: Self.rounds) } else { arena.run(loops, rounds: Self.rounds) }
                return arena
            }
            loops.end()
            for arena in arenas { arena.lookForLeaks() }
            return arenas.map(\.result)
        }
        #expect(results.flatMap(\.faults) == [])
        // Each order was seen.
        let (first, second) = (results.reduce(0) { $0 + $1.firstWon }, results.reduce(0) { $0 + $1.secondWon })
        #expect(first > 0 && second > 0)
        if Self.isLarge {
            let rounds = results.reduce(0) { $0 + $1.rounds }
            print("\(kind): \(results.count) races, \(rounds) rounds; \(first) show one order, \(second) the other")
        }
    }
}
