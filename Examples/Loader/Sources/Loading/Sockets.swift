// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Sockets of 127.0.0.1, non-blocking and closed on exec.
package enum Sockets {
    package static func make() throws(SocketError) -> CInt {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        return try check("socket", socket(AF_INET, kind, 0))
    }

    /// A socket that listens on a port of the system's choice.
    package static func listen() throws(SocketError) -> (descriptor: CInt, port: UInt16) {
        let descriptor = try make()
        var address = local(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        do {
            try withAddress(&address) { pointer throws(SocketError) in
                _ = try check("bind", bind(descriptor, pointer, length))
            }
            try check("listen", Glibc.listen(descriptor, 64))
            try withAddress(&address) { pointer throws(SocketError) in
                _ = try check("getsockname", getsockname(descriptor, pointer, &length))
            }
        } catch {
            close(descriptor)
            throw error
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// The next client, if there is one.
    package static func accept(_ descriptor: CInt) -> CInt? {
        let client = Glibc.accept(descriptor, nil, nil)
        if client < 0 { return nil }
        // In two calls, because Swift's Glibc does not have the one call: this program starts no other program in
        // between.
        _ = fcntl(client, F_SETFL, O_NONBLOCK)
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        return client
    }

    /// Begins to connect; the socket is writable when that is done, or has failed.
    package static func connect(to port: UInt16) throws(SocketError) -> CInt {
        let descriptor = try make()
        var address = local(port: port)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        do {
            try withAddress(&address) { pointer throws(SocketError) in
                let result = Glibc.connect(descriptor, pointer, length)
                if result != 0, errno != EINPROGRESS { throw SocketError(call: "connect", code: errno) }
            }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// The result of a connection that was begun, as an error number; 0 for success.
    package static func connectError(_ descriptor: CInt) -> CInt {
        var code: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        return code
    }

    /// Reads what there is: bytes, nothing at the end of the stream; `nil` when there is nothing yet.
    package static func read(_ descriptor: CInt) throws(SocketError) -> [UInt8]? {
        let capacity = 16_384
        var result = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            result = Glibc.read(descriptor, buffer.baseAddress, capacity)
            count = max(0, result)
        }
        if result >= 0 { return bytes }
        // EINTR: the loop comes back.
        if errno == EAGAIN || errno == EINTR { return nil }
        throw SocketError(call: "read", code: errno)
    }

    /// Writes as much as the socket takes, and returns how much that was.
    package static func write(_ descriptor: CInt, _ bytes: ArraySlice<UInt8>) throws(SocketError) -> Int {
        // Without SIGPIPE: the other side may have gone.
        let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EINTR { return 0 }
        throw SocketError(call: "send", code: errno)
    }

    private static func local(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func withAddress(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) throws(SocketError) -> Void
    ) throws(SocketError) {
        try withUnsafeMutablePointer(to: &address) { pointer throws(SocketError) in
            // SAFETY: the calls look at the family before anything else.
            try body(UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: sockaddr.self))
        }
    }

    @discardableResult
    private static func check(_ call: String, _ result: CInt) throws(SocketError) -> CInt {
        if result < 0 { throw SocketError(call: call, code: errno) }
        return result
    }
}

/// What the system refused.
package struct SocketError: Error, CustomStringConvertible {
    package let call: String
    package let code: CInt
    package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
