// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// The state of a loop alone, without a loop, threads, or the system.
///
/// `RUNLOOPS_STEPS` is the number of steps; `RUNLOOPS_STATE_SEED` runs one program again and shows its steps.
@Suite(.limited) struct StateTests {
    @Test func `Random changes keep the state of a loop equal to a model of flat arrays`() throws {
        if let seed = Self.environment("RUNLOOPS_STATE_SEED").flatMap({ UInt64($0) }) { return try Self.fail(at: seed) }
        let usual = Sanitizer.isAny ? 20_000 : isFull ? 10_000_000 : isThorough ? 500_000 : 100_000
        let wanted = Self.environment("RUNLOOPS_STEPS").flatMap { Int($0) } ?? usual
        let begin = ContinuousClock.now
        var steps = 0
        var seed: UInt64 = Self.environment("RUNLOOPS_FIRST_SEED").flatMap { UInt64($0) } ?? 1
        while steps < wanted {
            let program = StateProgram(seed: seed)
            program.run()
            if let failure = program.failure {
                // First: a program that fails by chance may not fail again.
                Issue.record("RUNLOOPS_STATE_SEED=\(seed): \(failure)")
                return try Self.fail(at: Self.shortest(from: seed))
            }
            steps += program.steps
            seed += 1
        }
        if wanted >= 1_000_000 { print("\(steps) steps of \(seed) programs in \(ContinuousClock.now - begin)") }
    }

    /// The seed of the shortest program that fails, among some.
    private static func shortest(from first: UInt64) -> UInt64 {
        var best = (seed: first, steps: Int.max)
        for seed in first..<first + 3000 {
            let program = StateProgram(seed: seed)
            program.run()
            if program.failure != nil, program.steps < best.steps { best = (seed, program.steps) }
        }
        return best.seed
    }

    private static func fail(at seed: UInt64) throws {
        let program = StateProgram(seed: seed, keepsLog: true)
        program.run()
        let message: Comment = """
            \((program.log ?? []).joined(separator: "\n"))
            RUNLOOPS_STATE_SEED=\(seed): \(program.failure ?? "no difference")
            """
        try #require(program.failure == nil, message)
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
