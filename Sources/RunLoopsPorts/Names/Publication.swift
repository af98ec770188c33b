// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import RunLoops

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A name that a port has: the lock that proves the ownership, and the socket that listens under the name.
///
/// The lock is the kernel's, on a file, and ends with the process, in whatever way the process ends. The owner of the
/// lock may replace the socket that a dead process has left behind; a socket without a lock belongs to nobody.
final class Publication: @unchecked Sendable {
    let name: PortName
    let directory: RunLoop.MessagePort.Directory
    private let access: RunLoop.MessagePort.Access
    private let lockFile: RunLoop.MessagePort.Descriptor
    private let socket: PortSocket
    private let limits: RunLoop.MessagePort.Limits
    /// Called with each connection that is let in, on the loop's thread.
    private let connected: @Sendable (PortSocket) -> Void
    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private(set) var source: RunLoop.DescriptorSource?
    /// A descriptor in reserve, on the loop's thread alone.
    ///
    /// When the process has no number left, the reserve is given up to accept and close a connection, which would
    /// otherwise keep the loop awake.
    @exclusivity(unchecked) private var spare: RunLoop.MessagePort.Descriptor?

    init(
        _ name: PortName, _ directory: RunLoop.MessagePort.Directory, _ access: RunLoop.MessagePort.Access,
        _ queue: MessageQueue,
        connected: @escaping @Sendable (PortSocket) -> Void
    ) throws(RunLoop.PortError) {
        self.name = name
        self.directory = directory
        self.access = access
        limits = queue.limits
        self.connected = connected
        lockFile = try Self.takeLock(name, directory)
        socket = try PortSocket.make()
        try listen()
        spare = try? RunLoop.MessagePort.Descriptor(duplicating: lockFile.number)
        source = .sendable(socket.number, label: "listener \(name.text)") { [weak self] _, _ in
            self?.accept()
        }
        PortRegistry.set(queue, name, directory)
    }

    private static func takeLock(_ name: PortName, _ directory: RunLoop.MessagePort.Directory) throws(RunLoop.PortError)
        -> RunLoop.MessagePort.Descriptor
    {
        while true {
            let number = try Errors.check(
                "openat", rl_port_open_lock(directory.descriptor.number, name.lockFile, true, 0o600))
            let file = RunLoop.MessagePort.Descriptor(adopting: number)
            let result = rl_port_lock(number)
            if result == -EWOULDBLOCK { throw .nameTaken(name.text) }
            try Errors.check("flock", result)
            // A previous owner may have removed the file between the two calls: then the lock is on a file that nobody
            // sees.
            guard try isCurrent(number, name, directory) else { continue }
            let text = Array("\(rl_process_id())\n".utf8)
            // For `ls` alone: the name belongs to this process even if the write fails.
            _ = rl_port_write_file(number, text, text.count)
            return file
        }
    }

    private static func isCurrent(
        _ number: CInt, _ name: PortName, _ directory: RunLoop.MessagePort.Directory
    ) throws(RunLoop.PortError) -> Bool {
        var held = rl_file()
        var seen = rl_file()
        try Errors.check("fstat", rl_port_describe(number, &held))
        let result = rl_port_describe_at(directory.descriptor.number, name.lockFile, &seen)
        if result == -Errors.notFound { return false }
        try Errors.check("fstatat", result)
        return held.device == seen.device && held.number == seen.number
    }

    /// Listens under another name first, so that the name never leads to a socket that does not listen.
    private func listen() throws(RunLoop.PortError) {
        let folder = directory.descriptor.number
        // Left behind by a process that died here.
        _ = rl_port_remove(folder, name.newFile)
        try Errors.check("bind", rl_port_bind(socket.number, directory.path(of: name.newFile)))
        try Errors.check("fchmodat", rl_port_set_mode(folder, name.newFile, access.fileMode))
        try Errors.check("listen", rl_port_listen(socket.number, SOMAXCONN))
        try Errors.check("renameat", rl_port_rename(folder, name.newFile, name.socketFile))
    }

    /// Gives the name up.
    ///
    /// Any thread; the sockets are closed when the loop's thread has left them.
    func withdraw() {
        PortRegistry.set(nil, name, directory)
        let source = lock.withLock { () -> RunLoop.DescriptorSource? in
            defer { self.source = nil }
            return self.source
        }
        source?.invalidate()
        let folder = directory.descriptor.number
        // In this order: while the lock's file exists, nobody else can have the name. It does no harm if somebody has
        // removed the files before.
        _ = rl_port_remove(folder, name.socketFile)
        _ = rl_port_remove(folder, name.lockFile)
    }

    // MARK: The loop's thread

    /// How many connections are accepted in one turn: a crowd must not keep the loop's other items waiting.
    private static let batch = 16

    private func accept() {
        for _ in 0..<Self.batch {
            let result = rl_port_accept(socket.number)
            if result == -Errors.tooManyInProcess || result == -Errors.tooManyInSystem {
                turnAway()
                continue
            }
            // EAGAIN: no more. ECONNABORTED and similar: the caller has gone. The kernel reports again if there is
            // more.
            guard result >= 0 else { return }
            greet(PortSocket(adopting: result))
        }
    }

    private func greet(_ socket: PortSocket) {
        guard let who = try? socket.credentials(), access.allows(who) else {
            _ = try? socket.send(Frame(.refused))
            return
        }
        let welcome = Frame(.welcome, serial: UInt64(limits.descriptors), handle: UInt64(limits.messageSize))
        // A new socket has room. The port greets it before the loop watches it, so that the greeting is the first
        // packet.
        guard (try? socket.send(welcome)) != nil else { return }
        connected(socket)
    }

    private func turnAway() {
        spare = nil
        let result = rl_port_accept(socket.number)
        if result >= 0 { _ = rl_close(result) }
        spare = try? RunLoop.MessagePort.Descriptor(duplicating: lockFile.number)
    }
}
