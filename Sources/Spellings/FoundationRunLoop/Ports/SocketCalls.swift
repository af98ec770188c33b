// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CRunLoopsKernel
internal import Foundation
internal import RunLoopsLibC

// Under another name: the type has a `bind` of its own.
private let systemBind = RunLoopsLibC.bind

/// The system calls of socket ports, with addresses in Foundation's format.
///
/// A negative result is an error number.
enum SocketCalls {
    #if canImport(Glibc)
    static let stream = Int32(SOCK_STREAM.rawValue)
    #else
    static let stream = SOCK_STREAM
    #endif
    static let tcp = Int32(IPPROTO_TCP)

    /// Makes a socket that does not block and is closed on exec; `nil` if the system refuses.
    static func make(_ signature: SocketSignature) -> Int32? {
        let descriptor = rl_made(socket(signature.family, signature.type, signature.protocol))
        guard descriptor >= 0 else { return nil }
        guard rl_make_nonblocking(descriptor) >= 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    static func close(_ descriptor: Int32) { _ = rl_close(descriptor) }

    /// Sets the socket's address, even if another program has just stopped using the address, as Foundation does.
    static func bind(_ descriptor: Int32, to address: Data) -> Bool {
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
        var storage = sockaddr_storage()
        if address.count > MemoryLayout.size(ofValue: storage) { return false }
        return withUnsafeMutableBytes(of: &storage) { copy in
            address.copyBytes(to: copy)
            let pointer = copy.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: sockaddr.self)
            return systemBind(descriptor, pointer, socklen_t(address.count)) == 0
        }
    }

    static func connect(_ descriptor: Int32, to address: Data) -> Int32 {
        address.withUnsafeBytes { rl_socket_connect(descriptor, $0.baseAddress, UInt32($0.count)) }
    }

    /// Returns the address of the socket or of its peer; `nil` if the descriptor is not a socket.
    static func address(of descriptor: Int32, isPeer: Bool) -> Data? {
        var buffer = [UInt8](repeating: 0, count: Int(RL_ADDRESS_ROOM))
        let count = rl_socket_address(descriptor, isPeer, &buffer)
        return count < 0 ? nil : Data(buffer.prefix(Int(count)))
    }

    /// Receives a datagram with its sender's address; `nil` if there is none.
    static func receiveDatagram(_ descriptor: Int32) -> (bytes: Data, peer: Data)? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        var peer = [UInt8](repeating: 0, count: Int(RL_ADDRESS_ROOM))
        var size = socklen_t(peer.count)
        let count = peer.withUnsafeMutableBytes { peer in
            // SAFETY: the system writes an address of at most `size` bytes.
            recvfrom(
                descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT),
                peer.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: sockaddr.self), &size)
        }
        guard count > 0 else { return nil }
        return (Data(buffer.prefix(count)), Data(peer.prefix(Int(size))))
    }

    /// Whether the other side has closed the connection: bytes that are written then are lost without an error.
    static func isClosedByPeer(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        let result = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return result == 0 || result < 0 && errno != EAGAIN && errno != EINTR
    }

    /// Waits until bytes can be written, or the connection has failed; returns false if `limit` passes before.
    static func waitToWrite(_ descriptor: Int32, before limit: Date) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while true {
            let left = limit.timeIntervalSinceNow * 1000
            // A day at a time: the system counts milliseconds in 32 bits.
            let result = poll(&entry, 1, Int32(min(max(0, left.rounded(.up)), 86_400_000)))
            if result > 0 { return true }
            if result < 0, errno != EINTR { return false }
            if left <= 0 { return false }
        }
    }

    /// Returns the addresses of a TCP port of a host; IPv4 addresses come first.
    static func lookUp(_ host: String, _ port: UInt16) -> [(family: Int32, address: Data)] {
        var hints = addrinfo()
        hints.ai_socktype = stream
        var found: UnsafeMutablePointer<addrinfo>?
        // C would look up what stands before a zero, which is another host.
        guard !host.utf8.contains(0), getaddrinfo(host, "\(port)", &hints, &found) == 0 else { return [] }
        defer { freeaddrinfo(found) }
        var addresses: [(family: Int32, address: Data)] = []
        var next = found
        while let entry = next?.pointee {
            addresses.append((entry.ai_family, Data(bytes: entry.ai_addr, count: Int(entry.ai_addrlen))))
            next = entry.ai_next
        }
        return addresses.filter { $0.family == AF_INET } + addresses.filter { $0.family != AF_INET }
    }
}
#endif
