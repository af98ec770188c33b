// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsKit

/// The one thread that touches sockets.
final class NetworkThread: Sendable {
    private let thread: RunLoopThread

    init() throws { thread = try RunLoopThread(name: "network") }

    /// Fetches what the server at `port` has for a name; `done` is called on the network thread.
    func fetch(_ name: String, from port: UInt16, done: @escaping @Sendable (Result<[UInt8], any Error>) -> Void) {
        let isTaken = thread.post {
            do {
                try Connection(name, port, done).start()
            } catch {
                done(.failure(error))
            }
        }
        if !isTaken { done(.failure(LoaderError.stopped)) }
    }

    func stop() {
        thread.stop()
        thread.join()
    }
}

/// One connection: its descriptor source keeps it alive, and only the network thread uses it.
private final class Connection {
    private let descriptor: CInt
    private var request: ArraySlice<UInt8>
    private var received: [UInt8] = []
    private let done: @Sendable (Result<[UInt8], any Error>) -> Void

    init(
        _ name: String, _ port: UInt16, _ done: @escaping @Sendable (Result<[UInt8], any Error>) -> Void
    ) throws(SocketError) {
        request = Array("\(name)\n".utf8)[...]
        self.done = done
        descriptor = try Sockets.connect(to: port)
    }

    deinit { close(descriptor) }

    func start() throws {
        let source = RunLoop.DescriptorSource(descriptor, for: .writable) { [self] source, _ in
            do {
                try socketIsReady(source)
            } catch {
                source.invalidate()
                done(.failure(error))
            }
        }
        try RunLoop.current.add(source, in: .common)
    }

    private func socketIsReady(_ source: RunLoop.DescriptorSource) throws(SocketError) {
        if !request.isEmpty { return try send(source) }
        guard let bytes = try Sockets.read(descriptor) else { return }
        received += bytes
        if bytes.isEmpty {
            source.invalidate()
            done(.success(received))
        }
    }

    private func send(_ source: RunLoop.DescriptorSource) throws(SocketError) {
        let code = Sockets.connectError(descriptor)
        if code != 0 { throw SocketError(call: "connect", code: code) }
        request = request.dropFirst(try Sockets.write(descriptor, request))
        if request.isEmpty { source.events = .readable }
    }
}
