// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// One client's connection: its requests, the unsent part of its answer, and its deadline.
///
/// Belongs to the inspector's thread. A client can use no more memory than this object, whose size is bounded.
final class InspectorConnection {
    /// The times after which the server closes a connection, in nanoseconds.
    struct Patience {
        /// The longest time from the connection to the first request.
        var greeting: Int64 = 5_000_000_000
        /// The longest time from one answer to the next request.
        var idle: Int64 = 60_000_000_000
        /// The longest time in which the client takes no byte of its answer.
        var taking: Int64 = 10_000_000_000
    }

    private let socket: PrivateDescriptor
    private let patience: Patience
    private let session: InspectorSession
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var sent = 0
    /// Whether the connection is closed after the present answer: the client sends nothing more, or is turned away.
    private var isEnding = false
    /// When the connection is closed if the client does nothing, in nanoseconds of the monotonic clock.
    private(set) var deadline: Int64

    var number: CInt { socket.number }

    init(_ socket: PrivateDescriptor, _ loops: Subscription<InspectedLoop>, _ patience: Patience) {
        self.socket = socket
        self.patience = patience
        session = InspectorSession(loops)
        deadline = SystemCalls.now(.monotonic) + patience.greeting
    }

    deinit { _ = rl_end_connection(socket.number) }

    /// The events of poll(2) to wait for.
    ///
    /// No request is read until the client has taken the answer to the previous request, so that requests cannot fill
    /// the memory.
    var events: Int16 { Int16(hasOutput ? POLLOUT : POLLIN) }

    private var hasOutput: Bool { sent < output.count }

    /// Sends a refusal with the reason, and ends the connection.
    func turnAway(_ reason: String) {
        isEnding = true
        reply(.failure(InspectorProtocol.Refusal(reason)))
    }

    /// Sends or receives as far as the socket is ready; returns whether the client stays connected.
    func serve(_ ready: Int16) -> Bool {
        // With POLLHUP the client has closed its end: it reads no answer, whatever it has asked before.
        if ready & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { return false }
        if hasOutput {
            guard send() else { return false }
        } else if ready != 0 {
            guard receive() else { return false }
        }
        // Of requests that came at once, the later ones wait here: the socket will not report them again.
        while !hasOutput, !isEnding, takeRequest() {}
        return hasOutput || !isEnding
    }

    private func receive() -> Bool {
        // Not more than makes a request: what follows waits in the socket.
        let room = InspectorProtocol.maxRequestLength - input.count
        let got = withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) { space -> CInt in
            let got = rl_inspect_receive(socket.number, space.baseAddress, room)
            if got > 0 { input += space[..<Int(got)] }
            return got
        }
        // EAGAIN: woken for nothing. Any other error is an end as well.
        if got == 0 { isEnding = true }
        return got > 0 || got == -EAGAIN
    }

    /// Answers the first complete request; returns whether there was one.
    private func takeRequest() -> Bool {
        guard let end = input.firstIndex(of: UInt8(ascii: "\n")) else {
            if input.count >= InspectorProtocol.maxRequestLength { turnAway("the request is too long") }
            return false
        }
        do {
            let request = try InspectorProtocol.Request(input[..<end])
            input.removeSubrange(...end)
            reply(Result { () throws(InspectorProtocol.Refusal) in try session.answer(request) })
        } catch {
            // A client that cannot ask is not asked again.
            turnAway(error.description)
        }
        return true
    }

    private func reply(_ result: Result<[UInt8], InspectorProtocol.Refusal>) {
        output = InspectorProtocol.answer(result)
        sent = 0
        // Requests that wait behind this one are not answered if the client has gone.
        if !send() { isEnding = true }
    }

    /// Sends as much of the answer as the socket takes; returns whether the client still takes it.
    private func send() -> Bool {
        let now = SystemCalls.now(.monotonic)
        while hasOutput {
            let count = output.withUnsafeBytes {
                rl_inspect_send(socket.number, $0.baseAddress.unsafelyUnwrapped + sent, $0.count - sent)
            }
            if count == -EAGAIN { return true }
            if count < 0 {
                output = []
                return false
            }
            sent += Int(count)
            deadline = now + patience.taking
        }
        output = []
        deadline = now + patience.idle
        return true
    }
}
