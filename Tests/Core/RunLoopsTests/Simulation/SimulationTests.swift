// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

/// Random programs on the manual kernel, each made from a seed; every rule of ``Simulation`` holds in all of them.
///
/// RUNLOOPS_SEED runs one program again: a seed, or what a failure has printed. RUNLOOPS_FULL=1 runs a million.
@Suite(.ownThread) struct SimulationTests {
    @Test func `Random programs break no rule of the loop`() throws {
        let other = SimulatedThread()
        defer { other.end() }
        SimulatedCrash.tellSeed()
        if let text = Self.environment("RUNLOOPS_SEED") {
            let program = try #require(SimulatedProgram(text), "RUNLOOPS_SEED is a seed, or a seed and its steps")
            try Self.check(program, number: 1, other)
            return
        }
        let first = Self.environment("RUNLOOPS_FIRST_SEED").flatMap { UInt64($0) } ?? 1
        let count: UInt64 = isFull ? 1_000_000 : Sanitizer.isAny ? 2_000 : isThorough ? 20_000 : 3_000
        for seed in first..<first + count {
            try Self.check(SimulatedProgram(seed: seed), number: seed - first + 1, other)
        }
    }

    private static func check(_ program: SimulatedProgram, number: UInt64, _ other: SimulatedThread) throws {
        SimulatedCrash.seed = program.seed
        guard let failure = Simulation.run(program, other) else { return }
        let (shrunk, reason) = SimulationShrinker.shrink(program, failure, other)
        let message: Comment = """
            Program \(number) broke a rule: \(failure)
            Shrunk to \(shrunk.steps.count) steps on \(shrunk.loops) loops: \(reason)
            \(shrunk.listing)
            RUNLOOPS_SEED=\(shrunk.description)
            """
        try #require(Bool(false), message)
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
