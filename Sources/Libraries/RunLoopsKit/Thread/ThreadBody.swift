// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops

/// What the new thread does, from its first instruction to its last.
final class ThreadBody: @unchecked Sendable {
    private enum State {
        static let starting: UInt32 = 0
        static let ready: UInt32 = 1
        static let refused: UInt32 = 2
    }

    let tasks = ThreadTasks()
    let waiters = EndWaiters()
    private let attributes: RunLoopThread.Attributes
    private let word = StateWord(State.starting)
    // Written by the thread before it leaves `starting`, read afterwards by the thread that starts it.
    @exclusivity(unchecked) private var loop: RunLoop?
    @exclusivity(unchecked) private var failure: RunLoop.SystemCallError?

    init(_ attributes: RunLoopThread.Attributes) { self.attributes = attributes }

    /// Starts the thread, and returns when it has its attributes and its loop.
    func start() throws(RunLoop.SystemCallError) -> (handle: rl_thread, loop: RunLoop) {
        var handle = rl_thread()
        let argument = Unmanaged.passRetained(self)
        let result = rl_thread_start(
            &handle, max(0, attributes.stackSize ?? 0),
            { argument in
                // SAFETY: the reference passed above; taken once, by the thread.
                Unmanaged<ThreadBody>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue().run()
                return nil
            }, argument.toOpaque())
        if result < 0 {
            // There is no thread to take the reference.
            argument.release()
            throw RunLoop.SystemCallError(call: "pthread_create", code: -result)
        }
        while word.state == State.starting { word.sleep(while: State.starting) }
        defer { loop = nil }
        if let loop { return (handle, loop) }
        rl_thread_join(handle)
        throw failure ?? RunLoop.SystemCallError(call: "pthread_create", code: 0)
    }

    private func run() {
        do {
            try attributes.apply()
        } catch {
            failure = error
            word.set(State.refused)
            return
        }
        let loop = RunLoop.current
        RunLoop.keepUntilThreadEnds(EndMark(waiters))
        let (keeper, watcher) = (makeKeeper(), makeWatcher())
        loop.add(keeper, in: .common)
        loop.add(watcher, in: .common)
        self.loop = loop
        word.set(State.ready)
        // A task may stop the loop for reasons of its own: the thread goes on.
        while !tasks.isStopping { loop.run(in: .default, until: nil) }
        tasks.drain()
    }

    /// A source that is never signalled: it keeps the modes from being empty, and the loop sleeps instead of returning.
    private func makeKeeper() -> RunLoop.Source {
        RunLoop.Source.sendable(label: "keeper of \(attributes.name)") { _ in }
    }

    /// Ends the run in the turn after stop(), and the runs nested in it: each run looks for itself.
    ///
    /// At two points, because a nested run may have taken the wake-up after the outer run has passed the first point.
    private func makeWatcher() -> RunLoop.Observer {
        RunLoop.Observer.sendable(
            [.beforeTimers, .beforeWaiting], order: .max, label: "end of \(attributes.name)"
        ) { [tasks] _, _ in
            if tasks.isStopping { RunLoop.current.stop() }
        }
    }
}
