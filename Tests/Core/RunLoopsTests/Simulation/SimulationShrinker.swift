// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Leaves steps out of a program that fails, from halves to single ones, while the program still fails.
enum SimulationShrinker {
    /// Returns the shrunk program, and which rule it breaks: a program may break another rule on the way.
    static func shrink(
        _ program: SimulatedProgram, _ failure: String, _ other: SimulatedThread
    ) -> (SimulatedProgram, String) {
        var best = program
        var reason = failure
        var chunk = max(1, best.kept.count / 2)
        while true {
            let before = best.kept.count
            var start = 0
            while start < best.kept.count {
                var kept = best.kept
                kept.removeSubrange(start..<min(start + chunk, kept.count))
                let candidate = SimulatedProgram(seed: best.seed, keeping: kept)
                if let failure = Simulation.run(candidate, other) {
                    best = candidate
                    reason = failure
                } else {
                    start += chunk
                }
            }
            // Single steps are tried again until none can go.
            if chunk == 1, best.kept.count == before { return (best, reason) }
            chunk = max(1, chunk / 2)
        }
    }
}

/// A program that ends the process tells its seed first.
enum SimulatedCrash {
    /// The seed of the program that runs.
    nonisolated(unsafe) static var seed: UInt64 = 0

    static func tellSeed() {
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT] {
            var action = sigaction()
            // Then the signal ends the process, as it would have without this.
            action.sa_flags = CInt(bitPattern: SA_RESETHAND)
            action.__sigaction_handler.sa_handler = { _ in SimulatedCrash.write() }
            sigaction(number, &action, nil)
        }
    }

    /// In a signal handler: no allocation.
    private static func write() {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 40) { bytes in
            var count = 0
            for byte in "RUNLOOPS_SEED=".utf8 {
                bytes[count] = byte
                count += 1
            }
            var divisor: UInt64 = 1
            while seed / divisor >= 10 { divisor *= 10 }
            while divisor > 0 {
                bytes[count] = UInt8(48 + seed / divisor % 10)
                count += 1
                divisor /= 10
            }
            bytes[count] = 10
            _ = Glibc.write(2, bytes.baseAddress, count + 1)
        }
    }
}
