// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import Foundation

/// The kind and address of a port's socket, by which programs refer to the port.
struct SocketSignature: Hashable {
    let family: Int32
    let type: Int32
    let `protocol`: Int32
    /// The address, as a `sockaddr` of this system.
    var address: Data

    // MARK: On the wire

    // As Foundation's own SocketPort sends it: addresses of the Internet in the layout of Apple's systems, other
    // addresses as they are.

    private static let inetOnWire: (family: UInt8, size: Int) = (2, 16)
    private static let inet6OnWire: (family: UInt8, size: Int) = (30, 28)

    /// The signature as bytes for another program; `nil` if a part is too large.
    var wire: Data? {
        let address = wireAddress
        guard let family = UInt8(exactly: family), let type = UInt8(exactly: type),
            let `protocol` = UInt8(exactly: `protocol`), let count = UInt8(exactly: address.count)
        else { return nil }
        return Data([family, type, `protocol`, count]) + address
    }

    private var wireAddress: Data {
        switch SocketAddressKind(address) {
        case .inet: Data([UInt8(Self.inetOnWire.size), Self.inetOnWire.family]) + address.dropFirst(2)
        case .inet6: Data([UInt8(Self.inet6OnWire.size), Self.inet6OnWire.family]) + address.dropFirst(2)
        case .other: address
        }
    }

    init(family: Int32, type: Int32, protocol: Int32, address: Data) {
        (self.family, self.type, self.protocol, self.address) = (family, type, `protocol`, address)
    }

    /// Parses the bytes of another program; `nil` if they are not a signature.
    init?(wire: Data) {
        let bytes = [UInt8](wire)
        guard bytes.count >= 6, bytes.count == 4 + Int(bytes[3]) else { return nil }
        (family, type, `protocol`) = (Int32(bytes[0]), Int32(bytes[1]), Int32(bytes[2]))
        let rest = Data(bytes[6...])
        switch (bytes[5], Int(bytes[3])) {
        case (Self.inetOnWire.family, Self.inetOnWire.size): address = Self.address(of: AF_INET, rest)
        case (Self.inet6OnWire.family, Self.inet6OnWire.size): address = Self.address(of: AF_INET6, rest)
        default: address = Data(bytes[4...])
        }
    }

    private static func address(of family: Int32, _ rest: Data) -> Data {
        withUnsafeBytes(of: sa_family_t(family)) { Data($0) } + rest
    }

    // MARK: Addresses of the Internet

    /// Returns the address of a TCP port on all networks of this machine, or on a host's address.
    static func inet(port: UInt16, host: in_addr = in_addr(s_addr: INADDR_ANY)) -> Data {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = host
        return withUnsafeBytes(of: address) { Data($0) }
    }

    /// The TCP or UDP port number of the address; `nil` if the address has none.
    var port: UInt16? {
        guard SocketAddressKind(address) != .other else { return nil }
        let bytes = [UInt8](address)
        return UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    }

    /// Returns the signature of the same port on the machine with the address `peer`: a port on all networks of its
    /// machine does not know the address that other machines use.
    func onMachine(of peer: Data) -> SocketSignature {
        var moved = self
        switch (SocketAddressKind(address), SocketAddressKind(peer)) {
        case (.inet, .inet): moved.address = address.prefix(4) + peer.dropFirst(4).prefix(4) + address.dropFirst(8)
        // The flow, the address and the scope follow the port.
        case (.inet6, .inet6): moved.address = address.prefix(4) + peer.dropFirst(4)
        default: break
        }
        return moved
    }
}

/// The kind of a `sockaddr`.
enum SocketAddressKind {
    case inet
    case inet6
    case other

    init(_ address: Data) {
        let family = address.count < 2 ? 0 : address.withUnsafeBytes { $0.loadUnaligned(as: sa_family_t.self) }
        switch (Int32(family), address.count) {
        case (AF_INET, MemoryLayout<sockaddr_in>.size): self = .inet
        case (AF_INET6, MemoryLayout<sockaddr_in6>.size): self = .inet6
        default: self = .other
        }
    }
}
#endif
