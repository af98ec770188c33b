// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The result of running one scenario on both loops.
package enum Verdict: Sendable {
    case same
    /// The first traces were different and later ones equal: a race with the clock, not a difference of the loops.
    case settled(reruns: Int)
    /// This package's loop has the same trace if it sleeps in a mode that has lost its last item: Specification 9.18.
    case awake
    /// This package's loop has the same trace if it calls items that are ready together in another order: Specification
    /// 9.19.
    case reordered
    case different(Difference)
}

/// A scenario that the loops run differently, with one trace of each.
package struct Difference: Sendable {
    package var scenario: Scenario
    package var real: [String]
    package var ours: [String]
}

/// Runs scenarios on two loops and compares the traces.
package struct Comparison: Sendable {
    private let reference: any Engine.Type
    private let subject: any Engine.Type
    /// How often both are run again before a difference counts.
    private let reruns: Int
    /// The factor of `reruns` for a scenario that waits for dates, because on a busy machine it can run in many ways.
    private static let patience = 6

    package init(
        reference: any Engine.Type = CoreFoundationEngine.self, subject: any Engine.Type = RunLoopsEngine.self,
        reruns: Int = 5
    ) {
        self.reference = reference
        self.subject = subject
        self.reruns = reruns
    }

    /// Returns the trace of `scenario` on the reference loop, and the trace on the loop that is compared with it.
    package func traces(_ scenario: Scenario) -> (real: [String], ours: [String]) {
        (Self.trace(scenario, on: reference), Self.trace(scenario, on: subject))
    }

    /// Compares one scenario.
    ///
    /// A scenario of the main thread must be compared on the main thread.
    package func compare(_ scenario: Scenario) -> Verdict {
        let first = traces(scenario)
        if first.real == first.ours { return .same }
        if isAwake(scenario, first.real, first.ours) { return .awake }
        var real: Set = [first.real]
        var ours: Set = [first.ours]
        for rerun in 0..<(scenario.timing == .still ? reruns : reruns * Self.patience) {
            // A difference that longer slots do not have comes from a machine that is too busy for short ones.
            var slower = scenario
            slower.slotNanoseconds <<= Int64(rerun / reruns)
            let again = traces(slower)
            real.insert(again.real)
            ours.insert(again.ours)
            if !real.isDisjoint(with: ours) { return .settled(reruns: rerun + 1) }
        }
        // Often enough, because a busy machine also runs these in other ways.
        for _ in 0..<reruns {
            for real in real where isAwake(scenario, real, first.ours) { return .awake }
        }
        if isReordered(scenario, real, ours) { return .reordered }
        return .different(Difference(scenario: scenario, real: first.real, ours: first.ours))
    }

    /// Whether this package's loop has the trace of the real loop if it sleeps where only the real loop does.
    ///
    /// The real loop runs the scenario as it is: nothing that a judge knows of this package's loop acts on it.
    private func isAwake(_ scenario: Scenario, _ real: [String], _ ours: [String]) -> Bool {
        guard ours == Self.trace(scenario, on: RunLoopsEngine.self) else { return false }
        var scenario = scenario
        scenario.sleepsWithoutItems = true
        return real == Self.trace(scenario, on: RunLoopsEngine.self)
    }

    /// Whether this package's loop has a trace of the real loop if it makes other choices when several kinds of items
    /// are ready.
    private func isReordered(_ scenario: Scenario, _ real: Set<[String]>, _ ours: Set<[String]>) -> Bool {
        // A subject that does something else than our loop is wrong, whatever goes first.
        guard ours.contains(Self.trace(scenario, on: RunLoopsEngine.self)) else { return false }
        // Both rules may concern one scenario.
        var asleep = scenario
        asleep.sleepsWithoutItems = true
        return isReordered(scenario, real) || isReordered(asleep, real)
    }

    private func isReordered(_ scenario: Scenario, _ real: Set<[String]>) -> Bool {
        var scenario = scenario
        var plans: [[Int]] = [[]]
        var next = 0
        while next < min(plans.count, Self.maxPlans) {
            let choices = Choices(plans[next])
            scenario.choices = choices
            if real.contains(Self.trace(scenario, on: RunLoopsEngine.self)) { return true }
            plans += choices.alternatives
            next += 1
        }
        return false
    }

    /// How many other choices are tried; those with the fewest changes are tried first.
    ///
    /// A limit of time would make the verdict depend on how busy the machine is.
    private static let maxPlans = 5_000

    private static func trace(_ scenario: Scenario, on kind: any Engine.Type) -> [String] {
        if scenario.onMainThread { return Interpreter.trace(scenario, on: kind) }
        return onFreshThread { Interpreter.trace(scenario, on: kind) }
    }
}
