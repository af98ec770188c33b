// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OracleScenarios

/// The comparison itself: that it says yes to the same loop, no to a wrong one, and makes the no small.
///
/// One after the other, because scenarios keep time and each has threads of its own.
@Suite(.serialized) struct ComparisonTests {
    @Test func `A thousand scenarios have the same trace on the real CFRunLoop and on this one`() {
        let comparison = Comparison()
        var found = 0
        // Three programs to read are enough for one failure.
        for number in 0..<1_300 where found < 3 {
            let scenario = ScenarioGenerator.scenario(number, seed: 1, mainThread: false)
            // Scenarios that wait for dates are for the program: a test must not depend on being prompt.
            guard scenario.timing == .still, case .different(let difference) = comparison.compare(scenario) else {
                continue
            }
            found += 1
            let shrunk = Shrinker.shrink(difference, comparison, budget: 100)
            Issue.record("\(shrunk.scenario.program)\n\(shrunk.real)\n\(shrunk.ours)")
        }
    }

    @Test func `The real CFRunLoop has the same trace in two runs of a scenario`() {
        let comparison = Comparison(subject: CoreFoundationEngine.self)
        for number in 0..<100 {
            let scenario = ScenarioGenerator.scenario(number, seed: 2, mainThread: false)
            if scenario.timing == .still, case .different = comparison.compare(scenario) {
                Issue.record("scenario \(number)")
            }
        }
    }

    @Test func `The comparison finds a loop that does not remove sources, and shortens the scenario`() throws {
        let comparison = Comparison(subject: FaultyEngine.self, reruns: 1)
        let first = (0..<500).lazy.compactMap { number -> Difference? in
            let scenario = ScenarioGenerator.scenario(number, seed: 3, mainThread: false)
            guard scenario.timing == .still, case .different(let difference) = comparison.compare(scenario) else {
                return nil
            }
            return difference
        }.first
        let difference = try #require(first)
        let shrunk = Shrinker.shrink(difference, comparison)
        #expect(shrunk.scenario.allActions.count < difference.scenario.allActions.count)
        #expect(shrunk.scenario.allActions.count <= 6)
        #expect(shrunk.scenario.allActions.contains { if case .remove(.source, _) = $0 { true } else { false } })
        #expect(shrunk.real != shrunk.ours)
    }

    @Test
    func `Sources that signal themselves while their mode is marked are performed in the same order by both loops`() {
        var scenario = Scenario(seed: 0, number: 0)
        scenario.modeCount = 2
        scenario.sources = Array(
            repeating: .init(order: 0, tellsScheduling: true, signalsWhenScheduled: true, script: []), count: 4)
        scenario.body =
            (0..<4).map { .add(.source($0), .common) } + [
                .run(.mode(0), .zero, returnsAfterSource: false), .markCommon(1),
                .run(.mode(1), .zero, returnsAfterSource: false),
            ]
        for _ in 0..<20 {
            let (real, ours) = Comparison().traces(scenario)
            #expect(real == ours)
            #expect(
                ours.filter { $0.hasPrefix("  source") }
                    == Array(repeating: (0..<4).map { "  source s\($0)" }, count: 2).flatMap(\.self))
        }
    }

    @Test func `The second thread of a scenario stops a run that would sleep forever`() {
        var scenario = Scenario(seed: 0, number: 0)
        scenario.sources = [.init(order: 0, tellsScheduling: false, signalsWhenScheduled: false, script: [])]
        scenario.body = [
            .add(.source(0), .mode(0)), .run(.mode(0), .unlimited, returnsAfterSource: false),
        ]
        scenario.otherThread = [[.signal(0), .wakeUp]]
        let expected = [
            "run default {", "  other thread, step 1", "  source s0", "  other thread stops", "} stopped",
        ]
        // On a busy machine a thread that was woken may not have run yet, and counts as asleep: the other thread goes
        // on too early. The comparison runs such a scenario again, and so does this test.
        let traces = (0..<20).lazy.map { _ in Comparison().traces(scenario) }
        #expect(traces.contains { $0.real == expected && $0.ours == expected })
    }
}

/// The real loop, except that sources stay where they are.
private final class FaultyEngine: CoreFoundationEngine, @unchecked Sendable {
    override func remove(_ item: ItemName, from mode: ModeName) {
        if case .source = item { return }
        super.remove(item, from: mode)
    }
}
