// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops

extension RunLoop {
    /// A connected stream socket that is closed when the last reference to it is released.
    ///
    /// The other side sees the end at once, after all that was sent: the connection is shut down before the socket is
    /// closed, because a child that another thread has just forked holds a copy until it calls `exec`. The socket is
    /// closed and not shut down where a copy may be meant to stay connected: if the program has read ``descriptor`` or
    /// has adopted the descriptor, or if a child was made by `fork()` meanwhile. To end such a connection for all
    /// processes that have it, call ``SocketStream/finish()`` or `shutdown(2)`.
    ///
    /// ``SocketListener`` and ``SocketConnector`` make sockets, and ``SocketStream`` takes a socket.
    ///
    /// Thread safety: all members may be used by any thread.
    public final class Socket: Sendable, CustomStringConvertible {
        let file: Descriptor

        /// Takes over a connected stream socket from elsewhere, and makes it non-blocking and closed on exec.
        ///
        /// - Parameter descriptor: The descriptor, which is closed with this object and which no other code may close.
        /// - Throws: `EBADF` if the descriptor is not open.
        public init(adopting descriptor: CInt) throws(RunLoop.SystemCallError) {
            try check("fcntl", rl_make_nonblocking(descriptor))
            file = Descriptor(descriptor)
        }

        init(_ file: Descriptor) { self.file = file }

        /// Makes two Unix sockets that are connected to each other.
        ///
        /// - Throws: `EMFILE`, `ENFILE` or `ENOMEM` when a resource of the system is used up.
        public static func pair() throws(RunLoop.SystemCallError) -> (RunLoop.Socket, RunLoop.Socket) {
            var ends: [CInt] = [-1, -1]
            try check("socketpair", rl_socket_pair(&ends))
            return (RunLoop.Socket(Descriptor(connection: ends[0])), RunLoop.Socket(Descriptor(connection: ends[1])))
        }

        /// The number of the descriptor, for reading and setting options, and for giving a copy away; valid as long as
        /// this object lives.
        ///
        /// From now on the end of this object closes the socket and does not shut it down, so that a copy stays
        /// connected.
        public var descriptor: CInt { file.tellNumber() }

        /// The address of the other side; `nil` if the other side has disconnected.
        public var peerAddress: RunLoop.SocketAddress? { try? RunLoop.SocketAddress(of: file.number, peer: true) }

        /// The socket's own address.
        public var localAddress: RunLoop.SocketAddress? { try? RunLoop.SocketAddress(of: file.number, peer: false) }

        /// The descriptor and the other side's address.
        public var description: String {
            "<RunLoop.Socket \(file.number)>{\(peerAddress.map { "to \($0)" } ?? "not connected")}"
        }
    }
}
