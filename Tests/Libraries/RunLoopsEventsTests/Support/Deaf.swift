// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsEvents

/// A TCP address that answers no connection: a listening socket whose backlog is full, as of a machine that drops what it receives.
final class DeafAddress {
    let address: RunLoop.SocketAddress
    private var kept: [Descriptor] = []

    /// Listens on a port of `host`, and fills the backlog.
    init(_ host: String) throws {
        let wanted = try RunLoop.SocketAddress.internet(host, port: 0)
        let listener = Descriptor(try check("socket", rl_socket_create(wanted.family)))
        try wanted.bytes.withUnsafeBytes {
            _ = try check("listen", rl_socket_listen(listener.number, $0.baseAddress, UInt32($0.count), 0))
        }
        address = try RunLoop.SocketAddress(of: listener.number, peer: false)
        kept = [listener]
        // The kernel drops the requests of further clients when one connection waits; two attempts more make sure of it.
        for _ in 0..<3 {
            let client = Descriptor(try check("socket", rl_socket_create(wanted.family)))
            let result = address.bytes.withUnsafeBytes {
                rl_socket_connect(client.number, $0.baseAddress, UInt32($0.count))
            }
            kept.append(client)
            var wait = pollfd(fd: client.number, events: Int16(POLLOUT), revents: 0)
            if result != 0, poll(&wait, 1, 50) == 0 { return }
        }
    }

    /// Accepts the connections that wait, so that the address answers from now on.
    func answer() {
        let listener = kept[0]
        // The clients that filled the backlog would take the place that becomes free.
        kept = [listener]
        while case let number = rl_socket_accept(listener.number), number >= 0 { _ = Descriptor(number) }
    }
}

/// Whether a socket of this machine can have an IPv6 address.
let hasIPv6 = (try? DeafAddress("::1")) != nil
