// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The number of scenarios of a run with each verdict that is not `same`.
package struct Tally: Sendable {
    package var settled = 0
    package var awake = 0
    package var reordered = 0
    package var differences = 0

    package init() {}

    /// Returns why a run of so many scenarios fails, a line for each reason; empty if it passes.
    ///
    /// A rule of part 9 explains a difference after the fact, so an error of the loop could look like one. The share of the
    /// scenarios that a rule explains has a limit, well above the share that was measured: 11 of 1,000 by rule 9.18, and
    /// one of 1,000 by rule 9.19.
    package func failures(scenarios: Int) -> [String] {
        var failures: [String] = []
        if differences > 0 { failures.append("\(differences) differences") }
        if awake > 5 + scenarios / 50 {
            failures.append("\(awake) differ by rule 9.18; 5 and one in 50 may. What else keeps this loop awake?")
        }
        if reordered > 1 + scenarios / 500 {
            failures.append("\(reordered) differ by rule 9.19; 1 and one in 500 may. What else is served first?")
        }
        return failures
    }
}
