// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsLibC

/// The way to the port that has a name: looked up, connected to, and looked up again when the port has gone.
final class NamedRoute: Route, @unchecked Sendable {
    private let name: PortName
    private let directory: RunLoop.MessagePort.Directory
    private let owner: RunLoop.MessagePort.Access
    private let looksInProcess: Bool
    /// Held while a connection is made, for as long as the thread that makes it may wait.
    private let gate = Lock()
    // Guarded by the gate.
    @exclusivity(unchecked) private var greeted: PortSocket?
    private let lock = Lock()
    // Guarded by the lock; made with the gate held.
    @exclusivity(unchecked) private var channel: Channel?

    init(
        _ name: PortName, _ directory: RunLoop.MessagePort.Directory, _ owner: RunLoop.MessagePort.Access,
        looksInProcess: Bool
    ) {
        self.name = name
        self.directory = directory
        self.owner = owner
        self.looksInProcess = looksInProcess
    }

    var isDead: Bool {
        if looksInProcess, PortRegistry.find(name, directory) != nil { return false }
        return own?.isDead ?? false
    }

    var isOwn: Bool { looksInProcess ? PortRegistry.find(name, directory)?.isOwn ?? false : false }

    func export(_ handle: UInt64, until deadline: Int64) throws(RunLoop.PortError) -> Export {
        if looksInProcess, let queue = PortRegistry.find(name, directory) {
            return try queue.export(handle, until: deadline)
        }
        return try connected(until: deadline).export(handle, until: deadline)
    }

    func send(_ delivery: Delivery, until deadline: Int64) throws(RunLoop.PortError) -> UInt64 {
        if looksInProcess, let queue = PortRegistry.find(name, directory) {
            return try queue.send(delivery, until: deadline)
        }
        var wasConnected = own != nil
        for _ in 0..<Self.maxTries {
            var used: Channel?
            do throws(RunLoop.PortError) {
                let channel = try connected(until: deadline)
                used = channel
                return try channel.send(delivery, until: deadline)
            } catch {
                switch error {
                case .noSuchPort where wasConnected: throw .dead
                // The message was refused as a whole, so that it may be sent again: the port may be back, or it has
                // only closed the connection to make room. The dead port may also be the one that the message brings
                // along: then the connection, and all who wait for an answer by it, stay.
                case .dead where used?.isClosed == true: forget(used)
                default: throw error
                }
            }
            wasConnected = true
        }
        // Connected again and again, and closed each time before the message was sent.
        throw .full
    }

    private static let maxTries = 100

    /// The connection of this process: a forked child makes one of its own.
    private var own: Channel? {
        lock.withLock { channel?.socket.isInherited == true ? nil : channel }
    }

    /// Forgets a connection that has ended, unless another thread has replaced it already.
    private func forget(_ ended: Channel?) {
        let old = lock.withLock { () -> Channel? in
            guard channel === ended else { return nil }
            defer { channel = nil }
            return channel
        }
        withExtendedLifetime(old) {}
    }

    /// Returns the connection; makes one if there is none.
    private func connected(until deadline: Int64) throws(RunLoop.PortError) -> Channel {
        if let own { return own }
        // Another thread makes the connection, and may wait for it for longer than this one.
        guard gate.lock(until: deadline) else { throw deadline == Deadline.none ? .full : .timedOut }
        defer { gate.unlock() }
        return try connect(until: deadline)
    }

    // MARK: With the gate held

    /// Connects if there is no connection, and waits for room at the port.
    private func connect(until deadline: Int64) throws(RunLoop.PortError) -> Channel {
        var pause: Int64 = 1_000_000
        while true {
            do throws(RunLoop.PortError) {
                return try connectOnce(until: deadline)
            } catch {
                guard error == .full, deadline != Deadline.none else { throw error }
            }
            // The port tells nobody when there is room, so that waiting costs it nothing.
            guard Deadline.sleep(pause, until: deadline) else { throw .timedOut }
            pause = min(pause * 2, 64_000_000)
        }
    }

    private func connectOnce(until deadline: Int64) throws(RunLoop.PortError) -> Channel {
        if let own { return own }
        let socket = if let greeted, !greeted.isInherited { greeted } else { try makeSocket(until: deadline) }
        greeted = socket
        do throws(RunLoop.PortError) {
            let new = try welcome(socket, until: deadline)
            greeted = nil
            let old = lock.withLock { () -> Channel? in
                defer { channel = new }
                return channel
            }
            withExtendedLifetime(old) {}
            return new
        } catch {
            // After a time-out the greeting may still come: the next try goes on where this try ended.
            if error != .timedOut { greeted = nil }
            throw error
        }
    }

    private func makeSocket(until deadline: Int64) throws(RunLoop.PortError) -> PortSocket {
        let socket = try PortSocket.make()
        let result = rl_port_connect(
            socket.number, directory.path(of: name.socketFile), deadline == Deadline.none ? 0 : deadline)
        if result < 0 { throw Errors.connecting(-result, name.text) }
        // The listening process is checked before any message is sent.
        guard owner.allows(try socket.credentials()) else { throw .notPermitted }
        return socket
    }

    /// Waits for the first frame, which says whether the port lets this process in.
    private func welcome(_ socket: PortSocket, until deadline: Int64) throws(RunLoop.PortError) -> Channel {
        guard socket.wait(POLLIN, until: deadline) else { throw .timedOut }
        let received = withUnsafeTemporaryAllocation(byteCount: Frame.headerSize, alignment: 8) {
            socket.receive($0, RunLoop.MessagePort.Limits(messageSize: 1, descriptors: 0))
        }
        switch received {
        case .packet(let frame, _, _, _) where frame.kind == .welcome:
            return Channel(
                socket, longest: Int(frame.handle), most: Int(frame.serial), readsThreads: socket.readsThreads)
        case .packet(let frame, _, _, _) where frame.kind == .refused: throw .notPermitted
        case .nothing: throw .timedOut
        // The connection was closed for another one, or the port has gone: the next connection will tell.
        case .packet(let frame, _, _, _) where frame.kind == .crowded: throw .full
        case .end: throw .full
        case .packet, .malformed: throw .notUnderstood
        }
    }
}
