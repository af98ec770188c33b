// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OracleScenarios

/// Scenarios are data: what is made, printed and taken apart can be tested without any loop.
@Suite struct ScenarioTests {
    @Test func `The same seed and number make the same scenario`() {
        for number in 0..<50 {
            let one = ScenarioGenerator.scenario(number, seed: 7, mainThread: true)
            let other = ScenarioGenerator.scenario(number, seed: 7, mainThread: true)
            #expect(one.program == other.program)
        }
    }

    @Test func `Different seeds make different scenarios`() {
        let one = (0..<20).map { ScenarioGenerator.scenario($0, seed: 1, mainThread: true).allActions }
        let other = (0..<20).map { ScenarioGenerator.scenario($0, seed: 2, mainThread: true).allActions }
        #expect(one != other)
    }

    @Test func `A scenario off the main thread has no items of the main queue`() {
        for number in 0..<200 {
            let scenario = ScenarioGenerator.scenario(number, seed: 3, mainThread: false)
            #expect(!scenario.onMainThread)
            #expect(scenario.queueItems.isEmpty)
        }
    }

    @Test func `Every kind of action occurs in bodies and callouts`() {
        var kinds: Set<String> = []
        for number in 0..<500 {
            for action in ScenarioGenerator.scenario(number, seed: 5, mainThread: true).allActions {
                kinds.insert(String(ProgramText.action(action).prefix { $0 != " " }))
            }
        }
        #expect(
            kinds.isSuperset(of: [
                "add", "remove", "invalidate", "mark", "signal", "write", "wake", "stop", "perform", "queue", "set",
                "run", "ask",
            ]))
    }

    @Test func `In scenarios without sentinels, neither body nor other thread moves or removes timers`() {
        for number in 0..<500 {
            let scenario = ScenarioGenerator.scenario(number, seed: 11, mainThread: true)
            guard !scenario.timers.isEmpty, !scenario.hasSentinels else { continue }
            #expect(scenario.timers.count <= scenario.modeCount)
            for action in scenario.body + scenario.otherThread.joined() {
                switch action {
                case .remove(.timer, _), .invalidate(.timer), .setFireDate:
                    Issue.record("\(ProgramText.action(action))")
                default: break
                }
            }
        }
    }

    @Test func `Removing the action at an index keeps all other actions of the scenario`() {
        let scenario = ScenarioGenerator.scenario(4, seed: 1, mainThread: false)
        let actions = scenario.allActions
        for index in actions.indices {
            var rest = actions
            rest.remove(at: index)
            #expect(scenario.without(actions: index..<(index + 1)).allActions == rest)
        }
    }

    @Test func `The kind of a date is recognised as due, slot, far or sentinel`() {
        let now: Int64 = 5_000_000
        #expect(Dates.seen(Dates.offset(.past(3), now: now, slot: 400_000), now: now, slot: 400_000) == .due)
        #expect(Dates.seen(Dates.offset(.now, now: now, slot: 400_000), now: now, slot: 400_000) == .due)
        #expect(Dates.seen(Dates.offset(.slot(20), now: now, slot: 400_000), now: now, slot: 400_000) == .slot(20))
        #expect(Dates.seen(Dates.offset(.far(7), now: now, slot: 400_000), now: now, slot: 400_000) == .far(7))
        #expect(Dates.seen(Dates.sentinel, now: now, slot: 400_000) == .sentinel)
    }
}
