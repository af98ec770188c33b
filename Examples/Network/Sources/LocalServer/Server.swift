// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsEvents
internal import RunLoopsKit
internal import Synchronization

/// An HTTP server on 127.0.0.1 with a thread of its own, which answers a request when the program says so.
public final class Server: Sendable {
    /// The port, which the system has chosen.
    public let port: Int
    private let thread: RunLoopThread
    private let listener: SocketListener
    private let requests = Requests()

    /// Listens on a port of the system's choice.
    public init() throws {
        thread = try RunLoopThread(name: "server")
        listener = try .sendable(on: .loopback()) { [requests] _, event in
            guard case .accepted(let socket) = event else { return }
            var received: [UInt8] = []
            let stream = SocketStream(socket) { stream, event in
                guard case .received(let bytes) = event else { return }
                received += bytes
                // The requests of these examples have no body.
                if received.suffix(4).elementsEqual("\r\n\r\n".utf8) { requests.add(stream) }
            }
            do { try RunLoop.current.add(stream, in: .common) } catch { print("connection refused: \(error)") }
        }
        port = Int(listener.address.port ?? 0)
        try thread.loop.add(listener, in: .common)
    }

    /// What clients ask for.
    public var address: String { "http://127.0.0.1:\(port)/" }

    /// Answers one request, the next one if none waits; any thread may call it.
    public func answer() { requests.answerOne() }

    /// Ends the thread, and with it all connections.
    public func stop() async throws {
        thread.stop()
        try await thread.ended()
    }
}

/// Requests that wait for their answers, and answers that wait for their requests.
private final class Requests: Sendable {
    private let state = Mutex((waiting: [SocketStream](), answersAhead: 0))

    func add(_ stream: SocketStream) {
        let isDue = state.withLock { state in
            if state.answersAhead == 0 { state.waiting.append(stream) }
            defer { state.answersAhead = max(0, state.answersAhead - 1) }
            return state.answersAhead > 0
        }
        if isDue { answer(stream) }
    }

    func answerOne() {
        let stream: SocketStream? = state.withLock { state in
            if state.waiting.isEmpty { state.answersAhead += 1 }
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        if let stream { answer(stream) }
    }

    private func answer(_ stream: SocketStream) {
        stream.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello".utf8)
        stream.finish()
    }
}
