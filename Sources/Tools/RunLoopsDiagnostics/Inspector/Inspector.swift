// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CTraceStart
internal import LinuxLibC
public import RunLoops

extension RunLoop {
    /// Lets the same user look into this process from outside: `runloop ps`, `dump`, `top` and `trace`.
    ///
    /// A separate thread answers, also while loops hang. This thread sleeps until somebody asks, has no run loop and
    /// takes no signals. A program that links this library and is started with `RUNLOOP_INSPECT=1` in its environment
    /// need not call anything: <doc:LookingIn>.
    ///
    /// ```swift
    /// try RunLoop.Inspector.start()
    /// RunLoop.main.run()
    /// ```
    ///
    /// Thread safety: all members may be used by any thread, except where they say otherwise.
    public enum Inspector {
        /// Each process has its own: a server that a parent process has left behind is not stopped, since its thread is
        /// not here.
        private static let current = PerProcess { Guarded<InspectorServer?>(nil) }

        /// Whether the process can be looked into.
        ///
        /// Nobody can look into a child made by `fork` until the child starts its own inspector.
        public static var isStarted: Bool { current.own.withLock { $0 != nil } }

        /// Starts the inspector: from now on, processes of the same user can look into this process.
        ///
        /// The inspector knows the calling thread's loop and every loop that is made from here on. Start it before
        /// other loops exist, or ``add(_:)`` them. The socket is in `$XDG_RUNTIME_DIR`, in `/run/user/UID` or in
        /// `/tmp/run-loop-inspect-UID`, in a directory that nobody else may enter. The socket is removed at the
        /// process's exit. A second call does nothing.
        ///
        /// - Throws: ``StartError``.
        public static func start() throws(StartError) {
            let outcome = current.own.withLock { current -> Result<InspectorServer, StartError>? in
                if current != nil { return nil }
                return Result { () throws(StartError) in
                    let server = try makeServer()
                    server.loops.addNewLoops()
                    current = server
                    return server
                }
            }
            guard let server = try outcome?.get() else { return }
            _ = namesAreRemovedAtExit
            if let loop = RunLoop.existing { _ = server.loops.add(loop) }
            server.directory.tidy()
        }

        /// Stops the inspector: no process can look into this one any more, and a connected client receives nothing more.
        ///
        /// A second call does nothing.
        public static func stop() {
            current.own.withLock { $0.take() }?.stop()
        }

        /// Makes a loop that was made before ``start()`` known to the inspector.
        ///
        /// Does nothing without an inspector, and nothing while a `TraceRecorder` has the loop.
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

        /// Registered once, whatever is started and stopped.
        private static let namesAreRemovedAtExit: Void = {
            atexit { Inspector.current.own.withLock { $0 }?.unpublish() }
        }()
    }
}

/// Called by CTraceStart before `main()`, when the environment has `RUNLOOP_INSPECT=1`.
@_cdecl("run_loops_start_inspector")
func startInspector() {
    do {
        try RunLoop.Inspector.start()
    } catch {
        SystemCalls.writeToStandardError("RUNLOOP_INSPECT: \(error)\n")
    }
}
