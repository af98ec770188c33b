// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

/// Calls that no test has thought of.
@Suite(.ownThread, .serialized) struct RandomRaceTests {
    /// `RUNLOOPS_RACE_SEED` makes the same calls once more; threads meet elsewhere each time.
    private static var firstSeed: UInt64 {
        getenv("RUNLOOPS_RACE_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64(SystemCalls.now(.realtime))
    }

    @Test func `Random calls of eight threads on shared items release everything and run each closure once`() {
        let seed = Self.firstSeed
        // Half a second each.
        let rounds = min(raceRounds(orElse: 2), 500)
        print("random race: \(rounds) rounds, RUNLOOPS_RACE_SEED=\(seed)")
        for round in 0..<UInt64(rounds) {
            let faults = RandomRace(seed: seed &+ round, calls: 2000).run()
            #expect(faults == [], "RUNLOOPS_RACE_SEED=\(seed &+ round)")
            if !faults.isEmpty { return }
        }
    }
}
