// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import LinuxLibC
public import RunLoops

extension RunLoop {
    /// The address of a stream socket: a path of the file system, or a host and a port.
    ///
    /// A host is a number. Host names are not looked up, because a look-up would take time and a thread.
    ///
    /// Corresponds to the address data of `CFSocket`. Thread safety: a value; any thread.
    public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
        /// The bytes that the kernel receives.
        let bytes: [UInt8]

        /// The address of a Unix socket at `path`; a path that begins with a zero is a name outside the file system.
        ///
        /// - Throws: `ENAMETOOLONG` for an empty path and for one of more than 107 bytes.
        public static func unix(_ path: String) throws(RunLoop.SystemCallError) -> RunLoop.SocketAddress {
            var path = path
            return try RunLoop.SocketAddress("sockaddr_un") { storage in
                path.withUTF8 { rl_address_unix(storage, $0.baseAddress, $0.count) }
            }
        }

        /// The address of a TCP socket: a number of Internet Protocol 4 or 6, such as `127.0.0.1` or `::1`, and a port.
        ///
        /// Port 0 lets the kernel choose a port for a listening socket.
        ///
        /// - Throws: `EINVAL` if `host` is not such a number.
        public static func internet(_ host: String, port: UInt16) throws(RunLoop.SystemCallError)
            -> RunLoop.SocketAddress
        {
            try RunLoop.SocketAddress("inet_pton") { rl_address_internet($0, host, port) }
        }

        /// This machine, reachable from this machine alone (`127.0.0.1`).
        public static func loopback(port: UInt16 = 0) -> RunLoop.SocketAddress {
            guard let address = try? internet("127.0.0.1", port: port) else { fatalError("127.0.0.1 is an address") }
            return address
        }

        /// The socket's own address, or its peer's.
        init(of descriptor: CInt, peer: Bool) throws(RunLoop.SystemCallError) {
            try self.init(peer ? "getpeername" : "getsockname") { rl_socket_address(descriptor, peer, $0) }
        }

        private init(_ call: String, _ write: (UnsafeMutableRawPointer) -> CInt) throws(RunLoop.SystemCallError) {
            var storage = [UInt8](repeating: 0, count: Int(RL_ADDRESS_ROOM))
            let length = storage.withUnsafeMutableBytes { write($0.baseAddress.unsafelyUnwrapped) }
            bytes = Array(storage.prefix(Int(try check(call, length))))
        }

        /// The port; `nil` for a Unix socket.
        public var port: UInt16? { isInternet ? UInt16(clamping: withPadding { rl_address_port($0) }) : nil }

        /// The path of a Unix socket that has one in the file system.
        public var path: String? {
            let text = self.text
            return isInternet || text.isEmpty || text.hasPrefix("@") ? nil : text
        }

        /// `127.0.0.1:80`, `[::1]:80`, or the path.
        public var description: String {
            guard let port else { return text.isEmpty ? "(unnamed)" : text }
            return text.contains(":") ? "[\(text)]:\(port)" : "\(text):\(port)"
        }

        var family: CInt { withPadding { rl_address_family($0) } }

        private var isInternet: Bool { family == AF_INET || family == AF_INET6 }

        private var text: String {
            let capacity = 256
            let characters = [CChar](unsafeUninitializedCapacity: capacity) { buffer, count in
                let text = buffer.baseAddress.unsafelyUnwrapped
                _ = withPadding { rl_address_text($0, UInt32(bytes.count), text, capacity) }
                count = strlen(text)
            }
            return String(decoding: characters.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        /// The bytes with zeroes up to the length of the longest address: an unnamed address consists of its family
        /// alone.
        private func withPadding<Result>(_ body: (UnsafeRawPointer) -> Result) -> Result {
            let padded = bytes + [UInt8](repeating: 0, count: Int(RL_ADDRESS_ROOM) - bytes.count)
            return padded.withUnsafeBytes { body($0.baseAddress.unsafelyUnwrapped) }
        }
    }
}
