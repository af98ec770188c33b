// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Synchronization

/// A call on a loop that is raced with the end of its thread.
enum LoopCall: CaseIterable {
    case perform, performInModes, performAfter, performAfterInCommonModes, cancel, cancelInCommonModes
    case stop, wakeUp, describe, addMode
}

/// Races a call on a loop with the end of the loop's thread.
final class LoopEndRace: CustomStringConvertible {
    /// What becomes of one closure.
    private final class Fate: Sendable {
        let runs = Atomic<Int>(0)
        let isReleased = Atomic<Bool>(false)

        func closure() -> @Sendable () -> Void {
            let token = Token { self.isReleased.store(true, ordering: .releasing) }
            return {
                withExtendedLifetime(token) {}
                self.runs.add(1, ordering: .relaxed)
            }
        }
    }

    private let call: LoopCall
    private var random = SeededRandom(18)
    private var aim = EndAim()
    private(set) var faults: [String] = []

    init(_ call: LoopCall) { self.call = call }

    /// At least so many rounds, and until the call has come before an end and after one.
    func run(_ rounds: Int) {
        var round = 0
        while round < rounds || !aim.hasBothSides {
            weak let loop = race(runs: round % 2 == 1)
            if loop != nil { note("the loop was not released") }
            round += 1
        }
    }

    var description: String { "\(call): \(aim)" }

    private func note(_ fault: String) { if faults.count < 5 { faults.append("\(call): \(fault)") } }

    /// Returns the loop for the sake of a weak reference.
    private func race(runs: Bool) -> RunLoop {
        let ending = EndingLoop(runs: runs)
        let loop = ending.loop
        let fate = Fate()
        var delayed: RunLoop.DelayedPerform?
        var isCancelled = false
        switch call {
        case .cancel: delayed = loop.perform(after: .zero, fate.closure())
        case .cancelInCommonModes: delayed = loop.perform(after: .zero, in: .common, fate.closure())
        default: break
        }
        aim.call(ending, &random) {
            switch call {
            case .perform: loop.perform(fate.closure())
            case .performInModes: loop.perform(in: [.default, "other"], fate.closure())
            case .performAfter: delayed = loop.perform(after: .zero, fate.closure())
            case .performAfterInCommonModes: delayed = loop.perform(after: .zero, in: .common, fate.closure())
            case .cancel, .cancelInCommonModes: isCancelled = delayed.map(loop.cancel) ?? false
            case .stop: loop.stop()
            case .wakeUp: loop.wakeUp()
            case .describe: _ = loop.detailedDescription()
            case .addMode: loop.markCommon("marked")
            }
        }
        ending.join()
        if let delayed, loop.cancel(delayed) { note("a closure could be cancelled after the end") }
        judge(fate, isCancelled)
        return loop
    }

    private func judge(_ fate: Fate, _ isCancelled: Bool) {
        let runs = fate.runs.load(ordering: .acquiring)
        if runs + (isCancelled ? 1 : 0) > 1 { note("\(runs) runs, cancelled: \(isCancelled)") }
        switch call {
        case .stop, .wakeUp, .describe, .addMode: break
        default: if !fate.isReleased.load(ordering: .acquiring) { note("a closure was not released") }
        }
    }
}
