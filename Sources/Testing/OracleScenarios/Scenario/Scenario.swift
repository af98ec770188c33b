// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The actions of an item, one list for each of its calls in order; later calls do nothing.
package typealias Script = [[Action]]

/// The way in which a scenario uses time.
///
/// A scenario has one kind only, because two clocks that race each other prove nothing.
package enum Timing: Hashable, Sendable {
    /// No timer and no limit passes by itself: every timer is due at once or never, and no limit is reached.
    case still
    /// Timers fire at slots; no limit is reached.
    case slots
    /// Limits of a few slots are reached; timers are due at once or never.
    case limits
}

/// A program that uses a run loop, as plain data: both engines run it, `program` prints it, and the shrinker removes
/// parts of it.
package struct Scenario: Sendable {
    package struct Source: Sendable {
        package var order: Int
        /// Whether the source has schedule and cancel callouts.
        package var tellsScheduling: Bool
        /// Whether the schedule callout signals the source, as sources do that have work from the start.
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
    /// Whether each mode has a timer that never fires, from the beginning to the end.
    ///
    /// The real loop on Linux does not disarm a mode's timer descriptor when the last timer leaves the mode, and makes
    /// an empty turn at the forgotten date. With one more timer that always stays, this cannot happen, and any action
    /// on timers is allowed. Without such a timer, timers leave a mode only by firing or inside their own callback.
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
    /// The steps of the other thread, which performs one each time the loop sleeps and nothing would wake it.
    ///
    /// When no step is left, the other thread stops the innermost run, so that every run ends.
    package var otherThread: [[Action]] = []
    /// The number of callouts after which every callout stops the innermost run.
    package var calloutBudget = 70
    /// The choices of this package's loop when several kinds of items are ready; `nil` for the loop's own order.
    package var choices: Choices?
    /// Whether this package's loop sleeps in a mode that has lost its last item, as the real one does: Specification 9.18.
    package var sleepsWithoutItems = false

    /// The length of a slot, in nanoseconds: the time for a thread to wake, act and sleep again.
    package var slotNanoseconds: Int64 = 400_000

    package init(seed: UInt64, number: Int) {
        self.seed = seed
        self.number = number
    }
}

extension Scenario {
    /// The slots that are the first dates of timers.
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
