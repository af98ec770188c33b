// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import RunLoops

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A sequenced-packet socket, closed with its last reference: code that uses the number holds the object.
///
/// Thread safety: all members may be used by any thread; a packet is sent and received whole.
final class PortSocket: Sendable {
    private let holder: RunLoop.MessagePort.Descriptor
    let number: CInt

    init(adopting descriptor: CInt) {
        holder = RunLoop.MessagePort.Descriptor(adopting: descriptor)
        number = descriptor
    }

    /// A socket that came as a descriptor; nil for any other kind of file.
    init?(_ descriptor: RunLoop.MessagePort.Descriptor) {
        holder = descriptor
        number = descriptor.number
        if rl_port_is_socket(number) != 1 { return nil }
    }

    static func make() throws(RunLoop.PortError) -> PortSocket {
        PortSocket(adopting: try Errors.check("socket", rl_port_socket()))
    }

    static func pair() throws(RunLoop.PortError) -> (PortSocket, PortSocket) {
        var ends: [CInt] = [-1, -1]
        try Errors.check("socketpair", rl_port_pair(&ends))
        return (PortSocket(adopting: ends[0]), PortSocket(adopting: ends[1]))
    }

    /// The process at the other end: of an accepted connection, the connecting process; of a connected one, the
    /// listening process.
    func credentials() throws(RunLoop.PortError) -> RunLoop.MessagePort.Credentials {
        var peer = rl_peer()
        try Errors.check("getsockopt", rl_port_peer(number, &peer))
        return RunLoop.MessagePort.Credentials(process: peer.process, user: peer.user, group: peer.group)
    }

    /// Whether the socket is ready for what the bits of poll(2) in `events` say, at the latest at `deadline`.
    func wait(_ events: CInt, until deadline: Int64) -> Bool {
        // An error wakes, too: the next call will say which error.
        rl_port_wait(number, Int16(events), deadline == Deadline.none ? 0 : deadline) != 0
    }

    /// Whether the other end is closed.
    var hasHungUp: Bool { rl_port_wait(number, 0, 0) != 0 }

    // MARK: Packets

    /// The result of an attempt to send.
    enum Sent {
        case done
        case noRoom
    }

    func send(_ frame: Frame, _ message: RunLoop.MessagePort.Message? = nil) throws(RunLoop.PortError) -> Sent {
        if let message, !message.descriptors.isEmpty {
            return try send(frame, message.bytes, passing: message.descriptors)
        }
        return try send(frame, message?.bytes ?? [], numbers: [])
    }

    func send(
        _ frame: Frame, _ bytes: [UInt8], passing descriptors: [RunLoop.MessagePort.Descriptor]
    ) throws(RunLoop.PortError) -> Sent {
        let numbers = descriptors.map(\.number)
        if numbers.contains(-1) { throw .invalidDescriptor }
        defer { withExtendedLifetime(descriptors) {} }
        return try send(frame, bytes, numbers: numbers)
    }

    private func send(_ frame: Frame, _ bytes: [UInt8], numbers: [CInt]) throws(RunLoop.PortError) -> Sent {
        let result = withUnsafeTemporaryAllocation(byteCount: Frame.headerSize, alignment: 8) { header -> CInt in
            frame.write(to: header)
            return bytes.withUnsafeBytes { body in
                numbers.withUnsafeBufferPointer { passed in
                    rl_port_send(
                        number, header.baseAddress, header.count, body.baseAddress, body.count, passed.baseAddress,
                        CInt(passed.count))
                }
            }
        }
        if result == 0 { return .done }
        if result == -Errors.again { return .noRoom }
        throw Errors.sending(-result)
    }

    /// The result of an attempt to receive.
    enum Received {
        case packet(Frame, bytes: [UInt8], descriptors: [RunLoop.MessagePort.Descriptor])
        case nothing
        case end
        case malformed
    }

    /// Receives a packet into `space`.
    ///
    /// Descriptors that come with a malformed packet are closed.
    func receive(_ space: UnsafeMutableRawBufferPointer, _ limits: RunLoop.MessagePort.Limits) -> Received {
        withUnsafeTemporaryAllocation(of: CInt.self, capacity: Int(RL_MAX_PASSED)) { passed in
            var packet = rl_packet()
            let result = rl_port_receive(number, space.baseAddress, space.count, passed.baseAddress, &packet)
            if result == -Errors.again { return .nothing }
            if result < 0 { return .end }
            // In objects at once: every way out of here closes the descriptors that nobody has taken.
            let descriptors = (0..<Int(packet.passed_count)).map {
                RunLoop.MessagePort.Descriptor(adopting: passed[$0])
            }
            if result == 0 { return .end }
            // Descriptors that were lost (this process has no numbers left) are missing from a message that needs them.
            if packet.is_cut || packet.lost_descriptors { return .malformed }
            let bytes = UnsafeRawBufferPointer(rebasing: space[..<packet.length])
            guard
                let frame = try? Frame(
                    reading: bytes, received: descriptors.count, longest: limits.messageSize, most: limits.descriptors)
            else { return .malformed }
            return .packet(frame, bytes: Array(bytes.dropFirst(Frame.headerSize)), descriptors: descriptors)
        }
    }
}
