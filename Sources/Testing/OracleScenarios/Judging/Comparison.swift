// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The result of running one scenario on both loops.
package enum Verdict: Sendable {
    case same
    /// The first traces differed, later ones agreed: a race with the clock, not a difference.
    case settled(reruns: Int)
    /// Our loop has the same trace if it serves something else first of what is ready together: Specification 9.19.
    case reordered
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
        if isReordered(scenario, real, ours) { return .reordered }
        return .different(Difference(scenario: scenario, real: first.real, ours: first.ours))
    }

    /// Whether our loop has a trace of the real one if it serves something else first where several kinds are ready.
    private func isReordered(_ scenario: Scenario, _ real: Set<[String]>, _ ours: Set<[String]>) -> Bool {
        // A subject that does something else than our loop is wrong, whatever goes first.
        guard ours.contains(Self.trace(scenario, on: RunLoopsEngine.self)) else { return false }
        var scenario = scenario
        var plans: [[Int]] = [[]]
        var next = 0
        let end = monotonicNanoseconds() + Self.maxSearch
        while next < plans.count, monotonicNanoseconds() < end {
            let choices = Choices(plans[next])
            scenario.choices = choices
            if real.contains(Self.trace(scenario, on: RunLoopsEngine.self)) { return true }
            plans += choices.alternatives
            next += 1
        }
        return false
    }

    /// For how long ways to choose what goes first are tried, those with the fewest changes first.
    private static let maxSearch: Int64 = 1_000_000_000

    private static func trace(_ scenario: Scenario, on kind: any Engine.Type) -> [String] {
        if scenario.onMainThread { return Interpreter.trace(scenario, on: kind) }
        return onFreshThread { Interpreter.trace(scenario, on: kind) }
    }
}
