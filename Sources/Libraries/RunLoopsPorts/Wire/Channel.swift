// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsLibC

/// The writing side of a socket to a port in another process.
///
/// Ports that messages bring along are introduced once, by sending one of their sockets, and called by a handle
/// afterwards.
///
/// No lock is held while a thread waits for the other side: a thread that waits for room keeps no other thread, and so
/// no loop, from sending.
///
/// Thread safety: all members may be used by any thread.
final class Channel: Route, @unchecked Sendable {
    let socket: PortSocket
    /// The limits of the other side.
    private let longest: Int
    private let most: Int
    /// Whether the other side reads the numbers of sending threads, which is version 2 of ``Frame``.
    private let readsThreads: Bool
    private let lock = Lock()
    // Guarded by the lock, under which no call waits.
    @exclusivity(unchecked) private var introduced: [ObjectIdentifier: Introduced] = [:]
    @exclusivity(unchecked) private var isBroken = false
    /// Replies that found no room; while there are such replies, this side does not listen to the asker.
    @exclusivity(unchecked) private var late = Ring<Outgoing>()
    /// Whether ``backlogBegan`` was called, and ``flush()`` has not returned true since.
    @exclusivity(unchecked) private var isBacklogged = false
    /// Called with no lock held, when the first reply finds no room.
    private let backlogBegan: (@Sendable (Channel) -> Void)?

    /// Replies that find no room are kept, if there is a closure that arranges a later try.
    init(
        _ socket: PortSocket, longest: Int, most: Int, readsThreads: Bool,
        backlogBegan: (@Sendable (Channel) -> Void)? = nil
    ) {
        self.socket = socket
        self.longest = longest
        self.most = most
        self.readsThreads = readsThreads
        self.backlogBegan = backlogBegan
    }

    deinit {
        for known in introduced.values { known.connectionEnded() }
    }

    /// Whether the other side has said that it has no room for the connection any more.
    private let isTurnedAway = Guarded(false)

    /// Whether nothing can be sent any more.
    var isClosed: Bool { socket.hasHungUp }

    /// Whether the port has gone; a port that has closed the connection to make room for others has not.
    var isDead: Bool {
        guard isClosed else { return false }
        return !isTurnedAway.withLock { isTurnedAway in
            isTurnedAway = isTurnedAway || socket.receivesCrowded()
            return isTurnedAway
        }
    }

    var isOwn: Bool { false }

    func export(_ handle: UInt64, until deadline: Int64) throws(RunLoop.PortError) -> Export {
        Export(try socket.copy(), readsThreads: readsThreads) { [socket] fate in
            // From now on another process may use the connection.
            if fate == .sent { socket.markShared() }
        }
    }

    func send(_ delivery: Delivery, until deadline: Int64) throws(RunLoop.PortError) -> UInt64 {
        if socket.isInherited { throw .dead }
        let message = delivery.message
        if message.bytes.count > longest { throw .tooLarge(longest) }
        if message.descriptors.count > most { throw .tooManyDescriptors(most) }
        if message.descriptors.contains(where: { $0.number < 0 }) { throw .invalidDescriptor }
        var outgoing = Outgoing(delivery, try introduction(of: delivery, until: deadline))
        // Without an effect once the port was introduced.
        defer { outgoing.takeBack() }
        while true {
            switch try attempt(&outgoing) {
            case .sent(let handle): return handle
            case .kept(let isFirst):
                if isFirst { backlogBegan?(self) }
                return 0
            case .noRoom:
                if deadline == Deadline.none { throw .full }
                if !socket.wait(POLLOUT, until: deadline) { throw .timedOut }
            }
        }
    }

    /// Tries again with the replies that found no room; returns whether none is left.
    func flush() -> Bool {
        var waste = Waste()
        defer { waste.drop() }
        return lock.withLock {
            guard writeLate(&waste) else { return false }
            isBacklogged = false
            return true
        }
    }

    /// What the reply port of a message needs to be introduced; `nil` if there is none, or if it is known already.
    ///
    /// Called with no lock held: a port with a name may have to be connected to.
    private func introduction(of delivery: Delivery, until deadline: Int64) throws(RunLoop.PortError) -> Introduction? {
        guard delivery.kind == .message, let route = delivery.message.replyTo?.route else { return nil }
        if lock.withLock({ introduced[ObjectIdentifier(route)] != nil }) { return nil }
        // Random, not counted: several channels may write to one socket.
        let handle = rl_port_random() | 1
        return Introduction(handle: handle, export: try route.export(handle, until: deadline))
    }

    private enum Attempt {
        /// Sent; the answer comes on the channel with this handle.
        case sent(UInt64)
        /// Kept behind other replies; `isFirst` if a later try has to be arranged.
        case kept(isFirst: Bool)
        case noRoom
    }

    private func attempt(_ outgoing: inout Outgoing) throws(RunLoop.PortError) -> Attempt {
        var waste = Waste()
        defer { waste.drop() }
        return try lock.withLock { () throws(RunLoop.PortError) -> Attempt in
            if isBroken { throw .dead }
            do throws(RunLoop.PortError) {
                // Behind waiting replies, to stay in order.
                if late.isEmpty || writeLate(&waste), let handle = try write(&outgoing, &waste) { return .sent(handle) }
            } catch {
                // The dead port may also be the port that the message brings along, which was taken back meanwhile.
                if error == .dead, socket.hasHungUp { breakOff(&waste) }
                throw error
            }
            // Replies are bounded, since this side does not listen to the asker while there are such replies.
            guard outgoing.delivery.isAnswer, backlogBegan != nil else { return .noRoom }
            late.append(outgoing)
            outgoing.introduction = nil
            defer { isBacklogged = true }
            return .kept(isFirst: !isBacklogged)
        }
    }

    // MARK: With the lock held

    /// Notes that nothing can be sent any more.
    ///
    /// The ports that the other side knows learn of it: the loop of a thread that sends requests may run only with the next one, and
    /// would find the ends of its sockets then.
    private func breakOff(_ waste: inout Waste) {
        isBroken = true
        waste.lost += introduced.values
        introduced = [:]
    }

    /// Writes the replies that found no room; returns whether none is left.
    private func writeLate(_ waste: inout Waste) -> Bool {
        while var next = late.popFirst() {
            do throws(RunLoop.PortError) {
                if try write(&next, &waste) == nil {
                    late.prepend(next)
                    return false
                }
            } catch {
                waste.add(next)
                if error == .dead, socket.hasHungUp {
                    breakOff(&waste)
                    while let lost = late.popFirst() { waste.add(lost) }
                } else if next.delivery.kind == .reply {
                    // A reply that can never be sent, since its descriptor is closed by now, does not hold up the
                    // others, and its asker does not wait for it.
                    next.delivery.kind = .noReply
                    late.prepend(next)
                }
            }
        }
        return true
    }

    /// Returns the handle of the reply port, or 0 for none; `nil` if there is no room.
    private func write(_ outgoing: inout Outgoing, _ waste: inout Waste) throws(RunLoop.PortError) -> UInt64? {
        let (delivery, message) = (outgoing.delivery, outgoing.delivery.message)
        var frame = Frame(
            .message, descriptors: message.descriptors.count, id: message.id, length: message.bytes.count,
            serial: delivery.serial)
        switch delivery.kind {
        case .message:
            frame.serial = message.replyTo?.serial ?? 0
            if readsThreads { frame.thread = delivery.thread }
            if let replyTo = message.replyTo {
                guard let handle = try introduce(replyTo.route, &outgoing.introduction, delivery.thread, &waste) else {
                    return nil
                }
                frame.handle = handle
            }
        case .reply: frame.kind = .reply
        case .noReply:
            frame = Frame(.noReply, serial: delivery.serial)
        }
        do throws(RunLoop.PortError) {
            if try socket.send(frame, delivery.kind == .noReply ? nil : message) == .noRoom { return nil }
        } catch {
            if case .tooLarge = error { throw .tooLarge(longest) }
            throw error
        }
        // From now on the other side answers, or the end of the other side does.
        if delivery.kind == .message, let replyTo = message.replyTo {
            replyTo.markUsed()
            introduced[ObjectIdentifier(replyTo.route)]?.isUsed = true
        }
        return frame.handle
    }

    /// Returns the handle with which the other side names the port at the end of `route`; `nil` if there is no room.
    private func introduce(
        _ route: any Route, _ introduction: inout Introduction?, _ thread: Int32, _ waste: inout Waste
    ) throws(RunLoop.PortError) -> UInt64? {
        let key = ObjectIdentifier(route)
        if let known = introduced[key] { return known.handle }
        // The port was known when the call began, and has ended since.
        guard let new = introduction else { throw .dead }
        guard try retireDead(&waste) else { return nil }
        let message = RunLoop.MessagePort.Message(descriptors: [new.export.end])
        let frame = Frame(
            .introduce, descriptors: 1, handle: new.handle,
            thread: readsThreads && new.export.readsThreads ? thread : nil)
        if try socket.send(frame, message) == .noRoom { return nil }
        introduced[key] = Introduced(handle: new.handle, route: route, settle: new.export.settle)
        new.export.settle(.sent)
        introduction = nil
        return new.handle
    }

    /// Lets the other side close what it holds of dead ports; returns false if there is no room.
    private func retireDead(_ waste: inout Waste) throws(RunLoop.PortError) -> Bool {
        for (key, known) in introduced where known.route.isDead {
            if try socket.send(Frame(.retire, handle: known.handle)) == .noRoom { return false }
            introduced[key] = nil
            waste.routes.append(known.route)
        }
        return true
    }
}

/// A reply port that the other side knows.
private struct Introduced {
    let handle: UInt64
    let route: any Route
    let settle: @Sendable (Export.Fate) -> Void
    /// Whether a message was sent whose answer comes by this port.
    var isUsed = false

    func connectionEnded() { settle(isUsed ? .connectionEnded : .unused) }
}

/// The introduction of a reply port that was not sent yet.
private struct Introduction {
    let handle: UInt64
    let export: Export
}

/// A delivery on its way to the socket.
private struct Outgoing {
    var delivery: Delivery
    /// `nil` if there is no reply port, if the other side knows it, or after it was introduced.
    var introduction: Introduction?

    init(_ delivery: Delivery, _ introduction: Introduction?) {
        self.delivery = delivery
        self.introduction = introduction
    }

    /// Undoes an introduction that was not sent.
    ///
    /// Called with no lock held.
    mutating func takeBack() {
        introduction?.export.settle(.unused)
        introduction = nil
    }
}

/// What is released after the lock: the end of a reply port, or of the right to answer, sends and takes locks.
private struct Waste {
    private var outgoing: [Outgoing] = []
    var routes: [any Route] = []
    /// The ports that the other side of an ended connection knows.
    var lost: [Introduced] = []

    mutating func add(_ lost: Outgoing) { outgoing.append(lost) }

    mutating func drop() {
        for index in outgoing.indices { outgoing[index].takeBack() }
        for known in lost { known.connectionEnded() }
        self = Waste()
    }
}
