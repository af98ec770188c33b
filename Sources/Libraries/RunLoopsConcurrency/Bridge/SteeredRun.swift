// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import Synchronization

/// A run that other code can end, this run and no other.
///
/// A stop ends the innermost run, which may be nested in the run that is to end. So the end is only noted, and the run
/// stops itself at a point where it is the innermost: between its own observers.
///
/// Everything except ``end()`` and ``isOver`` belongs to the loop's thread.
// Unchecked: the depth belongs to the loop's thread, the mark is atomic.
final class SteeredRun: @unchecked Sendable {
    private let loop: RunLoop
    private let mode: RunLoop.Mode
    private let over = Atomic<Bool>(false)
    /// How many runs of the mode are in progress since the first one here.
    @exclusivity(unchecked) private var depth = 0

    init(_ loop: RunLoop, _ mode: RunLoop.Mode) {
        self.loop = loop
        self.mode = mode
    }

    var isOver: Bool { over.load(ordering: .sequentiallyConsistent) }

    /// Ends the run, or the next run if none is in progress; may be called on any thread.
    func end() {
        over.store(true, ordering: .sequentiallyConsistent)
        // Causes a turn in which the run looks at the mark.
        loop.wakeUp()
    }

    /// Runs `body`, in which the loop's runs in the mode are steered.
    func steer<Result>(_ body: () -> Result) -> Result {
        // Last of all: the work of other observers at the same point still counts for this turn.
        let observer = RunLoop.Observer(
            [.entry, .beforeTimers, .beforeWaiting, .exit], order: .max, label: "steered run"
        ) { [unowned self] _, activity in
            pass(activity)
        }
        loop.add(observer, in: mode)
        defer { observer.invalidate() }
        return body()
    }

    private func pass(_ activity: RunLoop.Activities) {
        if activity == .exit {
            depth -= 1
            return
        }
        if activity == .entry { depth += 1 }
        if depth == 1, isOver { loop.stop() }
    }
}
