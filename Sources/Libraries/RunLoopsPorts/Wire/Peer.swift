// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsConcurrency
internal import RunLoopsLibC
internal import Synchronization

/// The owner of a connection, as far as the connection has to know it.
protocol PeerOwner: AnyObject, Sendable {
    var limits: RunLoop.MessagePort.Limits { get }
    var label: ItemLabel { get }
    /// Calls the port's closure; returns false if the port wants no more in this turn.
    func deliver(_ delivery: Delivery) -> Bool
    /// Adds a socket's source to the modes that the port is in; throws what the system refused.
    func watch(_ source: RunLoop.DescriptorSource) throws(RunLoop.SystemCallError)
    /// Takes a socket's source out of the modes that the port is in.
    func unwatch(_ source: RunLoop.DescriptorSource)
    /// The connection has ended.
    func forget(_ peer: Peer)
}

/// The reading side of a socket that leads to a port: a connection that was accepted, or the end of a channel that was
/// sent to another process for its replies.
///
/// Received on the loop's thread; closed by any thread. A peer that sends malformed packets is dropped, and no other
/// peer is.
final class Peer: @unchecked Sendable {
    /// What the other side may send.
    enum Role {
        case sender
        case answerer
    }

    /// The most reply ports that one peer may have introduced at a time; each port is an open descriptor.
    static let maxHandles = 256
    /// Packets that are taken in one turn of the loop: each packet is a system call already, so few make the turn's own
    /// cost small.
    static let batch = 16

    private let socket: PortSocket
    private let role: Role
    /// The handle with which the other side names this end of a channel; 0 for a connection.
    let handle: UInt64
    /// The process that has connected; 0 for the end of a channel.
    let process: Int32
    /// When the peer has last sent something, or was taken in, on the monotonic clock.
    ///
    /// Relaxed: it decides which of several connections is closed, and any of them may be.
    private let lastHeard: Atomic<Int64>
    private weak var port: (any PeerOwner)?
    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private(set) var source: RunLoop.DescriptorSource?
    /// Waits for room in the channels that have replies left to send.
    @exclusivity(unchecked) private var flushers: [ObjectIdentifier: RunLoop.DescriptorSource] = [:]
    @exclusivity(unchecked) private var isClosed = false
    @exclusivity(unchecked) private var isRetired = false
    /// On the loop's thread alone.
    @exclusivity(unchecked) private var handles: [UInt64: Channel] = [:]

    init(_ socket: PortSocket, _ role: Role, _ port: any PeerOwner, handle: UInt64 = 0, process: Int32 = 0) {
        self.handle = handle
        self.process = process
        lastHeard = Atomic(SystemCalls.now(.monotonic))
        self.socket = socket
        self.role = role
        self.port = port
        source = .sendable(socket.number, label: "peer of \(port.label.text)") { [weak self] _, events in
            self?.ready(events)
        }
    }

    /// What the loop has to watch for the peer.
    ///
    /// Either the socket itself, or, while replies are left to send, room for these replies.
    var sources: [RunLoop.DescriptorSource] {
        lock.withLock { flushers.isEmpty ? source.map { [$0] } ?? [] : Array(flushers.values) }
    }

    /// When the peer has last sent something, or was taken in.
    var idleSince: Int64 { lastHeard.load(ordering: .relaxed) }

    /// Has each packet say who has sent it, for the priority of its sender.
    func identifySenders(_ identifies: Bool) { socket.identifySenders(identifies) }

    /// Lets the process that has connected send.
    func welcome() {
        guard let limits = port?.limits else { return }
        // A new socket has room, and a peer that has gone already is found by the loop.
        _ = try? socket.send(Frame(.welcome, serial: UInt64(limits.descriptors), handle: UInt64(limits.messageSize)))
    }

    /// Ends a connection so that nothing is lost: what the other side has sent before is still delivered, and the other
    /// side connects again for its next message.
    ///
    /// Any thread.
    func retire() {
        let isPaused = lock.withLock {
            isRetired = true
            return !flushers.isEmpty
        }
        socket.turnAway()
        // A peer that does not read its replies would keep the connection for as long as it likes.
        if isPaused { leave() }
    }

    /// The descriptor is closed with the last reference: the loop's thread may be using the descriptor.
    func close() {
        let released = lock.withLock { () -> [RunLoop.DescriptorSource] in
            isClosed = true
            let released = (source.map { [$0] } ?? []) + flushers.values
            source = nil
            flushers = [:]
            return released
        }
        for source in released { source.invalidate() }
        socket.shut()
    }

    private func drop() {
        handles = [:]
        leave()
    }

    /// Closes the connection, and has the port forget it.
    ///
    /// Any thread.
    func leave() {
        close()
        port?.forget(self)
    }

    // MARK: The loop's thread

    private func ready(_ events: RunLoop.DescriptorEvents) {
        guard let port else { return close() }
        // Bytes that were sent before the end are readable; the end alone is not.
        if !events.contains(.readable) { return drop() }
        lastHeard.store(SystemCalls.now(.monotonic), ordering: .relaxed)
        let size = Frame.maxHeaderSize + port.limits.messageSize
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { space in
            for _ in 0..<Self.batch {
                guard receive(space, port) else { return }
            }
        }
    }

    /// Receives one packet; returns false if the batch ends here.
    private func receive(_ space: UnsafeMutableRawBufferPointer, _ port: any PeerOwner) -> Bool {
        switch socket.receive(space, port.limits) {
        case .nothing: return false
        case .packet(let frame, let bytes, let descriptors, let scheduling):
            if let goesOn = take(frame, bytes, descriptors, scheduling, port) {
                return goesOn && lock.withLock { !isClosed && flushers.isEmpty }
            }
        case .end, .malformed: break
        }
        drop()
        return false
    }

    /// nil if the peer may not send this packet; otherwise whether the port wants more now.
    private func take(
        _ frame: Frame, _ bytes: [UInt8], _ descriptors: [RunLoop.MessagePort.Descriptor], _ scheduling: Scheduling?,
        _ port: any PeerOwner
    ) -> Bool? {
        switch (frame.kind, role) {
        case (.message, _):
            var message = RunLoop.MessagePort.Message(id: frame.id, bytes: bytes, descriptors: descriptors)
            if frame.handle != 0 {
                guard let channel = handles[frame.handle] else { return nil }
                message.replyTo = RunLoop.MessagePort.Sender(channel, answering: frame.serial)
            }
            return port.deliver(Delivery(message: message, scheduling: scheduling))
        case (.reply, .answerer):
            let message = RunLoop.MessagePort.Message(id: frame.id, bytes: bytes, descriptors: descriptors)
            return port.deliver(Delivery(kind: .reply, serial: frame.serial, message: message))
        case (.noReply, .answerer):
            return port.deliver(Delivery(kind: .noReply, serial: frame.serial, message: RunLoop.MessagePort.Message()))
        case (.introduce, _):
            guard handles.count < Self.maxHandles, handles[frame.handle] == nil,
                let socket = descriptors.first.flatMap(PortSocket.init)
            else { return nil }
            handles[frame.handle] = Channel(
                socket, longest: port.limits.messageSize, most: port.limits.descriptors,
                readsThreads: frame.thread != nil
            ) { [weak self] in self?.backlogBegan($0) }
            return true
        case (.retire, _):
            return handles.removeValue(forKey: frame.handle) == nil ? nil : true
        default:
            return nil
        }
    }

    // MARK: Replies that find no room

    /// Stops listening to the peer until the peer has read its replies: what the peer sends meanwhile waits in its own
    /// queue.
    ///
    /// Any thread.
    private func backlogBegan(_ channel: Channel) {
        let flusher = RunLoop.DescriptorSource.sendable(
            channel.socket.number, for: .writable, label: "replies"
        ) { [weak self] source, _ in
            guard channel.flush() else { return }
            source.invalidate()
            self?.backlogEnded(channel, source)
        }
        let (paused, mayWait) = lock.withLock { () -> (RunLoop.DescriptorSource?, Bool) in
            guard !isClosed else { return (nil, true) }
            if isRetired { return (nil, false) }
            flushers[ObjectIdentifier(channel)] = flusher
            return (source, true)
        }
        if !mayWait { leave() }
        guard let paused, let port else { return }
        // The source is taken out, not only set to no events: the kernel reports the end of a connection all the same,
        // again and again, and there may be messages before the end.
        port.unwatch(paused)
        watch(flusher)
    }

    private func backlogEnded(_ channel: Channel, _ flusher: RunLoop.DescriptorSource) {
        let resumed = lock.withLock { () -> RunLoop.DescriptorSource? in
            // Another flusher may have begun since.
            if flushers[ObjectIdentifier(channel)] === flusher { flushers[ObjectIdentifier(channel)] = nil }
            return flushers.isEmpty ? source : nil
        }
        guard let resumed else { return }
        watch(resumed)
        // Another backlog may have begun meanwhile, and have stopped listening before this call went on with it.
        if lock.withLock({ !flushers.isEmpty }) { port?.unwatch(resumed) }
    }

    private func watch(_ source: RunLoop.DescriptorSource) {
        // Out of memory or of watches: the other side finds the end of the connection rather than silence.
        do { try port?.watch(source) } catch { leave() }
    }
}
