// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CLinuxKernel
internal import Foundation
internal import RunLoops

/// The way to one remote port: a connection that is made at the first message and again when the other side has closed
/// it, or a datagram socket.
///
/// All ports with the same signature share it, for as long as one of them lives. Any thread; one message at a time.
final class SocketConnection: @unchecked Sendable {
    private let signature: SocketSignature
    private let lock = NSLock()
    // Guarded by the lock.
    /// -1 for none.
    private var descriptor: Int32 = -1
    /// The process that has made the connection.
    private var generation = ForkGeneration()

    private init(_ signature: SocketSignature) { self.signature = signature }

    deinit {
        drop()
        let signature = signature
        Self.all.withLock { all in if all[signature]?.connection == nil { all[signature] = nil } }
    }

    // MARK: Sharing

    private struct Weak { weak var connection: SocketConnection? }

    private final class Table: @unchecked Sendable {
        private let lock = NSLock()
        private var table: [SocketSignature: Weak] = [:]
        func withLock<Result>(_ body: (inout [SocketSignature: Weak]) -> Result) -> Result {
            lock.withLock { body(&table) }
        }
    }

    private static let all = Table()

    /// The connection to a port.
    static func to(_ signature: SocketSignature) -> SocketConnection {
        all.withLock { all in
            if let connection = all[signature]?.connection { return connection }
            let connection = SocketConnection(signature)
            all[signature] = Weak(connection: connection)
            return connection
        }
    }

    // MARK: Sending

    /// Sends all bytes before `limit`; returns whether that was possible.
    ///
    /// A message that was begun and not ended in time ends the connection: the other side could not tell where the next
    /// message begins.
    func send(_ bytes: Data, before limit: Date) -> Bool {
        lock.withLock {
            guard reach(before: limit) else { return false }
            var sent = 0
            while sent < bytes.count {
                let result = bytes.withUnsafeBytes {
                    rl_socket_send(descriptor, $0.baseAddress.unsafelyUnwrapped + sent, $0.count - sent)
                }
                if result >= 0 {
                    sent += Int(result)
                } else if result != -EAGAIN || !SocketCalls.waitToWrite(descriptor, before: limit) {
                    if sent > 0 || result != -EAGAIN { drop() }
                    return false
                }
            }
            return true
        }
    }

    /// Connects, unless there is a connection; returns whether there is one now.
    private func reach(before limit: Date) -> Bool {
        if descriptor >= 0, !SocketCalls.isClosedByPeer(descriptor) { return true }
        drop()
        guard let made = SocketCalls.make(signature) else { return false }
        (descriptor, generation) = (made, ForkGeneration())
        let result = SocketCalls.connect(made, to: signature.address)
        let hasConnected = result == 0 || result == -EINPROGRESS && SocketCalls.waitToWrite(made, before: limit)
        if hasConnected, rl_socket_take_error(made) == 0 { return true }
        drop()
        return false
    }

    private func drop() {
        if descriptor >= 0 {
            if !generation.isInherited { _ = rl_end_connection(descriptor) }
            SocketCalls.close(descriptor)
        }
        descriptor = -1
    }
}
#endif
