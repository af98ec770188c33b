// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsLibC

/// The bytes of a stream in both directions, and how far each direction is: the state of a ``SocketStream``.
struct StreamFlow {
    /// Bytes taken from the kernel at a time.
    private static let portion = 65536

    var output: OutputBuffer
    var isPaused = false
    private(set) var isFinishing = false
    /// Whether the end of what this side sends has been sent.
    private var isFinished = false
    /// Whether the other side's end has come.
    private var isEnded = false
    /// The error that broke the connection; reported when nothing is left to read.
    private(set) var failure: RunLoop.SystemCallError?
    /// Set after the last event.
    private var isOver = false

    init(highWaterMark: Int) { output = OutputBuffer(highWaterMark: highWaterMark) }

    /// Whether a write makes sense.
    var isUsable: Bool { failure == nil && !isOver }
    var hasRoom: Bool { isUsable && !output.isFull }

    /// The events that the descriptor has to be watched for.
    ///
    /// A break that was not reported yet, and an end of both sides, are reported in a callout of their own: a socket
    /// that is shut down or broken is writable.
    var interest: EventSource.Events {
        var events: EventSource.Events = []
        if !isPaused, !isEnded { events.insert(.readable) }
        if !output.isEmpty || output.isFull || failure != nil || (isFinished && isEnded) { events.insert(.writable) }
        return isOver ? [] : events
    }

    // MARK: Output

    mutating func write(_ bytes: some Sequence<UInt8>, to descriptor: CInt) {
        let wasEmpty = output.isEmpty
        output.append(bytes)
        // Behind bytes that wait already there is no room.
        if wasEmpty { flush(descriptor) }
    }

    mutating func finish(_ descriptor: CInt) {
        isFinishing = true
        shutDownIfDone(descriptor)
    }

    /// Sends the waiting bytes; returns `drained` when the buffer was full and is empty now.
    mutating func send(_ descriptor: CInt) -> SocketStream.Event? {
        if failure == nil { flush(descriptor) }
        return failure == nil && output.takeDrained() && !isFinishing ? .drained : nil
    }

    private mutating func flush(_ descriptor: CInt) {
        if output.isEmpty { return shutDownIfDone(descriptor) }
        var result: CInt = 0
        // Once: the kernel reports when it can take the bytes that it did not take now.
        output.take { bytes in
            result = rl_socket_send(descriptor, bytes.baseAddress, bytes.count)
            return Int(result)
        }
        if result < 0, result != -EAGAIN { fail("send", -result) }
        shutDownIfDone(descriptor)
    }

    private mutating func shutDownIfDone(_ descriptor: CInt) {
        guard isFinishing, !isFinished, output.isEmpty, failure == nil else { return }
        let result = rl_socket_finish(descriptor)
        // ENOTCONN: the other side has gone altogether, and the next read will say how.
        if result < 0, result != -ENOTCONN { fail("shutdown", -result) }
        isFinished = true
    }

    // MARK: Input

    /// Takes the bytes that have come.
    mutating func read(_ descriptor: CInt) -> SocketStream.Event? {
        guard !isPaused, !isEnded, !isOver else { return nil }
        // A message is usually much shorter than the portion: it gets memory of its own length.
        let (bytes, result) = withUnsafeTemporaryAllocation(byteCount: Self.portion, alignment: 16) { buffer in
            guard let memory = buffer.baseAddress else { return ([UInt8](), -Int(EAGAIN)) }
            let result = NonWaitingInput.receive(descriptor, memory, buffer.count)
            return (Array(UnsafeRawBufferPointer(rebasing: buffer[..<max(0, result)])), result)
        }
        if result > 0 { return .received(bytes) }
        if result == -Int(EAGAIN) { return nil }
        isEnded = true
        if result == 0 { return .ended }
        fail("recv", CInt(clamping: -result))
        return nil
    }

    private mutating func fail(_ call: String, _ code: CInt) {
        if failure == nil { failure = RunLoop.SystemCallError(call: call, code: code) }
    }

    // MARK: The end

    /// The last event, when it is due.
    mutating func takeEnd() -> SocketStream.Event? {
        if isOver { return nil }
        if let failure {
            isOver = true
            return .failed(failure)
        }
        guard isFinished, isEnded else { return nil }
        isOver = true
        return .closed
    }
}
