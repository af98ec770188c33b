// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CRunLoopsKernel
internal import Foundation
internal import RunLoops

/// The socket of a local port and the connections that others have made to it, as sources in the port's loops.
///
/// Thread safety: any thread. The handler is called on a loop's thread, with no lock held.
final class SocketReceiver: @unchecked Sendable {
    typealias Handler = (SocketFrame, _ peer: Data) -> Void

    private struct Place: Hashable {
        let loop: ObjectIdentifier
        let mode: RunLoops.RunLoop.Mode
    }

    let descriptor: Int32
    private let isStream: Bool
    private let handler: Handler
    /// The process that made the receiver: a forked child closes its copies of the sockets, and the parent continues to
    /// use its own.
    private let generation = ForkGeneration()
    private let lock = NSLock()
    // Guarded by the lock.
    private var places: [Place: RunLoops.RunLoop] = [:]
    /// The source of the port's own socket, followed by the sources of connections.
    private var sources: [RunLoops.RunLoop.DescriptorSource] = []
    private var isOpen = true

    /// Takes over the descriptor of a socket, which must listen if it is a stream socket.
    init(_ descriptor: Int32, isStream: Bool, _ handler: @escaping Handler) {
        (self.descriptor, self.isStream, self.handler) = (descriptor, isStream, handler)
        let source = RunLoops.RunLoop.DescriptorSource.sendable(
            descriptor, closes: true, label: "socket port"
        ) { [weak self] _, _ in self?.isReady() }
        sources = [source]
    }

    deinit { close() }

    /// Closes the socket and all connections.
    func close() {
        let sources = lock.withLock { [sources] in
            (self.sources, self.places, isOpen) = ([], [:], false)
            return sources
        }
        // For all who have the sockets, also children between fork and exec: a sender must not believe in a port that
        // has gone.
        if !generation.isInherited, isStream, !sources.isEmpty {
            for source in sources.dropFirst() { _ = rl_end_connection(source.descriptor) }
            _ = rl_end_listener(descriptor)
        }
        for source in sources { source.invalidate() }
    }

    // MARK: In loops

    func enter(_ loop: RunLoops.RunLoop, _ mode: RunLoops.RunLoop.Mode) {
        let sources = lock.withLock {
            if isOpen { places[Place(loop: ObjectIdentifier(loop), mode: mode)] = loop }
            return self.sources
        }
        for source in sources { add(source, to: loop, mode) }
    }

    func leave(_ loop: RunLoops.RunLoop, _ mode: RunLoops.RunLoop.Mode) {
        let sources = lock.withLock {
            places[Place(loop: ObjectIdentifier(loop), mode: mode)] = nil
            return self.sources
        }
        for source in sources { loop.remove(source, from: mode) }
    }

    private func add(
        _ source: RunLoops.RunLoop.DescriptorSource, to loop: RunLoops.RunLoop, _ mode: RunLoops.RunLoop.Mode
    ) {
        do {
            try loop.add(source, in: mode)
        } catch {
            fatalError("A socket port could not be added to a run loop: \(error). Raise RLIMIT_NOFILE.")
        }
    }

    // MARK: Receiving. A loop's thread.

    private func isReady() { if isStream { accept() } else { receiveDatagram() } }

    private func accept() {
        let child = rl_socket_accept(descriptor)
        // The other side may have gone already; what else can fail, such as a lack of descriptors, the next turn tries
        // again.
        guard child >= 0 else { return }
        let peer = SocketCalls.address(of: child, isPeer: true) ?? Data()
        let inbox = Inbox()
        let source = RunLoops.RunLoop.DescriptorSource.sendable(
            child, closes: true, label: "connection of a socket port"
        ) { [weak self] source, _ in
            guard let self, receive(into: inbox, source.descriptor, peer) else { return self?.end(source) ?? () }
        }
        let places = lock.withLock { () -> [Place: RunLoops.RunLoop] in
            if isOpen { sources.append(source) }
            return self.places
        }
        for (place, loop) in places { add(source, to: loop, place.mode) }
    }

    private func end(_ source: RunLoops.RunLoop.DescriptorSource) {
        let isOurs = lock.withLock { () -> Bool in
            guard let index = sources.firstIndex(where: { $0 === source }) else { return false }
            sources.remove(at: index)
            return true
        }
        // Whoever takes it from the list closes it, after the last use of its number.
        guard isOurs else { return }
        if !generation.isInherited { _ = rl_end_connection(source.descriptor) }
        source.invalidate()
    }

    /// The bytes of a message that have arrived so far, and the messages that are to be delivered.
    private final class Inbox: @unchecked Sendable {
        let lock = NSLock()
        // Guarded by the lock.
        var bytes = Data()
        private var frames: [SocketFrame] = []
        /// The place of the next frame that waits.
        private var place = 0

        /// With the lock held.
        func append(_ frame: SocketFrame) { frames.append(frame) }

        func next() -> SocketFrame? {
            lock.withLock {
                guard place < frames.count else {
                    (frames, place) = ([], 0)
                    return nil
                }
                defer { place += 1 }
                return frames[place]
            }
        }
    }

    /// Reads the bytes that have arrived; returns `false` if the connection has ended or does not follow the protocol.
    private func receive(into inbox: Inbox, _ child: Int32, _ peer: Data) -> Bool {
        // A port in two loops is read by two threads.
        let goesOn = inbox.lock.withLock { () -> Bool in
            var buffer = [UInt8](repeating: 0, count: 65536)
            let count = read(child, &buffer, buffer.count)
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            inbox.bytes.append(buffer, count: count)
            while let length = SocketFrame.count(beginning: inbox.bytes) {
                if length == 0 || inbox.bytes.count < length { return count > 0 }
                guard let frame = SocketFrame(bytes: Data(inbox.bytes.prefix(length))) else { return false }
                inbox.append(frame)
                inbox.bytes = Data(inbox.bytes.dropFirst(length))
            }
            return false
        }
        // Each from the inbox: a run nested in the handler goes on with the next message before it delivers later ones, and after
        // the end of the port none is delivered.
        while lock.withLock({ isOpen }), let frame = inbox.next() { handler(frame, peer) }
        return goesOn
    }

    private func receiveDatagram() {
        guard let (bytes, peer) = SocketCalls.receiveDatagram(descriptor), let frame = SocketFrame(bytes: bytes) else {
            return
        }
        handler(frame, peer)
    }
}
#endif
