// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsKit

/// The one thread that touches sockets.
final class NetworkThread: Sendable {
    private let thread: RunLoopThread
    private let table = Table()

    private final class Table: @unchecked Sendable {
        // Only the network thread uses it.
        var connections: [ObjectIdentifier: SocketConnection] = [:]
    }

    init() throws { thread = try RunLoopThread(name: "network") }

    /// Fetches what the server at `port` has for a name; `news` is called on the network thread, with the end last.
    func fetch(_ id: ObjectIdentifier, _ name: String, from port: UInt16, news: @escaping @Sendable (LoadEvent) -> Void)
    {
        let isTaken = thread.post { [table] in
            do {
                let connection = try SocketConnection(name, port) { event in
                    if case .bytes = event {} else { table.connections[id] = nil }
                    news(event)
                }
                try connection.start()
                table.connections[id] = connection
            } catch {
                news(.failed(error))
            }
        }
        if !isTaken { news(.failed(LoadError.stopped)) }
    }

    /// Closes a connection without further news.
    func cancel(_ id: ObjectIdentifier) {
        thread.post { [table] in table.connections.removeValue(forKey: id)?.close() }
    }

    func stop() {
        thread.stop()
        thread.join()
    }
}

/// One connection, which only the network thread uses.
private final class SocketConnection {
    private let descriptor: CInt
    private var request: ArraySlice<UInt8>
    private let news: (LoadEvent) -> Void
    private var source: RunLoop.DescriptorSource?

    init(_ name: String, _ port: UInt16, _ news: @escaping (LoadEvent) -> Void) throws(SocketError) {
        request = Array("\(name)\n".utf8)[...]
        self.news = news
        descriptor = try Sockets.connect(to: port)
    }

    deinit { Glibc.close(descriptor) }

    func start() throws {
        let source = RunLoop.DescriptorSource(descriptor, for: .writable) { [unowned self] source, _ in
            do {
                try socketIsReady(source)
            } catch {
                end(.failed(error))
            }
        }
        self.source = source
        try RunLoop.current.add(source, in: .common)
    }

    func close() { source?.invalidate() }

    private func end(_ event: LoadEvent) {
        close()
        // Releases this connection.
        withExtendedLifetime(self) { news(event) }
    }

    private func socketIsReady(_ source: RunLoop.DescriptorSource) throws(SocketError) {
        if !request.isEmpty { return try send(source) }
        guard let bytes = try Sockets.read(descriptor) else { return }
        if bytes.isEmpty { end(.finished) } else { news(.bytes(bytes)) }
    }

    private func send(_ source: RunLoop.DescriptorSource) throws(SocketError) {
        let code = Sockets.connectError(descriptor)
        if code != 0 { throw SocketError(call: "connect", code: code) }
        request = request.dropFirst(try Sockets.write(descriptor, request))
        if request.isEmpty { source.events = .readable }
    }
}
