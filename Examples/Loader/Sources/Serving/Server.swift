// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import Loading
import RunLoops
import RunLoopsKit

/// Serves files that it makes up, on a thread of its own: a line with a name comes in, the file goes out.
public final class Server: Sendable {
    /// Where it listens.
    public let port: UInt16
    private let thread: RunLoopThread

    /// Starts the thread, and listens.
    public init() throws {
        let (descriptor, port) = try Sockets.listen()
        self.port = port
        thread = try RunLoopThread(name: "server")
        try thread.performAndWait {
            let listener = RunLoop.DescriptorSource(descriptor) { source, _ in
                // EAGAIN: the client has gone again.
                if let client = Sockets.accept(source.descriptor) { Answering(client).start() }
            }
            try RunLoop.current.add(listener, in: .common)
        }
    }

    /// The bytes of a file: they follow from its name, so that the other side can check them.
    public static func contents(of name: String) -> [UInt8] {
        var state = name.utf8.reduce(5381) { ($0 << 5) &+ $0 &+ UInt64($1) }
        let size = 1000 + Int(state % 200_000)
        return (0..<size).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
    }

    /// Ends the thread.
    public func stop() {
        thread.stop()
        thread.join()
    }
}

/// One client of the server: its descriptor source keeps it alive, and only the server's thread uses it.
private final class Answering {
    private let descriptor: CInt
    private var request: [UInt8] = []
    private var answer: ArraySlice<UInt8> = []

    init(_ descriptor: CInt) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    func start() {
        let source = RunLoop.DescriptorSource(descriptor) { [self] source, _ in
            do {
                if answer.isEmpty { try readRequest(source) } else { try writeAnswer(source) }
            } catch {
                // The client has gone: so does this.
                source.invalidate()
            }
        }
        do {
            try RunLoop.current.add(source, in: .common)
        } catch {
            source.invalidate()
        }
    }

    private func readRequest(_ source: RunLoop.DescriptorSource) throws(SocketError) {
        guard let bytes = try Sockets.read(descriptor) else { return }
        if bytes.isEmpty { return source.invalidate() }
        request += bytes
        guard let end = request.firstIndex(of: 10) else { return }
        answer = Server.contents(of: String(decoding: request[..<end], as: UTF8.self))[...]
        source.events = .writable
    }

    private func writeAnswer(_ source: RunLoop.DescriptorSource) throws(SocketError) {
        answer = answer.dropFirst(try Sockets.write(descriptor, answer))
        // The end of the stream is the end of the file.
        if answer.isEmpty { source.invalidate() }
    }
}
