// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Testing

/// Random programs that fork at random steps, also in callouts, asleep, and from the other thread.
@Suite(
    .ownThread,
    .disabled(if: Sanitizer.isAny, "a sanitizer copies its locks, and calls a leak what a child inherits"))
struct SimulationForkProcessTests {
    @Test func `A fork at any step breaks no rule of the loop in the parent, and the child has a working loop`() async {
        await #expect(processExitsWith: .success) {
            let other = SimulatedThread()
            defer { other.end() }
            SimulatedCrash.tellSeed()
            var random = SeededRandom(1)
            let count: UInt64 = isFull ? 10_000 : 200
            // Seeds that the programs without a fork do not reach.
            for seed in 2_000_000..<2_000_000 + count {
                SimulatedCrash.seed = seed
                let program = SimulatedProgram(seed: seed)
                let ticks = Simulation.run(program, other, forkingAt: nil).ticks
                for _ in 0..<3 {
                    let tick = Int.random(in: 1...max(1, ticks), using: &random)
                    let failure = Simulation.run(program, other, forkingAt: tick).failure
                    guard failure == nil else {
                        Issue.record("seed \(seed) with a fork at \(tick): \(failure ?? "")\n\(program.listing)")
                        return
                    }
                }
            }
        }
    }
}
