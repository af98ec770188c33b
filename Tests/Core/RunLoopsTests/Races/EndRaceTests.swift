// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Testing

/// Calls on a loop, and on its items, at the moment at which the loop's thread ends.
@Suite(.ownThread, .serialized) struct EndRaceTests {
    /// Each round is a thread with a loop: a hundred thousand for each pair would take days.
    private static let rounds = min(raceRounds(orElse: 24), 2_000)

    @Test(arguments: ItemKind.allCases)
    func `A call on an item while its loop's thread ends acts as if made before or after the end`(kind: ItemKind) {
        let faults = TestThread.run {
            let elsewhere = RunningLoop()
            let races = ItemCall.raced(on: kind).map { EndRace(kind, $0) }
            for race in races { race.run(Self.rounds, elsewhere: elsewhere.loop) }
            elsewhere.end()
            for race in races { race.lookForLeaks() }
            if Self.rounds > 24 { for race in races { print(race) } }
            return races.flatMap(\.faults)
        }
        #expect(faults == [])
    }

    @Test(arguments: LoopCall.allCases)
    func `A call on a loop while its thread ends takes effect once or not at all`(call: LoopCall) {
        let faults = TestThread.run {
            let race = LoopEndRace(call)
            race.run(Self.rounds)
            if Self.rounds > 24 { print(race) }
            return race.faults
        }
        #expect(faults == [])
    }

    @Test func `Loops that end while descriptors are added leave no descriptor open`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            let opened = TestThread.run {
                let elsewhere = RunningLoop()
                // What the other loop and the process make once and keep.
                EndRace(.descriptorSource, .addElsewhere).run(1, elsewhere: elsewhere.loop)
                let before = countOpenDescriptors()
                for call in [ItemCall.add, .addCommon, .markCommon, .setEvents, .invalidate] {
                    let race = EndRace(.descriptorSource, call)
                    race.run(Self.rounds, elsewhere: elsewhere.loop)
                    race.closePipe()
                }
                let opened = countOpenDescriptors() - before
                elsewhere.end()
                return opened
            }
            #expect(opened == 0)
        }
    }
}
