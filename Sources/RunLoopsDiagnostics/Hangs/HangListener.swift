// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import Synchronization

/// Notes what one loop does for the watcher, and wakes it when there is something to watch.
// Unchecked: what is not atomic is not changed.
final class HangListener: LoopListener, @unchecked Sendable {
    let status: LoopStatus
    let tally: StretchTally
    /// The upper end of the thread's stack; 0 until the thread has told.
    let stackEnd = Atomic<UInt64>(0)
    /// The watcher wants to know when the present stretch ends.
    let wantsEnd = Atomic<Bool>(false)
    private let watcher: HangWatcher
    private let clock: LoopClock

    init(_ loop: RunLoop, limit: Int64, watcher: HangWatcher) {
        status = LoopStatus(loop)
        clock = LoopClock(loop)
        tally = StretchTally(limit: limit)
        self.watcher = watcher
    }

    func hear(_ event: LoopEvent, at time: Int64, depth: UInt16) {
        if case .returns = event, let callout = status.innermost {
            tally.returns(
                callee: callout.callee, label: callout.label, line: callout.line, since: callout.since, at: time)
        }
        status.hear(event, at: time, depth: depth)
        switch event {
        case .wakes: begins(time)
        case .runBegins: if depth == 1 { begins(time) }
        case .sleeps: ends(time)
        case .runEnds: if depth <= 1 { ends(time) }
        default: break
        }
    }

    /// Begins, on the loop's thread: in the middle of a run, if it is in that mode.
    func begin(_ mode: RunLoop.Mode?) {
        stackEnd.store(StackSampler.join(), ordering: .relaxed)
        // The work under way is a stretch as well; its first part is not known.
        if let mode { hear(.runBegins(mode), at: clock.now, depth: 1) }
    }

    private func begins(_ time: Int64) {
        tally.begins(at: time)
        // Partner of the fence in HangWatcher.park(): either the watcher sees that the loop is in use, or the loop sees
        // that the watcher sleeps.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if watcher.isParked.load(ordering: .relaxed) { watcher.unpark(at: time) }
    }

    private func ends(_ time: Int64) {
        tally.ends(at: time)
        // Relaxed: if it is seen too late, the next look finds the end.
        if wantsEnd.load(ordering: .relaxed) {
            wantsEnd.store(false, ordering: .relaxed)
            watcher.poke(at: time)
        }
    }
}
