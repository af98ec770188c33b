// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import RunLoops
internal import Synchronization

/// The closures that wait as input sources, in the order of the calls.
///
/// As on Apple's systems, each closure has a source that removes itself, and a loop runs all that wait in the mode, rather than one in each
/// turn.
///
/// Thread safety: any thread.
final class PerformSources: Sendable {
    private final class Closure: Sendable {
        let block: @Sendable () -> Void
        init(_ block: @escaping @Sendable () -> Void) { self.block = block }
    }

    /// Weak: the source alone keeps the closure, and the loop keeps the source, so that both are released when the thread ends.
    private struct Waiting: Sendable {
        weak var source: RunLoops.RunLoop.Source?
        weak var closure: Closure?

        var isWaiting: Bool { source?.isValid == true }
    }

    private let waiting = Mutex<[Waiting]>([])

    /// Has the loop call a closure once, in one of its modes.
    func add(_ block: @escaping @Sendable () -> Void, to loop: RunLoops.RunLoop, in modes: [RunLoops.RunLoop.Mode]) {
        if modes.isEmpty { return }
        let closure = Closure(block)
        // Unowned: a source is called inside a run of its loop only.
        let source = RunLoops.RunLoop.Source.sendable(label: "perform(inModes:waitUntilDone:block:)") {
            [self, unowned loop] _ in
            withExtendedLifetime(closure) { performAll(in: loop) }
        }
        waiting.withLock { $0.append(Waiting(source: source, closure: closure)) }
        for mode in modes { loop.add(source, in: mode) }
        source.signal()
        loop.wakeUp()
    }

    /// Calls the closures that wait in the loop's present mode, without those that are added meanwhile.
    private func performAll(in loop: RunLoops.RunLoop) {
        guard let mode = loop.currentMode else { return }
        let all = waiting.withLock { waiting in
            waiting.removeAll { !$0.isWaiting }
            return waiting
        }
        for next in all {
            // A run that is nested in a closure may have called the next ones.
            guard let source = next.source, let closure = next.closure, source.isValid, loop.contains(source, in: mode)
            else { continue }
            source.invalidate()
            closure.block()
        }
    }
}
#endif
