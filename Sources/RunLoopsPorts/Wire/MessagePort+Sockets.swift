// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Connections of a port: accepted connections, and the ends of channels that were sent away for replies.
extension RunLoop.MessagePort: QueueReceiver, PeerOwner {
    /// Makes a channel to this port; returns its other end.
    func makeChannel(_ handle: UInt64) throws(RunLoop.PortError) -> Descriptor {
        let (here, there) = try PortSocket.pair()
        let peer = Peer(here, .answerer, self, handle: handle)
        guard add(peer) else { throw .dead }
        do { return try Descriptor(duplicating: there.number) } catch {
            peer.close()
            forget(peer)
            throw .system(error)
        }
    }

    /// Takes a connection in; returns false if the port is invalid or has enough connections.
    func add(_ peer: Peer) -> Bool {
        let isTaken = lock.withLock { () -> Bool in
            guard handler != nil, peers.count < limits.peers else { return false }
            peers[ObjectIdentifier(peer)] = peer
            return true
        }
        guard isTaken else { return false }
        for source in peer.sources where !watch(source) {
            // The loop has no place for the source (out of memory or of watches): the other side finds a closed
            // connection.
            peer.close()
            forget(peer)
            return false
        }
        return true
    }

    func forget(_ peer: Peer) {
        let (removed, ended) = lock.withLock { () -> (Peer?, ((UInt64) -> Void)?) in
            (peers.removeValue(forKey: ObjectIdentifier(peer)), channelEnded)
        }
        if removed != nil, peer.handle != 0 { ended?(peer.handle) }
    }

    /// Adds a socket's source to the modes that the port is in.
    @discardableResult
    func watch(_ source: RunLoop.DescriptorSource) -> Bool {
        lock.lock()
        let (loop, modes) = (self.loop, self.modes)
        lock.unlock()
        guard let loop else { return true }
        do throws(RunLoop.SystemCallError) {
            for mode in modes { try loop.add(source, in: mode) }
            return true
        } catch {
            return false
        }
    }

    /// Takes a socket's source out of the modes that the port is in.
    func unwatch(_ source: RunLoop.DescriptorSource) {
        lock.lock()
        let (loop, modes) = (self.loop, self.modes)
        lock.unlock()
        guard let loop else { return }
        for mode in modes { loop.remove(source, from: mode) }
    }

    /// Whether an answer can still come by the channel.
    func hasChannel(_ handle: UInt64) -> Bool {
        lock.withLock { peers.values.contains { $0.handle == handle } }
    }
}
