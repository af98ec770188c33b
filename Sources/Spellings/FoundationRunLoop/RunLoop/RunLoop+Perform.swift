// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import Foundation
internal import RunLoops
internal import RunLoopsKit

extension RunLoop {
    /// Runs a closure on the loop's thread, in the next turn of a run in the default mode, and wakes the loop for it.
    ///
    /// Thread safety: any thread.
    /// - Complexity: O(1) amortised; one system call if the loop sleeps.
    public func perform(_ block: @Sendable @escaping () -> Void) { native.perform(block) }

    /// Runs a closure on the loop's thread, in the next turn of a run in one of `modes`, and wakes the loop for it.
    ///
    /// Does nothing if `modes` is empty. Thread safety: any thread.
    /// - Complexity: O(1) amortised in each mode; one system call if the loop sleeps.
    public func perform(inModes modes: [Mode], block: @Sendable @escaping () -> Void) {
        if !modes.isEmpty { native.perform(in: modes.map(\.native), block) }
    }

    // MARK: What Objective-C performs with selectors

    /// Runs a closure on the loop's thread, and optionally waits for its end.
    ///
    /// Corresponds to `performSelector(onMainThread:with:waitUntilDone:modes:)` and
    /// `perform(_:on:with:waitUntilDone:modes:)`. If the caller waits and is on the loop's own thread, the closure runs
    /// at once. Otherwise the closure is an input source, as on Apple's systems: it ends a ``run(mode:before:)``, which a
    /// closure of ``perform(inModes:block:)`` does not, and the modes are not empty before it has run.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the closure may run.
    ///   - wait: Whether the call returns only after the closure has ended.
    ///   - block: The closure, which runs once.
    /// - Precondition: If the caller waits, the loop can run. A wait for a thread that has ended, or that waits for the
    ///   calling thread, traps with the names of the threads. On Apple's systems it hangs or raises an exception.
    @available(*, noasync, message: "The wait blocks a thread of Swift's pool: use perform(_:) and a continuation.")
    public func perform(
        inModes modes: [Mode] = [.common], waitUntilDone wait: Bool, block: @Sendable @escaping () -> Void
    ) {
        let (native, sources, modes) = (native, sources, modes.map(\.native))
        guard wait else { return sources.add(block, to: native, in: modes) }
        if native.isOfCallingThread { return block() }
        do {
            try native.waitForTurn(block) { holder in sources.add({ holder.run() }, to: native, in: modes) }
        } catch {
            fatalError("perform(inModes:waitUntilDone:block:) waited in vain: \(error)")
        }
    }

    /// Runs a closure on the loop's thread, before waiting closures with a higher order; the closure can be cancelled
    /// until then.
    ///
    /// Corresponds to `perform(_:target:argument:order:modes:)`.
    ///
    /// - Parameters:
    ///   - target: The object with which ``cancelPerforms(withTarget:)`` cancels the closure.
    ///   - order: Closures of a lower order run first; closures of the same order run in the order of the calls.
    ///   - modes: The modes in which the closure may run.
    ///   - block: The closure, which runs once, in the next turn.
    /// - Complexity: O(n) in the requests that wait.
    public func perform(
        target: AnyObject, order: Int, modes: [Mode] = [.default], block: @Sendable @escaping () -> Void
    ) {
        if modes.isEmpty { return }
        requests.add(target, order, modes, block)
        // As many closures of the loop as requests: each runs the request that comes first.
        let (native, requests) = (native, requests)
        native.perform(in: modes.map(\.native)) { requests.performFirst(in: native) }
    }

    /// Runs a closure once on the loop's thread after a delay; the closure can be cancelled until then.
    ///
    /// Corresponds to `perform(_:with:afterDelay:inModes:)`, which uses the calling thread's loop.
    ///
    /// - Parameters:
    ///   - target: The object with which ``cancelPerforms(withTarget:)`` cancels the closure.
    ///   - delay: The delay in seconds; if it is zero or negative, the closure runs in the loop's next turn.
    ///   - modes: The modes in which the closure may run.
    ///   - block: The closure, which runs once.
    /// - Precondition: `delay` is a number.
    /// - Complexity: O(log n) in the timers of the loop.
    public func perform(
        target: AnyObject, afterDelay delay: TimeInterval, inModes modes: [Mode] = [.default],
        block: @Sendable @escaping () -> Void
    ) {
        if modes.isEmpty { return }
        let requests = requests
        let request = requests.add(target, 0, [], block)
        // Weak: the request holds the timer, and both have to go with the thread.
        let timer = RunLoops.RunLoop.Timer.sendable(.after(Duration(seconds: delay))) { [weak requests] timer in
            timer.invalidate()
            requests?.perform(request)
        }
        requests.set(timer, of: request)
        for mode in modes { native.add(timer, in: mode.native) }
    }

    /// Cancels all closures of this loop that wait with the target `target`.
    ///
    /// Corresponds to `cancelPerformSelectors(withTarget:)`, `cancelPerform(_:target:argument:)` and
    /// `cancelPreviousPerformRequests(withTarget:)`.
    /// - Complexity: O(n) in the requests that wait.
    public func cancelPerforms(withTarget target: AnyObject) { requests.cancel(target) }
}
#endif
