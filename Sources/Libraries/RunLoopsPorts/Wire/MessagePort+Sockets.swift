// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Connections of a port: accepted connections, and the ends of channels that were sent away for replies.
extension RunLoop.MessagePort: QueueReceiver, PeerOwner {
    /// Makes a channel to this port; returns its other end, without which the channel is closed again.
    func makeChannel(_ handle: UInt64) throws(RunLoop.PortError) -> Export {
        let (here, there) = try PortSocket.channel()
        let peer = Peer(here, .answerer, self, handle: handle)
        try add(peer)
        // The port keeps the peer, until one of the two ends.
        return Export(there, readsThreads: true) { [weak self, weak peer] fate in
            switch fate {
            case .sent: break
            case .unused: peer?.leave()
            case .connectionEnded: if self?.awaitsAnswer?(handle) == false { peer?.leave() }
            }
        }
    }

    /// Takes a connection or the end of a channel in.
    ///
    /// If the port has as many as it may have, a connection makes room. Throws `full` if there is none, `dead` if the
    /// port is invalid, and what the system refused.
    func add(_ peer: Peer) throws(RunLoop.PortError) {
        let leaving = try lock.withLock { () throws(RunLoop.PortError) -> Peer? in
            guard handler != nil else { throw .dead }
            var leaving: Peer?
            if peers.count >= limits.peers {
                leaving = connectionToRetire(for: peer.process)
                guard let leaving else { throw .full }
                peers[ObjectIdentifier(leaving)] = nil
                retired[ObjectIdentifier(leaving)] = leaving
            }
            peers[ObjectIdentifier(peer)] = peer
            return leaving
        }
        leaving?.retire()
        // After the port knows the peer: whoever sets the property now finds the peer.
        if carriesPriority { peer.identifySenders(true) }
        do throws(RunLoop.SystemCallError) {
            for source in peer.sources { try watch(source) }
        } catch {
            peer.close()
            forget(peer)
            throw .system(error)
        }
    }

    /// The connection that has been idle longest, of the process that has most; the newcomer counts as one of its
    /// process.
    ///
    /// So a process that connects again and again takes places from itself alone. The end of a channel never makes
    /// room, since an answer may be on its way. Called with the lock held.
    private func connectionToRetire(for newcomer: Int32) -> Peer? {
        let connections = peers.values.filter { $0.handle == 0 }
        var counts = [newcomer: 1]
        for one in connections { counts[one.process, default: 0] += 1 }
        return connections.max { ($0.rank(counts), $1.idleSince) < ($1.rank(counts), $0.idleSince) }
    }

    /// Takes in a process that has connected, and lets it send.
    ///
    /// While something of the process is still to be received from connections that have made room, it has to wait:
    /// otherwise what it sends now would overtake that.
    func admit(_ socket: PortSocket, of process: Int32) throws(RunLoop.PortError) {
        let peer = Peer(socket, .sender, self, process: process)
        try add(peer)
        let mustWait = lock.withLock {
            let mustWait = retired.values.contains { $0.process == process }
            if mustWait { ungreeted.append(peer) }
            return mustWait
        }
        if !mustWait { peer.welcome() }
    }

    func forget(_ peer: Peer) {
        let key = ObjectIdentifier(peer)
        let (removed, ended, next) = lock.withLock { () -> (Peer?, ((UInt64) -> Void)?, [Peer]) in
            let removed = peers.removeValue(forKey: key) ?? retired.removeValue(forKey: key)
            ungreeted.removeAll { $0 === peer }
            if ungreeted.isEmpty || retired.values.contains(where: { $0.process == peer.process }) {
                return (removed, channelEnded, [])
            }
            defer { ungreeted.removeAll { $0.process == peer.process } }
            return (removed, channelEnded, ungreeted.filter { $0.process == peer.process })
        }
        for one in next { one.welcome() }
        if removed != nil, peer.handle != 0 { ended?(peer.handle) }
    }

    /// Adds a socket's source to the modes that the port is in.
    func watch(_ source: RunLoop.DescriptorSource) throws(RunLoop.SystemCallError) {
        lock.lock()
        let (loop, modes) = (self.loop, self.modes)
        lock.unlock()
        guard let loop else { return }
        for mode in modes { try loop.add(source, in: mode) }
    }

    /// Leaves a socket alone for a tenth of a second: something is ready there that cannot be taken now.
    ///
    /// The loop's thread.
    func rest(_ source: RunLoop.DescriptorSource) {
        lock.lock()
        let (loop, modes) = (self.loop, self.modes)
        lock.unlock()
        guard let loop else { return }
        unwatch(source)
        let timer = RunLoop.Timer.sendable(.after(.milliseconds(100)), label: "rest of \(source.label)") {
            [weak self] _ in
            guard let self, source.isValid else { return }
            do { try watch(source) } catch { rest(source) }
        }
        for mode in modes { loop.add(timer, in: mode) }
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

extension Peer {
    fileprivate func rank(_ counts: [Int32: Int]) -> Int { counts[process] ?? 0 }
}
