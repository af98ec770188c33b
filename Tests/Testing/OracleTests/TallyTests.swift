// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import OracleScenarios
import Testing

/// Which runs of the oracle fail.
@Suite struct TallyTests {
    private func failures(_ scenarios: Int, _ change: (inout Tally) -> Void) -> [String] {
        var tally = Tally()
        change(&tally)
        return tally.failures(scenarios: scenarios)
    }

    @Test func `A run fails with one difference`() {
        #expect(failures(3000) { $0.settled = 100 } == [])
        #expect(failures(3000) { $0.differences = 1 } == ["1 differences"])
    }

    @Test func `A run fails if rule 9.18 or rule 9.19 explains far more scenarios than were measured`() {
        // As measured.
        #expect(failures(3000) { ($0.awake, $0.reordered) = (34, 3) } == [])
        #expect(failures(3000) { $0.awake = 65 } == [])
        #expect(failures(3000) { $0.awake = 66 }.first?.contains("66 differ by rule 9.18") == true)
        #expect(failures(3000) { $0.reordered = 7 } == [])
        #expect(failures(3000) { $0.reordered = 8 }.first?.contains("8 differ by rule 9.19") == true)
        // A run of one scenario that a rule explains passes.
        #expect(failures(1) { ($0.awake, $0.reordered) = (1, 1) } == [])
    }
}
