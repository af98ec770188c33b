// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Reduces a scenario to the parts without which the loops would not differ.
///
/// Leaves out parts of the actions, from halves to single actions, as long as the loops still differ, and then
/// simplifies the items. The remaining scenario is the one that a person has to understand.
package struct Shrinker {
    private let comparison: Comparison
    /// How many candidates may still be run.
    private var budget: Int
    private var best: Difference

    private init(_ difference: Difference, _ comparison: Comparison, budget: Int) {
        best = difference
        self.comparison = comparison
        self.budget = budget
    }

    /// Returns the smallest difference that was found by running at most `budget` candidates.
    package static func shrink(_ difference: Difference, _ comparison: Comparison, budget: Int = 400) -> Difference {
        var shrinker = Shrinker(difference, comparison, budget: budget)
        var before: Int
        repeat {
            before = shrinker.size
            shrinker.leaveOutActions()
            shrinker.simplifyItems()
        } while shrinker.size < before && shrinker.budget > 0
        return shrinker.best
    }

    private var size: Int { best.scenario.allActions.count }

    private mutating func leaveOutActions() {
        var chunk = max(1, size / 2)
        while true {
            var start = 0
            while start < size, budget > 0 {
                // If the chunk is left out, the next chunk is now at the same index.
                if !accept(best.scenario.without(actions: start..<(start + chunk))) { start += chunk }
            }
            if chunk == 1 || budget <= 0 { return }
            chunk = max(1, chunk / 2)
        }
    }

    private mutating func simplifyItems() {
        for index in best.scenario.sources.indices {
            tryChange { $0.sources[index].tellsScheduling = false }
            tryChange { $0.sources[index].signalsWhenScheduled = false }
            tryChange { $0.sources[index].order = 0 }
        }
        for index in best.scenario.observers.indices {
            tryChange { $0.observers[index].repeats = true }
            tryChange { $0.observers[index].order = 0 }
        }
        for index in best.scenario.timers.indices { tryChange { $0.timers[index].interval = .none } }
        if best.scenario.queueItems.isEmpty { tryChange { $0.onMainThread = false } }
    }

    private mutating func tryChange(_ change: (inout Scenario) -> Void) {
        var candidate = best.scenario
        change(&candidate)
        guard candidate.program != best.scenario.program else { return }
        _ = accept(candidate)
    }

    /// Keeps `candidate` if the loops still differ.
    private mutating func accept(_ candidate: Scenario) -> Bool {
        guard budget > 0 else { return false }
        budget -= 1
        guard case .different(let difference) = comparison.compare(candidate) else { return false }
        best = difference
        return true
    }
}

extension Scenario {
    /// Returns the scenario without the actions at these indices of `allActions`.
    func without(actions range: Range<Int>) -> Scenario {
        var copy = self
        var next = 0
        copy.forEachActionList { list in
            var kept: [Action] = []
            for action in list {
                if !range.contains(next) { kept.append(action) }
                next += 1
            }
            list = kept
        }
        copy.otherThread.removeAll(where: \.isEmpty)
        return copy
    }
}
