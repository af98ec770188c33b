// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CRunLoopsKernel
public import Foundation
internal import RunLoops

/// A port with a socket, for messages between programs on one or several machines.
///
/// A port that is made with a TCP port or an address of its own is local: it receives messages. A port that is made
/// with `remote…` represents another program's port: it sends messages. Two remote ports with the same address are
/// equal. This class and Foundation's own `SocketPort` understand each other's messages, with one difference: a message
/// of this class names the port for answers, while a message of Foundation on Linux names the port that the message was
/// sent to.
///
/// Every program that can connect to the socket can send messages. A message has 64 MiB at most.
///
/// Thread safety: any thread may send. As in Foundation, the class is not `Sendable`.
open class SocketPort: Port {
    private let signature: SocketSignature
    /// The receiver of a local port; `nil` for a remote port.
    private let receiver: SocketReceiver?
    private let connection: SocketConnection
    private let core: Core

    /// The state of the port that its socket uses; does not retain the port.
    private final class Core: @unchecked Sendable {
        let lock = NSLock()
        // Guarded by the lock.
        weak var port: SocketPort?
        weak var delegate: (any PortDelegate)?
        var isValid = true

        func handle(_ frame: SocketFrame, from peer: Data) {
            let (receiver, handler) = lock.withLock { (port, delegate) }
            if let receiver { handler?.handle(receiver.message(frame, from: peer)) }
        }
    }

    // MARK: Local ports

    /// Makes a port on all networks of this machine, with a TCP port that the system chooses.
    ///
    /// - Precondition: The system can make a socket: as in Foundation, this initialiser cannot fail. Use
    ///   ``init(tcpPort:)`` to handle the failure.
    public convenience override init() {
        self.init(tcpPort: 0)!
    }

    /// Makes a port with a TCP port, or with one that the system chooses if `port` is 0; `nil` if the system refuses.
    public convenience init?(tcpPort port: UInt16) {
        self.init(
            protocolFamily: PF_INET, socketType: SocketCalls.stream, protocol: SocketCalls.tcp,
            address: SocketSignature.inet(port: port))
    }

    /// Makes a port with an address; `nil` if the system refuses.
    ///
    /// - Parameters:
    ///   - family: The protocol family, such as `PF_INET`.
    ///   - type: `SOCK_STREAM`, or `SOCK_DGRAM` for messages of at most about 65,000 bytes.
    ///   - protocol: The protocol, such as `IPPROTO_TCP`.
    ///   - address: The address, as a `sockaddr`.
    public convenience init?(protocolFamily family: Int32, socketType type: Int32, protocol: Int32, address: Data) {
        let signature = SocketSignature(family: family, type: type, protocol: `protocol`, address: address)
        guard let descriptor = SocketCalls.make(signature) else { return nil }
        guard SocketCalls.bind(descriptor, to: address) else {
            SocketCalls.close(descriptor)
            return nil
        }
        self.init(protocolFamily: family, socketType: type, protocol: `protocol`, socket: descriptor)
    }

    /// Makes a port from a socket with an address, and takes over the socket; `nil` if the descriptor is not such a
    /// socket.
    ///
    /// If this fails, the descriptor is closed.
    public init?(
        protocolFamily family: Int32, socketType type: Int32, protocol: Int32, socket sock: SocketNativeHandle
    ) {
        let isStream = type == SocketCalls.stream
        guard let address = SocketCalls.address(of: sock, isPeer: false), rl_make_nonblocking(sock) >= 0,
            !isStream || listen(sock, SOMAXCONN) == 0
        else {
            SocketCalls.close(sock)
            return nil
        }
        signature = SocketSignature(family: family, type: type, protocol: `protocol`, address: address)
        connection = .to(signature)
        let core = Core()
        self.core = core
        receiver = SocketReceiver(sock, isStream: isStream) { core.handle($0, from: $1) }
        super.init()
        core.port = self
    }

    // MARK: Remote ports

    /// Makes a remote port for another program's port, from a TCP port of a host; `nil` if the host has no address.
    ///
    /// The host's name is looked up before the call returns, which may take long. An IPv4 address is preferred, as on
    /// Apple's systems.
    ///
    /// - Parameters:
    ///   - port: The TCP port.
    ///   - hostName: The host's name; this machine if `nil` or empty.
    public convenience init?(remoteWithTCPPort port: UInt16, host hostName: String?) {
        let host = hostName.flatMap { $0.isEmpty ? nil : $0 } ?? "127.0.0.1"
        guard let (family, address) = SocketCalls.lookUp(host, port).first else { return nil }
        self.init(
            remoteWithProtocolFamily: family, socketType: SocketCalls.stream, protocol: SocketCalls.tcp,
            address: address)
    }

    /// Makes a remote port for another program's port, from the port's address.
    public convenience init(
        remoteWithProtocolFamily family: Int32, socketType type: Int32, protocol: Int32, address: Data
    ) {
        self.init(SocketSignature(family: family, type: type, protocol: `protocol`, address: address))
    }

    private init(_ signature: SocketSignature) {
        self.signature = signature
        (receiver, connection, core) = (nil, .to(signature), Core())
        super.init()
    }

    // MARK: Asking

    /// Whether the port can still be used.
    open override var isValid: Bool { core.lock.withLock { core.isValid } }

    /// The family of the socket's protocol.
    open var protocolFamily: Int32 { signature.family }
    /// The type of the socket.
    open var socketType: Int32 { signature.type }
    /// The socket's protocol.
    open var `protocol`: Int32 { signature.protocol }
    /// The socket's address, as a `sockaddr`.
    open var address: Data { signature.address }

    /// The descriptor of the socket of a valid local port; -1 for any other port.
    open var socket: SocketNativeHandle { isValid ? receiver?.descriptor ?? -1 : -1 }

    /// Whether both are the same port, or remote ports with the same address.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SocketPort else { return false }
        return self === other || receiver == nil && other.receiver == nil && signature == other.signature
    }

    /// The hash of the port; equal ports have equal hashes.
    open override var hash: Int {
        receiver == nil ? signature.hashValue : ObjectIdentifier(self).hashValue
    }

    // MARK: The end

    deinit { receiver?.close() }

    /// Ends the port for good, and closes the connections that others have made to it; a second call does nothing.
    open override func invalidate() {
        let wasValid = core.lock.withLock { [wasValid = core.isValid] in
            core.isValid = false
            return wasValid
        }
        guard wasValid else { return }
        receiver?.close()
        NotificationCenter.default.post(name: Port.didBecomeInvalidNotification, object: self)
    }

    // MARK: Receiving

    /// Sets the object that receives messages; the port does not retain the object.
    open override func setDelegate(_ anObject: (any PortDelegate)?) {
        core.lock.withLock { core.delegate = anObject }
    }

    /// Returns the object that receives messages; without an object, messages are dropped.
    open override func delegate() -> (any PortDelegate)? { core.lock.withLock { core.delegate } }

    /// Called by `RunLoop.add(_:forMode:)`; does nothing for a remote port.
    open override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        receiver?.enter(runLoop.native, mode.native)
    }

    /// Called by `RunLoop.remove(_:forMode:)`.
    open override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        receiver?.leave(runLoop.native, mode.native)
    }

    private func message(_ frame: SocketFrame, from peer: Data) -> PortMessage {
        let components = frame.parts.map { part -> AnyObject in
            switch part {
            case .data(let data): NSData(data: data)
            case .port(let signature): SocketPort(signature)
            }
        }
        // A message without a port for answers has the TCP port 0.
        let sender = frame.sender.port == 0 ? nil : SocketPort(frame.sender.onMachine(of: peer))
        let message = PortMessage(sendPort: sender, receivePort: self, components: components)
        message.msgid = frame.number
        return message
    }

    // MARK: Sending

    /// Sends a message with the number 0 to this port.
    ///
    /// The parameters and the result are the same as in ``send(before:msgid:components:from:reserved:)``.
    @discardableResult
    open override func send(
        before limitDate: Date, components: NSMutableArray?, from receivePort: Port?,
        reserved headerSpaceReserved: Int
    ) -> Bool {
        send(before: limitDate, msgid: 0, components: components, from: receivePort, reserved: headerSpaceReserved)
    }

    /// Sends a message to this port; connects first if there is no connection.
    ///
    /// - Parameters:
    ///   - limitDate: The date until which to wait.
    ///   - msgID: The number of the message, of which 32 bits are sent.
    ///   - components: The parts of the message: `Data`, `NSData` and socket ports.
    ///   - receivePort: The port for answers, which is a local `SocketPort`.
    ///   - headerSpaceReserved: Has no effect.
    /// - Returns: Whether the system has accepted the whole message; `false` if the port is invalid, if no program
    ///   listens at its address, if the time ran out, if the message is too long, or if one of the components is
    ///   neither data nor a socket port.
    @discardableResult
    open override func send(
        before limitDate: Date, msgid msgID: Int, components: NSMutableArray?, from receivePort: Port?,
        reserved headerSpaceReserved: Int
    ) -> Bool {
        guard isValid, let parts = PortComponents.taken(from: components) else { return false }
        let frameParts = parts.compactMap { part -> SocketFrame.Part? in
            if let port = part as? SocketPort { return .port(port.signature) }
            return (part as? NSData).map { .data(PortComponents.copy(of: $0)) }
        }
        let nobody = SocketSignature(
            family: PF_INET, type: signature.type, protocol: signature.protocol,
            address: SocketSignature.inet(port: 0))
        let frame = SocketFrame(
            number: UInt32(truncatingIfNeeded: msgID), sender: (receivePort as? SocketPort)?.signature ?? nobody,
            parts: frameParts)
        guard frameParts.count == parts.count, let bytes = frame.bytes else { return false }
        return connection.send(bytes, before: limitDate)
    }
}
#endif
