// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import RunLoops

/// The object that the handler of a signal writes to and one source reads from.
///
/// Detached when the last reference goes.
final class SignalSink: @unchecked Sendable {
    /// Attaching and detaching, of all sinks of the process.
    private static let changes = Lock()

    /// The eventfd; the handler writes to it until the sink is detached.
    let file: Descriptor
    // SAFETY: made by init, freed by deinit, which nobody can be before or after. Records are taken under `taking`.
    private let pointer: OpaquePointer
    private let taking = Lock()

    init(_ signal: CInt) throws(RunLoop.SystemCallError) {
        let file = Descriptor(try check("eventfd", rl_eventfd_create()))
        var made: OpaquePointer?
        let result = Self.changes.withLock { rl_signal_attach(signal, file.number, &made) }
        try check("sigaction", result)
        self.file = file
        pointer = made.unsafelyUnwrapped
    }

    deinit { Self.changes.withLock { rl_signal_detach(pointer) } }

    /// The oldest record, if there is one; the descriptor is readable afterwards if there are more records.
    func take() -> rl_signal_record? {
        taking.withLock {
            var record = rl_signal_record()
            let isThere = rl_signal_take(pointer, &record)
            if !rl_signal_waits(pointer) {
                _ = rl_eventfd_take(file.number)
                // The read has also taken the write of a handler that came in between.
                if rl_signal_waits(pointer) { _ = rl_eventfd_write(file.number) }
            }
            return isThere ? record : nil
        }
    }
}
