// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CLinuxKernel
import RunLoops
import Synchronization

/// A thread that runs a loop of its own until `stop()` is called.
///
/// Thread safety: `stop()` may be called from any thread, once.
final class LoopThread: Sendable {
    /// Carries the thread's body through the C interface.
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// What the thread shares with the thread that stops it.
    private final class Shared: Sendable {
        /// `stop()` on a loop that is not running yet has no effect; a signalled source waits until it does.
        let stop = RunLoop.Source.sendable(label: "stop") { _ in RunLoop.current.stop() }
        /// Set by the thread before it runs.
        ///
        /// Either `stop()` finds it here and wakes it, or the thread has not yet set it, and then finds the source
        /// signalled on its first turn.
        let loop = Mutex<RunLoop?>(nil)
    }

    private let shared: Shared
    private let thread: rl_thread

    /// Starts the thread.
    ///
    /// - Parameter prepare: Adds items to the thread's loop; called on the thread.
    /// - Throws: what the system refused: the thread.
    init(prepare: @escaping @Sendable (RunLoop) -> Void) throws(RunLoop.SystemCallError) {
        let shared = Shared()
        let body = Body {
            let loop = RunLoop.current
            loop.add(shared.stop, in: .default)
            prepare(loop)
            shared.loop.withLock { $0 = loop }
            loop.run()
        }
        // SAFETY: the retain is balanced by the thread's start routine, or below where there is no thread.
        let retained = Unmanaged.passRetained(body)
        var thread = rl_thread()
        let code = rl_thread_start(
            &thread, 0,
            { argument in
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, retained.toOpaque())
        guard code >= 0 else {
            retained.release()
            throw RunLoop.SystemCallError(call: "pthread_create", code: -code)
        }
        self.shared = shared
        self.thread = thread
    }

    /// Ends the thread's loop and waits for the thread's end.
    func stop() {
        shared.stop.signal()
        shared.loop.withLock { $0 }?.wakeUp()
        rl_thread_join(thread)
    }
}
