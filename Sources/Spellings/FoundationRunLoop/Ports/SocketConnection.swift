// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CRunLoopsKernel
internal import Foundation
internal import RunLoops

/// The connection to one remote port, or a datagram socket.
///
/// The connection is made for the first message, and again after the other side has closed it.
///
/// All ports with the same signature share one object, which lives until the last of the ports is released. Thread
/// safety: any thread; one message is sent at a time.
final class SocketConnection: @unchecked Sendable {
    private let signature: SocketSignature
    private let lock = NSLock()
    // Guarded by the lock.
    /// The descriptor of the socket; -1 for none.
    private var descriptor: Int32 = -1
    /// The process that has made the connection.
    private var generation = ForkGeneration()

    private init(_ signature: SocketSignature) { self.signature = signature }

    deinit {
        drop()
        let signature = signature
        // Another connection may have taken the place. It is not loaded to see that: the loaded reference might be the last, and
        // would end that connection here, under the lock that its end takes.
        Self.all.withLock { all in if all[signature] === place { all[signature] = nil } }
    }

    // MARK: Sharing

    /// The table's entry of one connection.
    ///
    /// Guarded by the table's lock. An object and not a structure with the connection's `ObjectIdentifier`: without optimisation,
    /// Swift 6.3.1 on x86-64 crashes in this program, and runs it with `-O`, with an `Int` in place of the identity, or without it.
    ///
    ///     final class Object {}
    ///     struct Weak { weak var object: Object?; let identity: ObjectIdentifier }
    ///     nonisolated(unsafe) var table: [Int: Weak] = [:]
    ///     func find(_ key: Int) -> Object? { table[key]?.object }
    ///     @main struct Main { static func main() { print(find(7) == nil) } }
    private final class Place {
        weak var connection: SocketConnection?
    }

    private let place = Place()

    private final class Table: @unchecked Sendable {
        private let lock = NSLock()
        private var table: [SocketSignature: Place] = [:]
        func withLock<Result>(_ body: (inout [SocketSignature: Place]) -> Result) -> Result {
            lock.withLock { body(&table) }
        }
    }

    private static let all = Table()

    /// Returns the connection to a port.
    static func to(_ signature: SocketSignature) -> SocketConnection {
        all.withLock { all in
            if let connection = all[signature]?.connection { return connection }
            let connection = SocketConnection(signature)
            connection.place.connection = connection
            all[signature] = connection.place
            return connection
        }
    }

    // MARK: Sending

    /// Sends all bytes before `limit`; returns whether all were sent.
    ///
    /// If a message is sent only in part before `limit`, the connection is closed: the other side could not find the
    /// beginning of the next message.
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

    /// Connects unless there is a connection; returns whether there is a connection afterwards.
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
