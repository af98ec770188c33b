// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// What an item does the first, second, … time it is called; nothing when called more often than that.
package typealias Script = [[Action]]

/// What a scenario does with time.
///
/// The kinds do not mix, because two clocks that race each other prove nothing.
package enum Timing: Hashable, Sendable {
    /// Nothing comes by itself: every timer is due at once or never, no limit passes.
    case still
    /// Timers come at slots; no limit passes.
    case slots
    /// Limits of a few slots pass; timers are due at once or never.
    case limits
}

/// One program over a run loop, as plain data: both engines run it, the printer prints it, the shrinker takes parts
/// away.
package struct Scenario: Sendable {
    package struct Source: Sendable {
        package var order: Int
        /// Whether it has schedule and cancel callouts.
        package var tellsScheduling: Bool
        /// Whether its schedule callout signals it, as sources that have work from the start do.
        package var signalsWhenScheduled: Bool
        package var script: Script
    }

    package struct Descriptor: Sendable {
        package var order: Int
        package var script: Script
    }

    package struct Timer: Sendable {
        package enum Interval: Hashable, Sendable {
            case none
            case slots(Int)
            case hour
        }
        package var first: FireDate
        package var interval: Interval
        package var script: Script
    }

    package struct Observer: Sendable {
        package var activities: UInt
        package var order: Int
        package var repeats: Bool
        package var script: Script
    }

    package var seed: UInt64
    package var number: Int
    package var timing: Timing = .still
    package var onMainThread = false
    /// Whether each mode holds a timer that never comes, from the beginning to the end.
    ///
    /// The real loop on Linux never disarms a mode's timer descriptor when the last timer leaves the mode, and makes an
    /// empty turn when the forgotten date comes. With one more timer that always stays, that cannot happen, and timers
    /// may do anything. Without such a timer, timers leave a mode only by firing or inside their own callback.
    package var hasSentinels = false
    package var modeCount = 1

    package var sources: [Source] = []
    package var descriptors: [Descriptor] = []
    package var timers: [Timer] = []
    package var observers: [Observer] = []
    /// Scripts of the blocks given to `perform`.
    package var blocks: [Script] = []
    /// Scripts of the closures given to the main dispatch queue.
    package var queueItems: [Script] = []
    /// The actions of the loop's thread.
    package var body: [Action] = []
    /// What the other thread does, one step each time the loop has gone to sleep for good.
    ///
    /// When no step is left, it stops the innermost run, so that every run ends.
    package var otherThread: [[Action]] = []
    /// After so many callouts every callout stops the innermost run.
    package var calloutBudget = 70
    /// What our own loop serves first where several kinds of items are ready; `nil` for its own order.
    package var choices: Choices?

    package init(seed: UInt64, number: Int) {
        self.seed = seed
        self.number = number
    }
}

extension Scenario {
    /// How long a slot is.
    ///
    /// Long enough for a thread to wake, act and sleep again on a busy machine of two cores.
    package static let slotNanoseconds: Int64 = 400_000

    /// The slots for which timers are set at first.
    package var slots: [Int] {
        timers.compactMap { if case .slot(let slot) = $0.first { slot } else { nil } }
    }

    /// Visits every list of actions, always in the same order.
    ///
    /// The shrinker counts actions this way.
    package mutating func forEachActionList(_ visit: (inout [Action]) -> Void) {
        visit(&body)
        for index in otherThread.indices { visit(&otherThread[index]) }
        for index in sources.indices { Self.visit(&sources[index].script, visit) }
        for index in descriptors.indices { Self.visit(&descriptors[index].script, visit) }
        for index in timers.indices { Self.visit(&timers[index].script, visit) }
        for index in observers.indices { Self.visit(&observers[index].script, visit) }
        for index in blocks.indices { Self.visit(&blocks[index], visit) }
        for index in queueItems.indices { Self.visit(&queueItems[index], visit) }
    }

    private static func visit(_ script: inout Script, _ visit: (inout [Action]) -> Void) {
        for index in script.indices { visit(&script[index]) }
    }

    /// Every action of the program, in the order of `forEachActionList`.
    package var allActions: [Action] {
        var actions: [Action] = []
        var copy = self
        copy.forEachActionList { actions.append(contentsOf: $0) }
        return actions
    }
}
