// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import RunLoopsLibC

/// Writes bytes to a descriptor as fast as the other side takes them, and calls a closure on a loop's thread when there
/// is room again.
///
/// Bytes that cannot be written at once are kept. ``write(_:)`` says when too many bytes are kept, and
/// ``Event/drained`` when they have been written. ``finish()`` closes the file after the last byte: a child that reads
/// its standard input sees the end.
///
/// A blocking descriptor, as standard output often is, does not block the loop, and its flags, which other processes
/// may share, stay as they are: the writer opens the pipe or terminal once more for each write. Where the system refuses
/// that, as for a pipe of another user and for the controlling side of a pseudo-terminal, a thread of its own writes, 4
/// KiB at a time; it ends, at the latest, when the other side has taken these bytes or has closed. Writing to a pipe
/// without a reader fails with `EPIPE`, and sends no `SIGPIPE`.
///
/// Thread safety: all members may be used by any thread. If several threads write, the bytes of each call stay
/// together.
public final class OutputWriter: EventSource, @unchecked Sendable {
    /// An event that a writer reports.
    public enum Event: Hashable, Sendable {
        /// The buffer was full and is empty now: writing can continue.
        case drained
        /// Everything is written, and the file is closed; the last event.
        case finished
        /// The bytes cannot be written, and those that were kept are lost; the last event.
        ///
        /// `EPIPE` if the other side has closed, `EIO` if no process has the terminal open, `ENOSPC` if a disk is full.
        case failed(RunLoop.SystemCallError)
    }

    /// Called with the writer and what happened.
    typealias Handler = (OutputWriter, Event) -> Void

    private struct State {
        var handler: Handler?
        var buffer: OutputBuffer
        var isFinishing = false
        var failure: RunLoop.SystemCallError?
        /// Whether a thread writes the first bytes of the buffer.
        var hasThread = false

        /// The end and a failure are reported in a callout of their own.
        var interest: EventSource.Events {
            if hasThread { return [] }
            return !buffer.isEmpty || buffer.isFull || isFinishing || failure != nil ? .writable : []
        }
    }

    private let file: RunLoop.File
    private let lock = Lock()
    // Guarded by the lock, which is taken before that of the base class.
    @exclusivity(unchecked) private var state: State

    /// A writer whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// - Parameters:
    ///   - file: Where to write. No other code should write to it.
    ///   - highWaterMark: How many bytes the buffer holds before it counts as full.
    ///   - label: The name in descriptions and tools; where the writer was made, if `nil`.
    ///   - fileID: Where the writer was made.
    ///   - line: Where the writer was made.
    ///   - handler: Called with the writer and what happened.
    ///
    /// Adding the writer to the loop of another thread traps.
    /// Corresponds to `CFWriteStreamSetClient`.
    /// - Precondition: the file was not closed.
    public convenience init(
        _ file: RunLoop.File, highWaterMark: Int = 65536, label: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line, handler: @escaping (OutputWriter, Event) -> Void
    ) {
        self.init(file, highWaterMark, .here(label, fileID, line), handler)
    }

    /// A writer whose closure may run on any thread: it can be added to any loop.
    ///
    /// The parameters are those of ``init(_:highWaterMark:label:fileID:line:handler:)``.
    public static func sendable(
        _ file: RunLoop.File, highWaterMark: Int = 65536, label: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line, handler: @escaping @Sendable (OutputWriter, Event) -> Void
    ) -> OutputWriter {
        OutputWriter(file, highWaterMark, .anywhere(label, fileID, line), handler)
    }

    /// A writer whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(_:highWaterMark:label:fileID:line:handler:)``.
    public static func mainActor(
        _ file: RunLoop.File, highWaterMark: Int = 65536, label: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line, handler: @escaping @MainActor (OutputWriter, Event) -> Void
    ) -> OutputWriter {
        OutputWriter(file, highWaterMark, .mainThread(label, fileID, line)) { writer, event in
            MainActor.assumeIsolated { handler(writer, event) }
        }
    }

    private init(_ file: RunLoop.File, _ highWaterMark: Int, _ origin: SourceOrigin, _ handler: @escaping Handler) {
        self.file = file
        state = State(handler: handler, buffer: OutputBuffer(highWaterMark: max(1, highWaterMark)))
        super.init(file.descriptor(for: "An output writer"), for: [], origin)
    }

    /// Writes bytes, now or as soon as there is room.
    ///
    /// The writer keeps all bytes, even if its buffer is full. `false` says that the buffer is full: if you go on writing
    /// before ``Event/drained``, the buffer grows. After ``finish()`` and on a failed or invalid writer, the call does
    /// nothing and returns `false`.
    ///
    /// - Parameter bytes: What to write.
    /// - Returns: Whether there is room for more.
    /// - Complexity: O(n) in the bytes.
    @discardableResult
    public func write(_ bytes: some Sequence<UInt8>) -> Bool {
        let hasRoom = change { number in
            guard !state.isFinishing, state.failure == nil else { return false }
            let wasEmpty = state.buffer.isEmpty
            state.buffer.append(bytes)
            // Behind bytes that wait already there is no room.
            if wasEmpty { flush(number) }
            // What could be written at once never made the buffer full.
            if state.buffer.isEmpty { _ = state.buffer.takeDrained() }
            return state.failure == nil && !state.buffer.isFull
        }
        return hasRoom ?? false
    }

    /// Closes the file once all bytes are written; later calls of ``write(_:)`` do nothing.
    ///
    /// The writer releases its ``RunLoops/RunLoop/File`` too, as with ``RunLoops/RunLoop/File/close()``.
    public func finish() { change { _ in state.isFinishing = true } }

    /// How many bytes wait to be written.
    public var unsentCount: Int { lock.withLock { state.buffer.count } }

    // MARK: The loop's thread

    override func ready(_ events: Events) {
        let event = change { number -> Event? in
            flush(number)
            // The terminal of a program that has gone takes a few bytes and then none, and says no more than that it is hung up.
            if events.contains(.hangUp), !state.buffer.isEmpty, !state.hasThread, state.failure == nil {
                state.failure = RunLoop.SystemCallError(call: "write", code: EIO)
            }
            if let failure = state.failure { return .failed(failure) }
            let isDrained = state.buffer.takeDrained()
            if state.isFinishing { return state.buffer.isEmpty ? .finished : nil }
            return isDrained ? .drained : nil
        }
        switch event ?? nil {
        case .none: break
        case .drained: call(.drained)
        case .some(let last): end(with: last)
        }
    }

    override func refused(_ error: RunLoop.SystemCallError) { end(with: .failed(error)) }

    override func giveUp() {
        let released = lock.withLock { () -> State in
            defer { state = State(handler: nil, buffer: OutputBuffer(highWaterMark: state.buffer.highWaterMark)) }
            return state
        }
        withExtendedLifetime(released) {}
    }

    /// Changes the state, and adjusts the events that the descriptor is watched for; `nil` once the writer is
    /// invalidated.
    @discardableResult
    private func change<Result>(_ body: (CInt) -> Result) -> Result? {
        lock.withLock {
            withDescriptor { number in
                defer { watched = state.interest }
                return body(number)
            }
        }
    }

    /// Writes once: the kernel reports when it can take the bytes that it did not take now.
    ///
    /// With the lock held.
    private func flush(_ number: CInt) {
        if state.buffer.isEmpty || state.failure != nil || state.hasThread { return }
        var result: CInt = 0
        state.buffer.take { bytes in
            result = rl_write_ready(number, bytes.baseAddress, bytes.count)
            return Int(result)
        }
        if result == -EOPNOTSUPP { return writeOnThread() }
        if result < 0, result != -EAGAIN { state.failure = RunLoop.SystemCallError(call: "write", code: -result) }
    }

    /// Lets a thread of its own write the next bytes: the write may wait for the other side.
    ///
    /// With the lock held.
    private func writeOnThread() {
        guard let file = descriptor else { return }
        var portion: [UInt8] = []
        state.buffer.take { bytes in
            portion = Array(bytes.prefix(4096))
            return 0
        }
        let work = Unmanaged.passRetained(
            ThreadedWrite { [weak self, portion] in
                let result = portion.withUnsafeBytes { rl_write(file.number, $0.baseAddress, $0.count) }
                self?.wrote(result)
            })
        let result = rl_thread_start_detached(
            { argument in
                // Blocks all signals, and so SIGPIPE, which the kernel sends to the thread that writes.
                rl_become_helper("runloop-output")
                // SAFETY: the reference passed below; taken once.
                Unmanaged<ThreadedWrite>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue().body()
                return nil
            }, work.toOpaque())
        state.hasThread = result == 0
        if result == 0 { return }
        work.release()
        state.failure = RunLoop.SystemCallError(call: "pthread_create", code: -result)
    }

    /// Goes on after the bytes that the thread has written, when the descriptor is ready again.
    private func wrote(_ result: CInt) {
        change { _ in
            state.hasThread = false
            state.buffer.take { _ in Int(result) }
            if result < 0 { state.failure = RunLoop.SystemCallError(call: "write", code: -result) }
        }
    }

    private func call(_ event: Event) {
        lock.lock()
        let handler = state.handler
        lock.unlock()
        handler?(self, event)
    }

    private func end(with event: Event) {
        lock.lock()
        let handler = state.handler
        lock.unlock()
        invalidate()
        if event == .finished { file.close() }
        handler?(self, event)
    }
}

/// A write on a thread of its own.
private final class ThreadedWrite: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
