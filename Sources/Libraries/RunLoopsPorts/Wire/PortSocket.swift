// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsConcurrency
internal import RunLoopsLibC
internal import RunLoopsSystem
internal import Synchronization

/// A sequenced-packet socket, closed with its last reference: code that uses the number holds the object.
///
/// A forked child does not have it: the other side has to notice the end of the process that it talks to. The last
/// reference of a socket that nobody else has ends the connection, too: a child between fork and exec has a copy.
///
/// Thread safety: all members may be used by any thread; a packet is sent and received whole.
final class PortSocket: Sendable {
    private let holder: PrivateDescriptor
    /// Whether another process may use the same connection.
    ///
    /// Relaxed: whoever makes a copy holds a reference meanwhile.
    private let isShared: Atomic<Bool>

    init(adopting descriptor: CInt) {
        holder = PrivateDescriptor(adopting: descriptor)
        isShared = Atomic(false)
    }

    /// A socket that came as a descriptor; nil for any other kind of file.
    ///
    /// The process that has sent it may use the connection as well.
    init?(_ descriptor: RunLoop.MessagePort.Descriptor) {
        guard let number = descriptor.take() else { return nil }
        holder = PrivateDescriptor(adopting: number)
        isShared = Atomic(true)
        if rl_port_is_socket(number) != 1 { return nil }
    }

    deinit {
        if !isShared.load(ordering: .relaxed) { shut() }
    }

    var number: CInt { holder.number }
    /// Whether this process is a forked child, and its parent has the socket.
    var isInherited: Bool { holder.isInherited }

    static func make() throws(RunLoop.PortError) -> PortSocket {
        PortSocket(adopting: try Errors.check("socket", rl_port_socket()))
    }

    /// Two sockets that are connected.
    static func pair() throws(RunLoop.PortError) -> (PortSocket, PortSocket) {
        let (here, there) = try ends()
        return (PortSocket(adopting: here), PortSocket(adopting: there))
    }

    /// A socket, and one that is connected to it and will be sent away with a message.
    static func channel() throws(RunLoop.PortError) -> (PortSocket, RunLoop.MessagePort.Descriptor) {
        let (here, there) = try ends()
        return (PortSocket(adopting: here), RunLoop.MessagePort.Descriptor(adopting: there))
    }

    private static func ends() throws(RunLoop.PortError) -> (CInt, CInt) {
        var ends: [CInt] = [-1, -1]
        try Errors.check("socketpair", rl_port_pair(&ends))
        return (ends[0], ends[1])
    }

    /// A copy for another process; ``markShared()`` follows when the copy was sent.
    func copy() throws(RunLoop.PortError) -> RunLoop.MessagePort.Descriptor {
        do { return try RunLoop.MessagePort.Descriptor(duplicating: number) } catch { throw .system(error) }
    }

    /// Notes that another process can use the connection from now on as long as it likes.
    func markShared() { isShared.store(true, ordering: .relaxed) }

    /// The process at the other end: of an accepted connection, the connecting process; of a connected one, the
    /// listening process.
    func credentials() throws(RunLoop.PortError) -> RunLoop.MessagePort.Credentials {
        var peer = rl_peer()
        try Errors.check("getsockopt", rl_port_peer(number, &peer))
        return RunLoop.MessagePort.Credentials(process: peer.process, user: peer.user, group: peer.group)
    }

    /// Whether the port that this socket is connected to reads the numbers of sending threads.
    var readsThreads: Bool { rl_port_peer_is_bound_to(number, PortName.newSuffix) }

    /// Has the kernel say of each packet which process has sent it, so that the scheduling of its thread can be looked
    /// up; before Linux 6.5 without an effect.
    func identifySenders(_ identifies: Bool) { _ = rl_port_identify_senders(number, identifies) }

    /// Whether the socket is ready for what the bits of poll(2) in `events` say, at the latest at `deadline`.
    func wait(_ events: CInt, until deadline: Int64) -> Bool {
        // An error wakes, too: the next call will say which error.
        rl_port_wait(number, Int16(events), deadline == Deadline.none ? 0 : deadline) != 0
    }

    /// Ends the connection for all who hold the socket, also for children between fork and exec; in a forked child, leaves it to
    /// the parent.
    func shut() {
        // The number of an inherited socket is -1, which no system call takes for a descriptor.
        _ = rl_end_connection(number)
    }

    /// Ends a listening socket for all who hold it, and the connections that were not accepted; in a forked child, leaves the
    /// socket to the parent.
    func shutListener() { _ = rl_end_listener(number) }

    /// Whether the other end is closed, or this end is a parent's.
    var hasHungUp: Bool { isInherited || rl_port_wait(number, 0, 0) != 0 }

    /// Tells the other side that there is no room for the connection, and ends it; what the other side has sent before
    /// can still be received.
    func turnAway() {
        // No room in the socket, or nobody at the other end: then the end alone is the message.
        _ = try? send(Frame(.crowded))
        shut()
    }

    // MARK: Packets

    /// The result of an attempt to send.
    enum Sent {
        case done
        case noRoom
    }

    func send(_ frame: Frame, _ message: RunLoop.MessagePort.Message? = nil) throws(RunLoop.PortError) -> Sent {
        if isInherited { throw .dead }
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
        let result = withUnsafeTemporaryAllocation(byteCount: Frame.maxHeaderSize, alignment: 8) { header -> CInt in
            frame.write(to: header)
            return bytes.withUnsafeBytes { body in
                numbers.withUnsafeBufferPointer { passed in
                    rl_port_send(
                        number, header.baseAddress, frame.headerSize, body.baseAddress, body.count, passed.baseAddress,
                        CInt(passed.count))
                }
            }
        }
        if result == 0 { return .done }
        if result == -Errors.again { return .noRoom }
        throw Errors.sending(-result)
    }

    /// Receives a packet without contents; whether it says that there was no room for the connection.
    func receivesCrowded() -> Bool {
        withUnsafeTemporaryAllocation(byteCount: Frame.headerSize, alignment: 8) { space in
            guard case .packet(let frame, _, _, _) = receive(space, .init(messageSize: 1, descriptors: 0)) else {
                return false
            }
            return frame.kind == .crowded
        }
    }

    /// The result of an attempt to receive.
    enum Received {
        case packet(
            Frame, bytes: [UInt8], descriptors: [RunLoop.MessagePort.Descriptor], scheduling: Scheduling?)
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
            defer { if packet.process_descriptor >= 0 { close(packet.process_descriptor) } }
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
            return .packet(
                frame, bytes: Array(bytes.dropFirst(frame.headerSize)), descriptors: descriptors,
                scheduling: frame.thread.flatMap { Self.scheduling(of: $0, packet) })
        }
    }

    /// The present scheduling of the thread that the sender of a packet names as its own.
    ///
    /// Nothing of it is the sender's word: the kernel names the process, and the thread has to be one of its threads. So
    /// a sender can at most name another of its own threads. `nil` for a process of another user, a thread or process
    /// that has ended, and where the socket does not identify senders.
    private static func scheduling(of thread: Int32, _ packet: rl_packet) -> Scheduling? {
        guard packet.process_descriptor >= 0, packet.user == rl_port_user(),
            let scheduling = Scheduling(of: thread, in: packet.process),
            // After the look: a process that has not ended is the one that had the number all the time. Its descriptor
            // becomes readable when it ends.
            rl_port_wait(packet.process_descriptor, Int16(POLLIN), 0) == 0
        else { return nil }
        return scheduling
    }
}
