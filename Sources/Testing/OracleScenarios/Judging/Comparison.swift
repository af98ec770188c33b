// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// What came of running one scenario on both loops.
package enum Verdict: Sendable {
    case same
    /// The first traces differed, later ones agreed: a race with the clock, not a difference.
    case settled(reruns: Int)
    case different(Difference)
}

/// A scenario that the loops run differently, with one trace of each.
package struct Difference: Sendable {
    package var scenario: Scenario
    package var real: [String]
    package var ours: [String]
}

/// Runs scenarios on two loops and compares what they did.
package struct Comparison: Sendable {
    private let reference: any Engine.Type
    private let subject: any Engine.Type
    /// How often both are run again before a difference counts.
    private let reruns: Int
    /// How many times as often where the scenario waits for dates: it has many ways to go on a busy machine.
    private static let patience = 6

    package init(
        reference: any Engine.Type = CoreFoundationEngine.self, subject: any Engine.Type = RunLoopsEngine.self,
        reruns: Int = 5
    ) {
        self.reference = reference
        self.subject = subject
        self.reruns = reruns
    }

    /// The trace of `scenario` on the reference, and on the loop that is compared with it.
    package func traces(_ scenario: Scenario) -> (real: [String], ours: [String]) {
        (Self.trace(scenario, on: reference), Self.trace(scenario, on: subject))
    }

    /// Compares one scenario.
    ///
    /// A scenario of the main thread must be compared on the main thread.
    package func compare(_ scenario: Scenario) -> Verdict {
        let first = traces(scenario)
        if first.real == first.ours { return .same }
        var real: Set = [first.real]
        var ours: Set = [first.ours]
        for rerun in 0..<(scenario.timing == .still ? reruns : reruns * Self.patience) {
            let again = traces(scenario)
            real.insert(again.real)
            ours.insert(again.ours)
            if !real.isDisjoint(with: ours) { return .settled(reruns: rerun + 1) }
        }
        return .different(Difference(scenario: scenario, real: first.real, ours: first.ours))
    }

    private static func trace(_ scenario: Scenario, on kind: any Engine.Type) -> [String] {
        if scenario.onMainThread { return Interpreter.trace(scenario, on: kind) }
        return onFreshThread { Interpreter.trace(scenario, on: kind) }
    }
}
