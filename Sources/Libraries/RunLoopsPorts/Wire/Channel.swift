// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import LinuxLibC
internal import RunLoops

/// The writing side of a socket to a port in another process.
///
/// Ports that messages bring along are introduced once, by sending one of their sockets, and called by a handle
/// afterwards.
///
/// Thread safety: all members may be used by any thread.
final class Channel: Route, @unchecked Sendable {
    let socket: PortSocket
    /// The limits of the other side.
    private let longest: Int
    private let most: Int
    private let gate = TimedLock()
    // Guarded by the gate.
    @exclusivity(unchecked) private var introduced: [ObjectIdentifier: (handle: UInt64, route: any Route)] = [:]
    @exclusivity(unchecked) private var isBroken = false
    /// Replies that found no room; while there are such replies, this side does not listen to the asker.
    @exclusivity(unchecked) private var late = Ring<Delivery>()
    /// Called with the gate held, when the first reply finds no room.
    private let backlogBegan: (@Sendable (Channel) -> Void)?

    /// Replies that find no room are kept, if there is a closure that arranges a later try.
    init(_ socket: PortSocket, longest: Int, most: Int, backlogBegan: (@Sendable (Channel) -> Void)? = nil) {
        self.socket = socket
        self.longest = longest
        self.most = most
        self.backlogBegan = backlogBegan
    }

    /// Whether the other side has said that it has no room for the connection any more.
    private let isTurnedAway = Guarded(false)

    /// Whether nothing can be sent any more.
    ///
    /// Asks the kernel, not the lock: the holder of the lock may be waiting for room.
    var isClosed: Bool { socket.hasHungUp }

    /// Whether the port has gone; a port that has closed the connection to make room for others has not.
    var isDead: Bool {
        guard isClosed else { return false }
        return !isTurnedAway.withLock { isTurnedAway in
            isTurnedAway = isTurnedAway || socket.receivesCrowded()
            return isTurnedAway
        }
    }

    func export(_ handle: UInt64) throws(RunLoop.PortError) -> RunLoop.MessagePort.Descriptor {
        try socket.copy()
    }

    func send(_ delivery: Delivery, until deadline: Int64) throws(RunLoop.PortError) -> UInt64 {
        if socket.isInherited { throw .dead }
        if delivery.message.bytes.count > longest { throw .tooLarge(longest) }
        if delivery.message.descriptors.count > most { throw .tooManyDescriptors(most) }
        // An answer must not be lost, so it waits for the lock however long that takes; no holder of the lock waits for
        // an asker.
        let patience = delivery.isAnswer ? Deadline.never : deadline
        return try gate.withLock(until: patience) { () throws(RunLoop.PortError) -> UInt64 in
            if isBroken { throw .dead }
            // Behind waiting answers, to stay in order.
            if !late.isEmpty { return try keep(delivery) }
            do throws(RunLoop.PortError) {
                return try write(delivery, until: deadline)
            } catch {
                if error == .full, delivery.isAnswer, backlogBegan != nil { return try keep(delivery) }
                // The dead port may also be the port that the message brings along, which was taken back meanwhile.
                if error == .dead, socket.hasHungUp { isBroken = true }
                throw error
            }
        }
    }

    /// Answers are bounded anyway, since this side does not listen to the asker; plain messages need a bound.
    private static let mostLate = 1024

    private func keep(_ delivery: Delivery) throws(RunLoop.PortError) -> UInt64 {
        if !delivery.isAnswer, late.count >= Self.mostLate { throw .full }
        let isFirst = late.isEmpty
        late.append(delivery)
        if isFirst { backlogBegan?(self) }
        return 0
    }

    /// Tries again with the replies that found no room; returns whether none is left.
    func flush() -> Bool {
        let isDone = try? gate.withLock(until: Deadline.never) { () throws(RunLoop.PortError) -> Bool in
            while let delivery = late.popFirst() {
                do throws(RunLoop.PortError) {
                    _ = try write(delivery, until: Deadline.none)
                } catch {
                    // A reply that can never be sent (its descriptor is closed by now) must not hold up the others.
                    switch error {
                    case .full:
                        late.prepend(delivery)
                        return false
                    case .dead:
                        isBroken = true
                        while late.popFirst() != nil {}
                    default: break
                    }
                }
            }
            return true
        }
        return isDone ?? true
    }

    // MARK: With the gate held

    private func write(_ delivery: Delivery, until deadline: Int64) throws(RunLoop.PortError) -> UInt64 {
        let message = delivery.message
        var frame = Frame(
            .message, descriptors: message.descriptors.count, id: message.id, length: message.bytes.count,
            serial: delivery.serial)
        switch delivery.kind {
        case .message:
            frame.serial = message.replyTo?.serial ?? 0
            if let replyTo = message.replyTo { frame.handle = try introduce(replyTo.route, until: deadline) }
        case .reply: frame.kind = .reply
        case .noReply:
            frame = Frame(.noReply, serial: delivery.serial)
        }
        do { try put(frame, message, until: deadline) } catch .tooLarge { throw .tooLarge(longest) }
        // From now on the other side answers, or the end of the other side does.
        if delivery.kind == .message { message.replyTo?.markUsed() }
        return frame.handle
    }

    private func put(_ frame: Frame, _ message: RunLoop.MessagePort.Message?, until deadline: Int64) throws(RunLoop
        .PortError)
    {
        while try socket.send(frame, message) == .noRoom {
            if deadline == Deadline.none { throw .full }
            if !socket.wait(POLLOUT, until: deadline) { throw .timedOut }
        }
    }

    /// Returns the handle with which the other side names the port at the end of `route`.
    private func introduce(_ route: any Route, until deadline: Int64) throws(RunLoop.PortError) -> UInt64 {
        let key = ObjectIdentifier(route)
        if let known = introduced[key] { return known.handle }
        try retireDead(until: deadline)
        // Random, not counted: several channels may write to one socket.
        let handle = rl_port_random() | 1
        let end = try route.export(handle)
        let introduction = RunLoop.MessagePort.Message(descriptors: [end])
        try put(Frame(.introduce, descriptors: 1, handle: handle), introduction, until: deadline)
        introduced[key] = (handle, route)
        return handle
    }

    /// Lets the other side close what it holds of dead ports.
    private func retireDead(until deadline: Int64) throws(RunLoop.PortError) {
        for (key, known) in introduced where known.route.isDead {
            try put(Frame(.retire, handle: known.handle), nil, until: deadline)
            introduced[key] = nil
        }
    }
}
