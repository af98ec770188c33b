// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

extension RunLoop {
    /// The address of a stream socket: a path of the file system, or a host and a port.
    ///
    /// A host is a numeric address. A name has to be looked up: ``RunLoops/RunLoop/HostAddress``.
    ///
    /// Corresponds to the address data of `CFSocket`. Thread safety: a value; any thread.
    public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
        /// The bytes that the kernel receives.
        let bytes: [UInt8]

        /// The address of a Unix socket at `path`; a path that begins with a zero byte is an abstract name, outside the
        /// file system.
        ///
        /// A path that begins with `@` is an ordinary path.
        ///
        /// - Throws: `ENAMETOOLONG` for an empty path and for one of more than 107 bytes, `EINVAL` for a path with a
        ///   zero byte after its first byte.
        public static func unix(_ path: String) throws(RunLoop.SystemCallError) -> RunLoop.SocketAddress {
            try unix(bytes: Array(path.utf8))
        }

        /// The address of a Unix socket at a path that need not be UTF-8.
        ///
        /// Otherwise as ``unix(_:)``.
        public static func unix(bytes path: [UInt8]) throws(RunLoop.SystemCallError) -> RunLoop.SocketAddress {
            try RunLoop.SocketAddress("sockaddr_un", of: String(decoding: path, as: UTF8.self)) { storage in
                path.withUnsafeBytes { rl_address_unix(storage, $0.baseAddress, $0.count) }
            }
        }

        /// The address of a TCP socket: a numeric IPv4 or IPv6 address, such as `127.0.0.1` or `::1`, and a port.
        ///
        /// Port 0 lets the kernel choose a port for a listening socket.
        ///
        /// - Throws: `EINVAL` if `host` is not such an address; for a name, connect to a ``RunLoops/RunLoop/HostAddress``.
        public static func internet(_ host: String, port: UInt16) throws(RunLoop.SystemCallError)
            -> RunLoop.SocketAddress
        {
            let text = try SystemText(host, for: "inet_pton")
            return try RunLoop.SocketAddress("inet_pton", of: host) { storage in
                text.withCString { rl_address_internet(storage, $0, port) }
            }
        }

        /// The loopback address (`127.0.0.1`), which only this machine can reach.
        public static func loopback(port: UInt16 = 0) -> RunLoop.SocketAddress {
            guard let address = try? internet("127.0.0.1", port: port) else { fatalError("127.0.0.1 is an address") }
            return address
        }

        /// The socket's own address, or its peer's.
        init(of descriptor: CInt, peer: Bool) throws(RunLoop.SystemCallError) {
            try self.init(peer ? "getpeername" : "getsockname") { rl_socket_address(descriptor, peer, $0) }
        }

        /// The next address that a lookup has found; `nil` behind the last one.
        init?(next lookup: inout rl_lookup) {
            var storage = [UInt8](repeating: 0, count: Int(RL_ADDRESS_ROOM))
            let length = storage.withUnsafeMutableBytes { rl_lookup_next(&lookup, $0.baseAddress) }
            if length == 0 { return nil }
            bytes = Array(storage.prefix(Int(length)))
        }

        private init(
            _ call: String, of subject: @autoclosure () -> String? = nil, _ write: (UnsafeMutableRawPointer) -> CInt
        ) throws(RunLoop.SystemCallError) {
            var storage = [UInt8](repeating: 0, count: Int(RL_ADDRESS_ROOM))
            let length = storage.withUnsafeMutableBytes { write($0.baseAddress.unsafelyUnwrapped) }
            bytes = Array(storage.prefix(Int(try check(call, length, of: subject()))))
        }

        /// The port; `nil` for a Unix socket.
        public var port: UInt16? { isInternet ? UInt16(clamping: withPadding { rl_address_port($0) }) : nil }

        /// The path of a Unix socket in the file system; `nil` for other sockets.
        ///
        /// Bytes that are not UTF-8 are shown as U+FFFD: such a path leads to no file. Use ``pathBytes`` to open the file.
        public var path: String? { file?.decoded }

        /// The bytes of the path of a Unix socket in the file system, without a zero at the end; `nil` for other
        /// sockets.
        public var pathBytes: [UInt8]? { file?.bytes }

        /// The address as text: `127.0.0.1:80`, `[::1]:80`, the path, or `@` and the abstract name.
        ///
        /// A path that begins with `@` is written with `./` before it.
        public var description: String {
            if let port {
                let host = self.host
                return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            }
            if let file { return (file.bytes.first == UInt8(ascii: "@") ? "./" : "") + file.decoded }
            if unixName.isEmpty { return "(unnamed)" }
            // As the tools of Linux do.
            return String(decoding: unixName.map { $0 == 0 ? UInt8(ascii: "@") : $0 }, as: UTF8.self)
        }

        /// The path of a Unix socket in the file system; `nil` for other sockets.
        var file: SystemText? {
            guard let first = unixName.first, first != 0 else { return nil }
            return SystemText(prefixOf: unixName)
        }

        /// The bytes behind the family; none for other sockets.
        private var unixName: ArraySlice<UInt8> {
            family == AF_UNIX ? bytes.dropFirst(MemoryLayout<sa_family_t>.size) : []
        }

        var family: CInt { withPadding { rl_address_family($0) } }

        private var isInternet: Bool { family == AF_INET || family == AF_INET6 }

        private var host: String {
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { room in
                let text = room.baseAddress.unsafelyUnwrapped
                withPadding { rl_address_host($0, text, room.count) }
                return String(cString: text)
            }
        }

        /// The bytes with zeroes up to the length of the longest address: an unnamed address consists of its family
        /// alone.
        private func withPadding<Result>(_ body: (UnsafeRawPointer) -> Result) -> Result {
            let padded = bytes + [UInt8](repeating: 0, count: Int(RL_ADDRESS_ROOM) - bytes.count)
            return padded.withUnsafeBytes { body($0.baseAddress.unsafelyUnwrapped) }
        }
    }
}
