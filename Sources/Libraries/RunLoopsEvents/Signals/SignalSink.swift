// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops

/// The object that a signal is written to, by the handler or by libdispatch, and one hub reads from.
///
/// Detached when the last reference goes.
final class SignalSink: @unchecked Sendable {
    /// Attaching and detaching, of all sinks of the process.
    private static let changes = Lock()

    private let signal: CInt
    /// The eventfd; the handler writes to it until the sink is detached.
    let file: Descriptor
    // SAFETY: made by init and freed by deinit, and used by no code before the one or after the other. Records are taken under
    // `taking`.
    private let pointer: OpaquePointer
    private let taking = Lock()
    private let asking = Lock()
    /// The sink's own dispatch source, once libdispatch has the signal.
    ///
    /// Guarded by `asking`.
    @exclusivity(unchecked) private var dispatchSource: UnsafeMutableRawPointer?

    init(_ signal: CInt) throws(RunLoop.SystemCallError) {
        let file = Descriptor(try check("eventfd", rl_eventfd_create()))
        var made: OpaquePointer?
        let result = Self.changes.withLock {
            rl_signal_attach(signal, file.number, !rl_signal_is_dispatchs(signal), &made)
        }
        try check("sigaction", result, of: "of signal \(signal)")
        self.signal = signal
        self.file = file
        pointer = made.unsafelyUnwrapped
        askDispatch()
    }

    deinit {
        // In a forked child nothing of libdispatch works, and its source is the parent's.
        if let dispatchSource, !file.generation.isInherited { rl_dispatch_signals_end(dispatchSource) }
        Self.changes.withLock { rl_signal_detach(pointer) }
    }

    /// Has libdispatch tell the sink of the signals too, if libdispatch has installed its handler for the signal.
    ///
    /// libdispatch installs the handler when its first source of the signal comes, and keeps it for ever: once is enough.
    /// - Returns: Whether libdispatch does so.
    @discardableResult
    func askDispatch() -> Bool {
        asking.withLock {
            if dispatchSource != nil { return true }
            guard rl_signal_is_dispatchs(signal) else { return false }
            let context = Unmanaged.passRetained(WeakSink(self))
            // SAFETY: the context has a reference until `ended` is called. The sink puts while it is referred to.
            dispatchSource = rl_dispatch_signals_begin(signal, context.toOpaque()) { context, count in
                let weak = Unmanaged<WeakSink>.fromOpaque(context.unsafelyUnwrapped).takeUnretainedValue()
                if let sink = weak.sink { rl_signal_put(sink.pointer, count) }
            } _: { context in
                Unmanaged<WeakSink>.fromOpaque(context.unsafelyUnwrapped).release()
            }
            if dispatchSource == nil { context.release() }
            return dispatchSource != nil
        }
    }

    /// Takes the oldest record, if there is one; the descriptor stays as it is.
    func take() -> rl_signal_record? {
        taking.withLock {
            var record = rl_signal_record()
            return rl_signal_take(pointer, &record) ? record : nil
        }
    }

    /// Makes the descriptor not readable, unless there are records.
    func silence() {
        taking.withLock {
            _ = rl_eventfd_take(file.number)
            // The read has also taken the write of a handler that came in between.
            if rl_signal_waits(pointer) { _ = rl_eventfd_write(file.number) }
        }
    }
}

/// What libdispatch refers to: a sink goes although libdispatch could still call.
// Unchecked: written by init alone.
private final class WeakSink: @unchecked Sendable {
    weak var sink: SignalSink?

    init(_ sink: SignalSink) { self.sink = sink }
}
