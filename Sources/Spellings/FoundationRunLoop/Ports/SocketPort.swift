// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CLinuxKernel
public import Foundation
internal import RunLoops

/// A port that is a socket: a way for messages between programs, on one machine or several.
///
/// A port that is made with a TCP port or an address of its own is local: it receives. A port that is made with
/// `remote…` stands for another program's port, and sends. Two remote ports of the same address are equal. Messages are
/// understood by Foundation's own `SocketPort`, and its messages are understood here, with one difference: a message
/// names the port that answers go to, where Foundation on Linux names the port that the message was sent to.
///
/// Whoever can connect to the socket can send. A message has 64 MiB at most.
///
/// Thread safety: any thread may send. As in Foundation, the class is not `Sendable`.
open class SocketPort: Port {
    private let signature: SocketSignature
    /// `nil` for a remote port.
    private let receiver: SocketReceiver?
    private let connection: SocketConnection
    private let core: Core

    /// What the socket knows of the port; it does not keep it.
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

    /// A port with a TCP port that the system chooses, on all networks of this machine.
    ///
    /// - Precondition: the system has a socket left: as in Foundation, this initialiser cannot fail. Where it may, use
    ///   ``init(tcpPort:)``.
    public convenience override init() {
        self.init(tcpPort: 0)!
    }

    /// A port with a TCP port, 0 for one that the system chooses; `nil` if the system refuses.
    public convenience init?(tcpPort port: UInt16) {
        self.init(
            protocolFamily: PF_INET, socketType: SocketCalls.stream, protocol: SocketCalls.tcp,
            address: SocketSignature.inet(port: port))
    }

    /// A port with an address; `nil` if the system refuses.
    ///
    /// - Parameters:
    ///   - family: Such as `PF_INET`.
    ///   - type: `SOCK_STREAM`, or `SOCK_DGRAM`, whose messages have some 65,000 bytes at most.
    ///   - protocol: Such as `IPPROTO_TCP`.
    ///   - address: A `sockaddr`.
    public convenience init?(protocolFamily family: Int32, socketType type: Int32, protocol: Int32, address: Data) {
        let signature = SocketSignature(family: family, type: type, protocol: `protocol`, address: address)
        guard let descriptor = SocketCalls.make(signature) else { return nil }
        guard SocketCalls.bind(descriptor, to: address) else {
            SocketCalls.close(descriptor)
            return nil
        }
        self.init(protocolFamily: family, socketType: type, protocol: `protocol`, socket: descriptor)
    }

    /// A port with a socket that has its address already, and that now belongs to the port; `nil` if it is none.
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

    /// The port of another program, at a TCP port of a host; `nil` if the host has no address.
    ///
    /// The name is looked up before the call returns, which may take long. An address of version 4 is preferred, as on
    /// Apple's systems.
    ///
    /// - Parameters:
    ///   - port: The TCP port.
    ///   - hostName: The host; this machine if `nil` or empty.
    public convenience init?(remoteWithTCPPort port: UInt16, host hostName: String?) {
        let host = hostName.flatMap { $0.isEmpty ? nil : $0 } ?? "127.0.0.1"
        guard let (family, address) = SocketCalls.lookUp(host, port).first else { return nil }
        self.init(
            remoteWithProtocolFamily: family, socketType: SocketCalls.stream, protocol: SocketCalls.tcp,
            address: address)
    }

    /// The port of another program at an address.
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

    /// The descriptor of the socket of a valid local port; -1 for any other.
    open var socket: SocketNativeHandle { isValid ? receiver?.descriptor ?? -1 : -1 }

    /// Whether both are the same port, or both stand for the same remote port.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SocketPort else { return false }
        return self === other || receiver == nil && other.receiver == nil && signature == other.signature
    }

    /// A number that equal ports have in common.
    open override var hash: Int {
        receiver == nil ? signature.hashValue : ObjectIdentifier(self).hashValue
    }

    // MARK: The end

    deinit { receiver?.close() }

    /// Ends the port for good, with the connections that others have made to it; a second call does nothing.
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

    /// Sets the object that receives messages; the port does not keep it.
    open override func setDelegate(_ anObject: (any PortDelegate)?) {
        core.lock.withLock { core.delegate = anObject }
    }

    /// The object that receives messages; without it they are dropped.
    open override func delegate() -> (any PortDelegate)? { core.lock.withLock { core.delegate } }

    /// Called by `RunLoop.add(_:forMode:)`; a remote port has nothing to wait for.
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

    /// Sends a message without a number to this port.
    ///
    /// The parameters and the result are those of ``send(before:msgid:components:from:reserved:)``.
    @discardableResult
    open override func send(
        before limitDate: Date, components: NSMutableArray?, from receivePort: Port?,
        reserved headerSpaceReserved: Int
    ) -> Bool {
        send(before: limitDate, msgid: 0, components: components, from: receivePort, reserved: headerSpaceReserved)
    }

    /// Sends a message to this port, connecting first where necessary.
    ///
    /// - Parameters:
    ///   - limitDate: Until when to wait.
    ///   - msgID: The number of the message, of which 32 bits arrive.
    ///   - components: What to send: `Data`, `NSData` and socket ports.
    ///   - receivePort: The port that answers go to: a local `SocketPort`.
    ///   - headerSpaceReserved: Has no meaning here.
    /// - Returns: Whether the system has all of the message; `false` if the port is invalid, nobody listens there, the
    ///   time was over, the message is too long, or one of the components is neither data nor a socket port.
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
