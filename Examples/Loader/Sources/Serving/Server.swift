// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import Loading
import RunLoops
import RunLoopsKit
import Synchronization

/// Serves files on a thread of its own: a line with a name comes in, the file goes out.
public final class Server: Sendable {
    /// Where it listens.
    public let port: UInt16
    private let thread: RunLoopThread
    private let files: Files
    /// The socket that listens, until the server is stopped.
    private let listening: Mutex<CInt?>

    /// Starts the thread, and listens.
    ///
    /// - Parameters:
    ///   - growing: The names of files that grow: their clients stay for what is appended.
    ///   - contents: The bytes of a file; made up by ``contents(of:)`` unless given.
    public init(
        growing: Set<String> = [], contents: @escaping @Sendable (String) -> [UInt8] = { Server.contents(of: $0) }
    ) throws {
        let (descriptor, port) = try Sockets.listen()
        self.port = port
        listening = Mutex(descriptor)
        let files = Files(growing, contents)
        self.files = files
        thread = try RunLoopThread(name: "server")
        try thread.performAndWait {
            let listener = RunLoop.DescriptorSource(descriptor) { source, _ in
                // EAGAIN: the client has gone again.
                if let client = Sockets.accept(source.descriptor) { Answering(client, files).start() }
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

    /// Sends bytes to the clients of a growing file that have its contents; any thread.
    public func append(_ bytes: [UInt8], to name: String) {
        thread.post { [files] in for client in files.staying.values where client.name == name { client.append(bytes) } }
    }

    /// Ends the thread, and refuses clients from then on.
    public func stop() {
        thread.stop()
        thread.join()
        if let descriptor = listening.withLock({ $0.take() }) { close(descriptor) }
    }
}

/// The server's files.
private final class Files: @unchecked Sendable {
    let growing: Set<String>
    let contents: @Sendable (String) -> [UInt8]
    /// The clients of growing files; only the server's thread uses them.
    var staying: [ObjectIdentifier: Answering] = [:]

    init(_ growing: Set<String>, _ contents: @escaping @Sendable (String) -> [UInt8]) {
        (self.growing, self.contents) = (growing, contents)
    }
}

/// One client of the server: its descriptor source keeps it alive, and only the server's thread uses it.
private final class Answering {
    private let descriptor: CInt
    private let files: Files
    /// The file, once the client has named it.
    private(set) var name: String?
    private var request: [UInt8] = []
    private var answer: ArraySlice<UInt8> = []
    private weak var source: RunLoop.DescriptorSource?

    init(_ descriptor: CInt, _ files: Files) { (self.descriptor, self.files) = (descriptor, files) }

    deinit { close(descriptor) }

    func start() {
        let source = RunLoop.DescriptorSource(descriptor) { [self] source, _ in
            do {
                // An empty file is answered too: by the end of the stream.
                if name == nil || (isStaying && answer.isEmpty) { try readRequest() } else { try writeAnswer() }
            } catch {
                // The client has gone: so does this.
                end()
            }
        }
        self.source = source
        do {
            try RunLoop.current.add(source, in: .common)
        } catch {
            end()
        }
    }

    private var isStaying: Bool { files.staying[ObjectIdentifier(self)] != nil }

    private func end() {
        source?.invalidate()
        files.staying[ObjectIdentifier(self)] = nil
    }

    func append(_ bytes: [UInt8]) {
        answer += bytes
        source?.events = .writable
    }

    private func readRequest() throws(SocketError) {
        guard let bytes = try Sockets.read(descriptor) else { return }
        if bytes.isEmpty { return end() }
        request += bytes
        guard name == nil, let lineEnd = request.firstIndex(of: 10) else { return }
        let name = String(decoding: request[..<lineEnd], as: UTF8.self)
        self.name = name
        if files.growing.contains(name) { files.staying[ObjectIdentifier(self)] = self }
        append(files.contents(name))
    }

    private func writeAnswer() throws(SocketError) {
        answer = answer.dropFirst(try Sockets.write(descriptor, answer))
        if !answer.isEmpty { return }
        // The end of the stream is the end of the file.
        if isStaying { source?.events = .readable } else { end() }
    }
}
