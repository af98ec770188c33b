// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
internal import RunLoopsLibC

/// Reads and writes a connected socket: calls a closure on a loop's thread with the bytes that are received, and sends
/// written bytes as fast as the other side takes them.
///
/// Bytes that cannot be sent at once are kept and sent when there is room. ``write(_:)`` says when too many bytes are
/// kept, and ``Event/drained`` when they have been sent. In the other direction ``isReadingPaused`` makes the sender
/// wait. Each side ends its own direction: ``Event/ended`` reports that the other side has ended, and ``finish()`` ends
/// this side. When both sides have ended, the stream is closed.
///
/// Corresponds to `CFSocket` and to a pair of `CFStream` with their callbacks. It serves a handful of connections well;
/// a server under load belongs to SwiftNIO.
///
/// Thread safety: all members may be used by any thread. If several threads write, the bytes of each call stay
/// together.
public final class SocketStream: EventSource, EndingSource, @unchecked Sendable {
    /// Called with the stream and what happened.
    typealias Handler = (SocketStream, Event) -> Void

    let state = Lock()
    // Guarded by `state`, which is taken before the lock of the base class.
    @exclusivity(unchecked) private(set) var handler: Handler?
    @exclusivity(unchecked) private var flow: StreamFlow

    /// A stream whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// - Parameters:
    ///   - socket: The connected socket. No other code should read from it or write to it.
    ///   - highWaterMark: How many bytes the output buffer holds before it counts as full.
    ///   - label: The name in descriptions and tools; where the stream was made, if `nil`.
    ///   - fileID: Where the stream was made.
    ///   - line: Where the stream was made.
    ///   - handler: Called with the stream and what happened.
    ///
    /// Adding the stream to the loop of another thread traps.
    /// Corresponds to `CFStreamCreatePairWithSocket` and `CFReadStreamSetClient`.
    public convenience init(
        _ socket: RunLoop.Socket, highWaterMark: Int = 65536, label: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line, handler: @escaping (SocketStream, Event) -> Void
    ) {
        self.init(socket, highWaterMark, .here(label, fileID, line), handler)
    }

    /// A stream whose closure may run on any thread: it can be added to any loop.
    ///
    /// The parameters are those of ``init(_:highWaterMark:label:fileID:line:handler:)``.
    public static func sendable(
        _ socket: RunLoop.Socket, highWaterMark: Int = 65536, label: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line, handler: @escaping @Sendable (SocketStream, Event) -> Void
    ) -> SocketStream {
        SocketStream(socket, highWaterMark, .anywhere(label, fileID, line), handler)
    }

    /// A stream whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(_:highWaterMark:label:fileID:line:handler:)``.
    public static func mainActor(
        _ socket: RunLoop.Socket, highWaterMark: Int = 65536, label: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line, handler: @escaping @MainActor (SocketStream, Event) -> Void
    ) -> SocketStream {
        SocketStream(socket, highWaterMark, .mainThread(label, fileID, line)) { stream, event in
            MainActor.assumeIsolated { handler(stream, event) }
        }
    }

    private init(_ socket: RunLoop.Socket, _ highWaterMark: Int, _ origin: SourceOrigin, _ handler: @escaping Handler) {
        self.handler = handler
        flow = StreamFlow(highWaterMark: max(1, highWaterMark))
        super.init(socket.file, for: .readable, origin)
    }

    // MARK: Output

    /// Sends bytes, now or as soon as there is room.
    ///
    /// The stream keeps all bytes, even if its buffer is full. `false` says that the buffer is full: if you go on
    /// writing before ``SocketStream/Event/drained``, the buffer grows.
    ///
    /// After ``finish()``, and on a broken or invalid stream, the call does nothing and returns `false`, and no
    /// ``SocketStream/Event/drained`` follows. The other side may still send to a stream that was finished, and a
    /// closure that answers what it receives needs no check of its own. A closure that pauses reading while the buffer
    /// is full must not do so after ``finish()``: nothing would make it resume reading.
    ///
    /// - Parameter bytes: What to send.
    /// - Returns: Whether there is room for more.
    ///
    /// - Complexity: O(n) in the bytes; one system call if nothing waited to be sent.
    @discardableResult
    public func write(_ bytes: some Sequence<UInt8>) -> Bool {
        let hasRoom = change { number in
            // After finish() too: a client that sends one more line must not end a server that answers lines.
            guard flow.isUsable, !flow.isFinishing else { return false }
            flow.write(bytes, to: number)
            return flow.hasRoom
        }
        return hasRoom ?? false
    }

    /// Ends this side's direction of the connection once all written bytes have been sent; the other side sees the end,
    /// and may continue to send.
    ///
    /// Later calls of ``write(_:)`` send nothing. A second call of `finish()` does nothing. To end both directions at
    /// once, invalidate the stream, and keep no reference to its ``RunLoops/RunLoop/Socket``.
    /// Corresponds to `shutdown(2)` with `SHUT_WR`.
    public func finish() {
        change { number in
            if flow.isUsable, !flow.isFinishing { flow.finish(number) }
        }
    }

    /// How many bytes wait to be sent.
    public var unsentCount: Int { state.withLock { flow.output.count } }

    // MARK: Input

    /// Whether reading is paused: received bytes then stay in the kernel, and the sender has to wait when the kernel's
    /// buffer is full.
    ///
    /// While reading is paused, the stream does not report ``SocketStream/Event/ended``. It reports a broken connection
    /// only if bytes wait to be sent. Both are reported when reading goes on.
    public var isReadingPaused: Bool {
        get { state.withLock { flow.isPaused } }
        set {
            change { _ in flow.isPaused = newValue }
        }
    }

    // MARK: The loop's thread

    override func ready(_ events: Events) {
        // The system calls are made under the lock, the callouts are not; each callout may end the stream.
        var input: Event?
        if !events.isDisjoint(with: [.readable, .hangUp, .error]) {
            input = change { flow.read($0) } ?? nil
        }
        if let input { call(input) }
        // While there are bytes to read, a break waits: bytes that the other side has sent before are not lost.
        if case .received = input, state.withLock({ flow.failure != nil }) { return }
        if let event = change({ flow.send($0) }) ?? nil { call(event) }
        if let last = change({ _ in flow.takeEnd() }) ?? nil { end(with: last) }
    }

    override func refused(_ error: RunLoop.SystemCallError) { end(with: .failed(error)) }

    override func giveUp() {
        let released = state.withLock { () -> (Handler?, StreamFlow) in
            defer {
                handler = nil
                flow = StreamFlow(highWaterMark: flow.output.highWaterMark)
            }
            return (handler, flow)
        }
        withExtendedLifetime(released) {}
    }

    /// Changes the flow, and adjusts the events that the descriptor is watched for; `nil` once the stream is
    /// invalidated.
    @discardableResult
    private func change<Result>(_ body: (CInt) -> Result) -> Result? {
        state.withLock {
            withDescriptor { number in
                defer { watched = flow.interest }
                return body(number)
            }
        }
    }

    private func call(_ event: Event) {
        state.lock()
        let handler = self.handler
        state.unlock()
        handler?(self, event)
    }
}
