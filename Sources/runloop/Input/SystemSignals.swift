// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Where the signal handler writes; -1 while nobody listens.
private let writeEnd = Atomic<CInt>(-1)

/// The process's signals, as a descriptor source of the main loop.
///
/// A handler may do next to nothing, so it writes the signal's number to a pipe, and the loop, woken by the pipe, does
/// the work as ordinary code. (A signalfd does the same in the kernel; Swift's Glibc module does not have it.)
@MainActor
final class SystemSignals {
    /// The item to add to the loop.
    let source: RunLoop.DescriptorSource

    /// - Throws: what the system refused: the pipe.
    init(_ signals: [CInt], handler: @escaping @MainActor (CInt) -> Void) throws(RunLoop.SystemCallError) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { throw RunLoop.SystemCallError(call: "pipe", code: errno) }
        for end in ends {
            // Non-blocking: a handler must not wait for a reader, and a full pipe holds signals enough.
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        let readEnd = ends[0]
        source = .mainActor(readEnd, label: "signals") { _, _ in
            var number: UInt8 = 0
            // One signal a call; the source is called again for the next signal.
            if read(readEnd, &number, 1) == 1 { handler(CInt(number)) }
        }
        // Before the first handler is set: a handler that finds -1 loses its signal.
        writeEnd.store(ends[1], ordering: .releasing)
        for signal in signals { Self.catchSignal(signal) }
    }

    /// Restores the signals' default actions, for a time when no loop takes the signals.
    static func release(_ signals: [CInt]) {
        for signal in signals { setAction(signal, SIG_DFL) }
    }

    /// Stops the process as Ctrl-Z would have, had nobody caught it; returns when it is continued.
    static func stopProcess() {
        setAction(SIGTSTP, SIG_DFL)
        // To this thread: it is sure to have taken effect when the call returns.
        raise(SIGTSTP)
        catchSignal(SIGTSTP)
    }

    /// The name of one of the signals that the demo knows.
    static func name(_ signal: CInt) -> String {
        switch signal {
        case SIGINT: "SIGINT"
        case SIGTERM: "SIGTERM"
        case SIGHUP: "SIGHUP"
        case SIGQUIT: "SIGQUIT"
        case SIGWINCH: "SIGWINCH"
        case SIGTSTP: "SIGTSTP"
        case SIGCONT: "SIGCONT"
        default: "signal \(signal)"
        }
    }

    private nonisolated static func catchSignal(_ signal: CInt) {
        setAction(signal) { number in
            // Async-signal-safe: an atomic load and write(2); errno is the interrupted code's.
            let before = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = write(writeEnd.load(ordering: .acquiring), &byte, 1)
            errno = before
        }
    }

    private nonisolated static func setAction(_ signal: CInt, _ handler: @escaping @convention(c) (CInt) -> Void) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        action.sa_flags = SA_RESTART
        sigaction(signal, &action, nil)
    }

    private nonisolated static func setAction(_ signal: CInt, _ handler: __sighandler_t?) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        sigaction(signal, &action, nil)
    }
}
