// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Adds a message port to `mode`, or to all common modes, also to modes that are marked as common later.
    ///
    /// Messages that were sent before are delivered in the next turn.
    ///
    /// - Returns: Whether the port is in `mode` now. An invalid port is not added. After the end of the loop's thread
    ///   no port is added.
    /// - Throws: the error of the system, for a port with connections: see ``RunLoops/RunLoop/add(_:in:)``.
    ///
    /// Corresponds to `CFRunLoopAddSource` with the source of `CFMessagePortCreateRunLoopSource`.
    /// - Precondition: the port's closure may run on this loop's thread, and the port has not been in another loop.
    /// - Complexity: O(1), and one system call for each connection of the port.
    @discardableResult
    public func add(_ port: MessagePort, in mode: Mode) throws(SystemCallError) -> Bool {
        guard let (sockets, isFirst) = port.join(self, mode) else { return false }
        guard add(port.queue.source, in: mode) else {
            // The thread has ended, or another thread has made the port invalid: no mode keeps it.
            remove(port, from: mode)
            return false
        }
        do {
            for socket in sockets { try add(socket, in: mode) }
        } catch {
            // In the mode with all connections, or not at all.
            remove(port, from: mode)
            if isFirst { port.leaveLoop() }
            throw error
        }
        port.queue.attach(self)
        return true
    }

    /// Removes a message port from `mode`; the port stays valid, and keeps its messages.
    ///
    /// Corresponds to `CFRunLoopRemoveSource`.
    /// - Complexity: as for adding.
    public func remove(_ port: MessagePort, from mode: Mode) {
        let sockets = port.leave(mode)
        remove(port.queue.source, from: mode)
        for socket in sockets { remove(socket, from: mode) }
        port.hasLeft()
    }

    /// Whether the port is in `mode`, or, for `.common`, was added to the common modes.
    public func contains(_ port: MessagePort, in mode: Mode) -> Bool { contains(port.queue.source, in: mode) }
}
