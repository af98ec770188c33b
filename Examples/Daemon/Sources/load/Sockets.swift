// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops

/// A Unix socket at a path.
enum UnixSocket {
    static func make(_ type: __socket_type) -> CInt {
        let file = socket(AF_UNIX, CInt(type.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        precondition(file >= 0, "no socket: \(errno)")
        return file
    }

    static func bound(_ type: __socket_type, to path: String) -> CInt {
        let file = make(type)
        unlink(path)
        let result = with(path) { bind(file, $0, $1) }
        precondition(result == 0, "not bound to \(path): \(errno)")
        return file
    }

    /// A connection, without waiting; `nil` if the other side does not take it now.
    static func connected(to path: String) -> CInt? {
        let file = make(SOCK_STREAM)
        if with(path, { connect(file, $0, $1) }) == 0 { return file }
        close(file)
        return nil
    }

    private static func with(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        precondition(path.utf8.count < 108, "too long for a socket: \(path)")
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

/// Receives datagrams at a path, as systemd and its journal do.
final class DatagramReceiver {
    private let path: String
    private let handler: ([UInt8]) -> Void
    private var source: RunLoop.DescriptorSource?
    private var portion = [UInt8](repeating: 0, count: 1 << 18)

    init(_ path: String, _ handler: @escaping ([UInt8]) -> Void) throws {
        self.path = path
        self.handler = handler
        try open()
    }

    /// While it is paused, its queue fills.
    var isPaused = false { didSet { source?.events = isPaused ? [] : .readable } }

    func open() throws {
        let file = UnixSocket.bound(SOCK_DGRAM, to: path)
        let made = RunLoop.DescriptorSource(file, closes: true, label: path) { [unowned self] _, _ in receive(file) }
        try RunLoop.current.add(made, in: .default)
        source = made
    }

    /// As if nobody had ever listened.
    func close() {
        source?.invalidate()
        source = nil
        unlink(path)
    }

    private func receive(_ file: CInt) {
        while true {
            let count = recv(file, &portion, portion.count, 0)
            if count < 0 { return }
            handler(Array(portion.prefix(count)))
        }
    }
}

/// The fields of an entry in the journal's protocol, in order.
func fields(ofJournalEntry bytes: [UInt8]) -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = rest[..<end]
        rest = rest[(end + 1)...]
        let name = String(decoding: line.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
        if let equals = line.firstIndex(of: UInt8(ascii: "=")) {
            fields.append((name, String(decoding: line[(equals + 1)...], as: UTF8.self)))
            continue
        }
        // A name, then the length in eight bytes, then so many bytes.
        guard rest.count > 8 else { break }
        let length = rest.prefix(8).enumerated().reduce(0) { $0 | Int($1.element) << (8 * $1.offset) }
        fields.append((name, String(decoding: rest.dropFirst(8).prefix(length), as: UTF8.self)))
        rest = rest.dropFirst(8 + length + 1)
    }
    return fields
}
