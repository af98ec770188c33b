// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsEvents
import RunLoopsKit

/// Serves files by HTTP on a thread of its own, on this machine.
///
/// Some names are answered otherwise: `redirect/NAME` leads to a name or an address, `status/404/NAME` has that status, `cut/NAME` ends in
/// the middle. Asked for an address of another host, it acts as that host's proxy, and has the file itself.
public final class Server: Sendable {
    /// The port that it listens on.
    public let port: UInt16
    private let thread: RunLoopThread
    private let desk: Desk

    /// Starts the thread, and listens.
    ///
    /// - Parameters:
    ///   - growing: The names of files that grow: their clients stay for what is appended.
    ///   - contents: The bytes of a file; made up by ``contents(of:)`` unless given.
    public init(
        growing: Set<String> = [], contents: @escaping @Sendable (String) -> [UInt8] = { Server.contents(of: $0) }
    ) throws {
        let desk = Desk(growing, contents)
        self.desk = desk
        thread = try RunLoopThread(name: "server")
        port = try thread.performAndWait { try desk.open() }
    }

    /// The address of a file.
    public func url(of name: String) -> String { url + name.percentEncoded }

    /// The address of the server.
    public var url: String { "http://127.0.0.1:\(port)/" }

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
    public func append(_ bytes: [UInt8], to name: String) { thread.post { [desk] in desk.append(bytes, to: name) } }

    /// The number of connections that are open.
    public var clientCount: Int { (try? thread.performAndWait { [desk] in desk.clients.count }) ?? 0 }

    /// How often it was asked for another host's address.
    public var proxiedCount: Int { (try? thread.performAndWait { [desk] in desk.proxiedCount }) ?? 0 }

    /// Closes all connections and ends the thread; clients are refused from then on.
    public func stop() {
        thread.post { [desk] in desk.close() }
        thread.stop()
        thread.join()
    }
}

/// The server's files and clients; only the server's thread uses it.
private final class Desk: @unchecked Sendable {
    private let growing: Set<String>
    private let contents: @Sendable (String) -> [UInt8]
    private var listener: SocketListener?
    private(set) var clients: [ObjectIdentifier: Client] = [:]
    private(set) var proxiedCount = 0

    /// A connection, what has arrived of its request, and the growing file that it follows.
    struct Client {
        let stream: SocketStream
        var request: [UInt8] = []
        var follows: String?
    }

    init(_ growing: Set<String>, _ contents: @escaping @Sendable (String) -> [UInt8]) {
        (self.growing, self.contents) = (growing, contents)
    }

    func open() throws -> UInt16 {
        let listener = try SocketListener(on: .loopback()) { [weak self] _, event in
            if case .accepted(let socket) = event { self?.accept(socket) }
        }
        try RunLoop.current.add(listener, in: .common)
        self.listener = listener
        return UInt16(listener.address.port ?? 0)
    }

    func close() {
        listener?.invalidate()
        for client in clients.values { client.stream.invalidate() }
        (listener, clients) = (nil, [:])
    }

    func append(_ bytes: [UInt8], to name: String) {
        for client in clients.values where client.follows == name { client.stream.write(bytes) }
    }

    private func accept(_ socket: RunLoop.Socket) {
        let stream = SocketStream(socket) { [weak self] stream, event in
            switch event {
            case .received(let bytes): self?.receive(bytes, stream)
            case .ended: stream.finish()
            case .drained: break
            case .closed, .failed: self?.clients[ObjectIdentifier(stream)] = nil
            }
        }
        // Refused by the system: the client sees the end.
        guard (try? RunLoop.current.add(stream, in: .common)) != nil else { return }
        clients[ObjectIdentifier(stream)] = Client(stream: stream)
    }

    private func receive(_ bytes: [UInt8], _ stream: SocketStream) {
        let id = ObjectIdentifier(stream)
        clients[id]?.request += bytes
        guard let client = clients[id], client.follows == nil, client.request.suffix(4).elementsEqual("\r\n\r\n".utf8)
        else { return }
        // GET /a%20name HTTP/1.1; a proxy is asked for GET http://host/a%20name HTTP/1.1.
        let line = String(decoding: client.request, as: UTF8.self).split(separator: " ", maxSplits: 2)
        var target = line.count == 3 ? line[1] : "/"
        if target.hasPrefix("http://") {
            proxiedCount += 1
            target = target.dropFirst("http://".count).drop { $0 != "/" }
        }
        answer(String(target.dropFirst()).percentDecoded, stream)
    }

    private func answer(_ name: String, _ stream: SocketStream) {
        let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let rest = parts.count > 1 ? parts[1] : ""
        switch parts.first {
        case "redirect":
            let place = rest.contains("://") ? rest : "/" + rest.percentEncoded
            send(stream, status: 302, ["Location: \(place)"], Array("elsewhere".utf8))
        case "circle": send(stream, status: 302, ["Location: /circle"], [])
        case "status":
            let status = rest.split(separator: "/").first.flatMap { Int($0) } ?? 200
            send(stream, status: status, [], contents(rest))
        case "cut":
            let all = contents(rest)
            send(stream, status: 200, ["Content-Length: \(all.count)"], Array(all.prefix(all.count / 2)))
        default:
            guard growing.contains(name) else {
                let all = contents(name)
                return send(stream, status: 200, ["Content-Length: \(all.count)"], all)
            }
            clients[ObjectIdentifier(stream)]?.follows = name
            send(stream, status: 200, [], contents(name), isLast: false)
        }
    }

    /// Without a length, the end of the connection is the end of the file.
    private func send(
        _ stream: SocketStream, status: Int, _ fields: [String], _ bytes: [UInt8], isLast: Bool = true
    ) {
        let head = ["HTTP/1.1 \(status) -", "Content-Type: application/octet-stream", "Connection: close"] + fields
        stream.write(head.map { $0 + "\r\n" }.joined().utf8)
        stream.write("\r\n".utf8)
        stream.write(bytes)
        if isLast { stream.finish() }
    }
}

extension String {
    /// The name as a part of an address.
    fileprivate var percentEncoded: String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = utf8.flatMap { byte -> [UInt8] in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D...0x2F, 0x5F, 0x7E: [byte]
            default: [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The name that was encoded so.
    fileprivate var percentDecoded: String {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            let code = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == 0x25, let value = UInt8(code, radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
