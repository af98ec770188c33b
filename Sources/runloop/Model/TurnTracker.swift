// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops

/// Finds the steps of the turn at which callouts happen.
///
/// Observers name their own step, and a callout's kind nearly does; what is left follows from where the turn has got
/// to. Pure: events in, steps out.
struct TurnTracker: Sendable {
    /// One run in progress.
    ///
    /// Runs nest, so there is a stack of them.
    private struct Run {
        let mode: RunLoop.Mode
        /// The last step of the turn in progress that is known to have been reached.
        var position: Step = .entry
        /// The loop does not look at the main queue at step 6 in the turn after one that served it.
        var servedMainQueue = false
        var servedMainQueueLastTurn = false
        /// The kernel woke the thread and nothing has told yet what for.
        var isWakeUnexplained = false
    }

    private var runs: [Run] = []

    /// How many runs are in progress, one inside the other.
    var depth: Int { runs.count }

    /// The innermost run's mode.
    var mode: RunLoop.Mode? { runs.last?.mode }

    /// The steps an observer's call stands for, in order.
    mutating func advance(_ event: DemoEvent) -> [Step] {
        switch event {
        case .entered(let mode):
            runs.append(Run(mode: mode))
            return [.entry]
        case .beforeTimers:
            // No observer sees step 10; a turn that ended has passed it.
            let ended: [Step] = position > .beforeTimers ? [.result] : []
            move(to: .beforeTimers)
            update { run in
                run.servedMainQueueLastTurn = run.servedMainQueue
                run.servedMainQueue = false
            }
            return ended + [.beforeTimers]
        case .beforeSources:
            move(to: .beforeSources)
            return [.beforeSources]
        case .beforeWaiting:
            move(to: .sleep)
            return [.sleep]
        case .afterWaiting:
            move(to: .wake)
            update { $0.isWakeUnexplained = true }
            return [.wake]
        case .exited:
            let ended: [Step] = position > .beforeTimers ? [.result] : []
            _ = runs.popLast()
            return ended + [.exit]
        case .callout(let callout):
            return steps(of: callout)
        case .returned, .note:
            return []
        }
    }

    /// True once after a wake-up that nothing explained by the end of its turn: only `wakeUp()` or the deadline was
    /// behind it.
    mutating func takeUnexplainedWake() -> Bool {
        let isUnexplained = runs.last?.isWakeUnexplained ?? false
        update { $0.isWakeUnexplained = false }
        return isUnexplained
    }

    /// The steps of one callout: mostly one; two where the main queue was found at step 6.
    private mutating func steps(of callout: Callout) -> [Step] {
        switch callout {
        case .block:
            // Blocks run at 4, again at 5 after a handled source, and at 10: which one, the position tells.
            if position <= .blocks {
                move(to: .blocks)
                return [.blocks]
            }
            if position == .sources { return [.sources] }
            move(to: .result)
            return [.result]
        case .source:
            move(to: .sources)
            return [.sources]
        case .mainQueue, .mainActor:
            // Served without a sleep before it, the work was found at step 6.
            let wasLookedAt = position < .sleep && !(runs.last?.servedMainQueueLastTurn ?? false)
            serve()
            update { $0.servedMainQueue = true }
            return wasLookedAt ? [.mainQueueLook, .served] : [.served]
        case .timer, .onceTimer, .inputLine, .inputEnd, .inputChunk, .key, .systemSignal:
            serve()
            return [.served]
        }
    }

    private var position: Step { runs.last?.position ?? .entry }

    private mutating func serve() {
        update { $0.isWakeUnexplained = false }
        move(to: .served)
    }

    private mutating func move(to step: Step) {
        update { $0.position = step }
    }

    private mutating func update(_ change: (inout Run) -> Void) {
        guard let last = runs.indices.last else { return }
        change(&runs[last])
    }
}
