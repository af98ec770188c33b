// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// A name that a port has: the lock that proves the ownership, and the socket that listens under the name.
///
/// The lock is the kernel's, on a file, and ends with the process, in whatever way the process ends. The owner of the
/// lock may replace the socket that a dead process has left behind; a socket without a lock belongs to nobody. A forked
/// child closes both at once, so that they end with the process that published the name.
final class Publication: @unchecked Sendable {
    let name: PortName
    let directory: RunLoop.MessagePort.Directory
    private let access: RunLoop.MessagePort.Access
    private let lockFile: PrivateDescriptor
    private let socket: PortSocket
    // Called on the loop's thread.
    /// Takes a connection in; throws if there is no room for it.
    private let connected: @Sendable (PortSocket, RunLoop.MessagePort.Credentials) throws(RunLoop.PortError) -> Void
    /// Leaves the socket alone for a while.
    private let rests: @Sendable (RunLoop.DescriptorSource) -> Void
    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private(set) var source: RunLoop.DescriptorSource?
    private let spare: SpareDescriptor

    init(
        _ name: PortName, _ directory: RunLoop.MessagePort.Directory, _ access: RunLoop.MessagePort.Access,
        _ queue: MessageQueue,
        connected: @escaping @Sendable (PortSocket, RunLoop.MessagePort.Credentials) throws(RunLoop.PortError) -> Void,
        rests: @escaping @Sendable (RunLoop.DescriptorSource) -> Void
    ) throws(RunLoop.PortError) {
        self.name = name
        self.directory = directory
        self.access = access
        self.connected = connected
        self.rests = rests
        lockFile = try Self.takeLock(name, directory)
        do throws(RunLoop.PortError) {
            socket = try PortSocket.make()
            // Behind the socket: a port without a reserve is better than none.
            spare = .shared
            try listen()
        } catch {
            Self.removeFiles(of: name, in: directory)
            throw error
        }
        source = .sendable(socket.number, label: "listener \(name.text)") { [weak self] source, _ in
            if self?.accept() == false { self?.rests(source) }
        }
        PortRegistry.set(queue, name, directory)
    }

    private static func takeLock(_ name: PortName, _ directory: RunLoop.MessagePort.Directory) throws(RunLoop.PortError)
        -> PrivateDescriptor
    {
        while true {
            let number = try Errors.check(
                "openat", rl_port_open_lock(directory.descriptor.number, name.lockFile, true, 0o600),
                of: "\(directory.path)/\(name.lockFile)")
            let file = PrivateDescriptor(adopting: number)
            let result = rl_port_lock(number)
            if result == -EWOULDBLOCK { throw .nameTaken(name.text) }
            try Errors.check("flock", result, of: "\(directory.path)/\(name.lockFile)")
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
        try Errors.check("fstatat", result, of: "\(directory.path)/\(name.lockFile)")
        return held.device == seen.device && held.number == seen.number
    }

    /// Listens under another name first, so that the name never leads to a socket that does not listen.
    private func listen() throws(RunLoop.PortError) {
        let folder = directory.descriptor.number
        // Left behind by a process that died here.
        _ = rl_port_remove(folder, name.newFile)
        let new = "\(directory.path)/\(name.newFile)"
        try Errors.check("bind", rl_port_bind(socket.number, directory.path(of: name.newFile)), of: new)
        try Errors.check("fchmodat", rl_port_set_mode(folder, name.newFile, access.fileMode), of: new)
        try Errors.check("listen", rl_port_listen(socket.number, SOMAXCONN), of: new)
        let renamed = rl_port_rename(folder, name.newFile, name.socketFile)
        try Errors.check("renameat", renamed, of: "\(directory.path)/\(name.socketFile)")
    }

    /// Gives the name up.
    ///
    /// Any thread; the sockets are closed when the loop's thread has left them. A forked child has neither the socket
    /// nor the lock, and leaves its parent the name.
    func withdraw() {
        if socket.isInherited { return }
        PortRegistry.set(nil, name, directory)
        let source = lock.withLock { () -> RunLoop.DescriptorSource? in
            defer { self.source = nil }
            return self.source
        }
        source?.invalidate()
        socket.shutListener()
        _ = rl_port_remove(directory.descriptor.number, name.socketFile)
        Self.removeFiles(of: name, in: directory)
    }

    /// Removes the files beside the socket, with the lock held.
    ///
    /// The lock's file goes last: while it exists, no other process can have the name. It does no harm if another process has
    /// removed the files before.
    private static func removeFiles(of name: PortName, in directory: RunLoop.MessagePort.Directory) {
        _ = rl_port_remove(directory.descriptor.number, name.newFile)
        _ = rl_port_remove(directory.descriptor.number, name.lockFile)
    }

    // MARK: The loop's thread

    /// How many connections are accepted in one turn: a crowd must not keep the loop's other items waiting.
    private static let batch = 16

    /// Returns false if somebody waits who cannot be accepted, nor turned away.
    private func accept() -> Bool {
        for _ in 0..<Self.batch {
            let result = rl_port_accept(socket.number)
            if result >= 0 {
                greet(PortSocket(adopting: result))
            } else if result == -Errors.again {
                return true
            } else if result != -Errors.aborted, !turnAway() {
                return false
            }
        }
        // The kernel reports again if there is more.
        return true
    }

    private func greet(_ socket: PortSocket) {
        guard let who = try? socket.credentials(), access.allows(who) else {
            _ = try? socket.send(Frame(.refused))
            return
        }
        do throws(RunLoop.PortError) { try connected(socket, who) } catch { socket.turnAway() }
    }

    /// Accepts a connection with the descriptor in reserve, and says that there is no room.
    ///
    /// Returns false if that fails too: another thread has taken the number meanwhile, or the system is out of memory.
    private func turnAway() -> Bool {
        spare.whileFree {
            let result = rl_port_accept(socket.number)
            // Closed before the number is reserved again.
            if result >= 0 { PortSocket(adopting: result).turnAway() }
            return result >= 0 || result == -Errors.again
        }
    }
}
