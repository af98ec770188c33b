// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsTraceStart
public import RunLoops
internal import RunLoopsConcurrency
internal import RunLoopsLibC

extension RunLoop {
    /// Lets other processes of the same user inspect this process, with `runloop ps`, `dump`, `top` and `trace`.
    ///
    /// A separate thread answers, even while loops hang. This thread sleeps until a client connects, has no run loop
    /// and takes no signals. A program that links this library and is started with `RUNLOOP_INSPECT=1` in its
    /// environment need not call anything: <doc:LookingIn>.
    ///
    /// ```swift
    /// try RunLoop.Inspector.start()
    /// RunLoop.main.run()
    /// ```
    ///
    /// Thread safety: all members may be used by any thread, except where they say otherwise.
    public enum Inspector {
        /// The inspector's server in this process.
        ///
        /// A child made by `fork` does not use the server of its parent, whose thread does not exist in the child.
        private static let current = PerProcess { Guarded<InspectorServer?>(nil) }

        /// Whether an inspector runs in this process.
        ///
        /// A child made by `fork` has no inspector until it starts its own.
        public static var isStarted: Bool { current.own.withLock { $0 != nil } }

        /// Starts the inspector: from now on, processes of the same user can inspect this process.
        ///
        /// The inspector knows the calling thread's loop and every loop that is made from now on. Call this before
        /// other loops exist, or make them known with ``add(_:)``. The socket is in `$XDG_RUNTIME_DIR`, in
        /// `/run/user/UID` or in `/tmp/run-loop-inspect-UID`, in a directory that only this user may enter. The socket
        /// is removed when the process exits. A second call does nothing.
        ///
        /// - Throws: ``StartError``.
        public static func start() throws(StartError) {
            let outcome = current.own.withLock { current -> Result<InspectorServer, StartError>? in
                if current != nil { return nil }
                return Result { () throws(StartError) in
                    let server = try makeServer()
                    server.loops.addNewLoops()
                    TaskWaits.retain()
                    current = server
                    return server
                }
            }
            guard let server = try outcome?.get() else { return }
            _ = namesAreRemovedAtExit
            if let loop = RunLoop.existing { _ = server.loops.add(loop) }
            server.directory.tidy()
        }

        /// Stops the inspector: processes can no longer inspect this process, and connected clients receive nothing more.
        ///
        /// A second call does nothing.
        public static func stop() {
            guard let server = current.own.withLock({ $0.take() }) else { return }
            server.stop()
            TaskWaits.release()
        }

        /// Makes a loop that was made before ``start()`` known to the inspector.
        ///
        /// Does nothing if the inspector is not started, or if a `TraceRecorder` traces the loop.
        ///
        /// - Precondition: called on the loop's own thread.
        public static func add(_ loop: RunLoop) {
            precondition(
                loop.threadID == SystemCalls.threadID,
                "The inspector was given the loop of another thread: call add(_:) on the loop's own thread.")
            _ = current.own.withLock { $0 }?.loops.add(loop)
        }

        private static func makeServer() throws(StartError) -> InspectorServer {
            var reason: StartError?
            for path in InspectorDirectory.candidates {
                do {
                    return try InspectorServer(InspectorDirectory(path, makes: true))
                } catch {
                    // The error gives the best place's reason; the next place is tried.
                    if reason == nil { reason = error }
                }
            }
            throw reason ?? .unsafeDirectory("there is none")
        }

        /// Registers the removal of the socket at exit, at the first access.
        private static let namesAreRemovedAtExit: Void = {
            atexit { Inspector.current.own.withLock { $0 }?.unpublish() }
        }()
    }
}

/// Called by CRunLoopsTraceStart before `main()`, when the environment has `RUNLOOP_INSPECT=1`.
@_cdecl("run_loops_start_inspector")
func startInspector() {
    do {
        try RunLoop.Inspector.start()
    } catch {
        SystemCalls.writeToStandardError("RUNLOOP_INSPECT: \(error)\n")
    }
}
