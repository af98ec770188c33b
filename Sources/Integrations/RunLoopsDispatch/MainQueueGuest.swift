// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
public import RunLoops

/// Makes the main run loop a guest of the host that does the work of `DispatchQueue.main` on the main thread, such as
/// Foundation's `RunLoop`.
///
/// A dispatch source on the main queue waits for the loop's ``/RunLoops/RunLoop/pollDescriptor``, and its handler runs
/// the items that are ready. The loop is not polled at intervals. The host continues to do the work of the main queue,
/// and the loop, which usually does this work, leaves it to the host.
///
/// A wake-up passes through libdispatch's own thread, which watches descriptors, and then through the main queue: two
/// changes of threads. A host that waits for the descriptor itself has one change. A block that is posted with `wake:
/// false` waits for the loop's next turn.
///
/// The guest's handler may be on the main queue already when a run of the loop begins. If that run does the work of the
/// main queue, the handler counts as any other work of the queue: a run that returns after a handled source can return
/// because of it.
///
/// `dispatchMain()` and an asynchronous `main` cannot be the host on Linux: there the main thread ends, and other
/// threads do the main queue's work.
///
/// The loop leaves the host when this object is released or invalidated.
@MainActor
public final class MainQueueGuest {
    private let source: any DispatchSourceRead

    /// Adds the main run loop to its host.
    ///
    /// - Parameter mode: The mode of the loop that the host runs.
    /// - Throws: The error with which the system refused to make the loop a guest.
    /// - Precondition: on the true main thread.
    public init(in mode: RunLoop.Mode = .default) throws(RunLoop.SystemCallError) {
        source = DispatchSource.makeReadSource(fileDescriptor: try RunLoop.main.pollDescriptor, queue: .main)
        source.setEventHandler { Self.runReady(in: mode) }
        source.activate()
        // The descriptor stands for the work of the main queue too until a call asks the loop to leave that work.
        Self.runReady(in: mode)
    }

    private static func runReady(in mode: RunLoop.Mode) {
        let loop = RunLoop.main
        // Where a run of the loop itself does the main queue's work, the host has the thread again after that run. Until then
        // what the descriptor showed is that run's, and a nested run would take it away, a stop among it.
        guard loop.isInMainQueue else {
            loop.runReady(in: mode, servingMainQueue: false)
            return
        }
        loop.wait(in: mode, servingMainQueue: false)
    }

    isolated deinit { source.cancel() }

    /// Takes the loop out of its host; a second call does nothing.
    public func invalidate() { source.cancel() }
}
