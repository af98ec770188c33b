// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsEvents

/// Addresses whose bytes could be taken for something else, and a socket that meets itself.
@Suite(.ownThread, .leavesNothing) struct SocketEdgeTests {
    @Test func `A path with a zero byte is refused, and an abstract name may contain one`() throws {
        for path in ["s\0other", "s\0"] {
            #expect(throws: RunLoop.SystemCallError(call: "sockaddr_un", code: EINVAL)) {
                try RunLoop.SocketAddress.unix(path)
            }
        }
        #expect(try RunLoop.SocketAddress.unix("\0s\0other").description == "@s@other")
        #expect(throws: RunLoop.SystemCallError(call: "inet_pton", code: EINVAL)) {
            try RunLoop.SocketAddress.internet("127.0.0.1\0.example.org", port: 80)
        }
    }

    @Test(.needsOwnWorkingDirectory)
    func `A listener at a path that begins with an at sign accepts connections and removes its file`() throws {
        try withLoop { loop in
            // The directory of this thread alone.
            #expect(makeOwnWorkingDirectory())
            let directory = TemporaryDirectory()
            #expect(chdir(directory.path) == 0)
            let address = try RunLoop.SocketAddress.unix("@x")
            #expect(address.path == "@x")
            #expect(address.description == "./@x")
            #expect(try RunLoop.SocketAddress.unix("\0x").description == "@x")
            try connect(loop, address) { #expect(chdir("/") == 0) }
            #expect(access(directory.path("@x"), F_OK) != 0)
        }
    }

    @Test func `A listener at a path that is not UTF-8 accepts connections, and the path is available as bytes`() throws
    {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let path = directory.path(FileNames.notUTF8)
            let address = try RunLoop.SocketAddress.unix(bytes: path)
            #expect(address.pathBytes == path)
            try connect(loop, address)
            #expect(access(cText(path), F_OK) != 0)
        }
    }

    @Test func `A socket that the system has connected to itself is reported as refused`() throws {
        try withLoop { loop in
            let file = Descriptor(connection: try check("socket", rl_socket_create(AF_INET)))
            let free = RunLoop.SocketAddress.loopback()
            let bound = free.bytes.withUnsafeBytes {
                bind(file.number, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t($0.count))
            }
            #expect(bound == 0)
            let address = try RunLoop.SocketAddress(of: file.number, peer: false)
            let outcomes = Box<[SocketConnector.Outcome]>([])
            let connector = SocketConnector(file, address, .here(nil, #fileID, #line)) { _, outcome in
                outcomes.value.append(outcome)
            }
            add(connector, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(outcomes.value.count == 1)
            #expect(throws: RunLoop.SystemCallError(call: "connect", code: ECONNREFUSED)) {
                _ = try outcomes.value.first?.get()
            }
        }
    }

    /// Listens at an address, connects to it, and ends both.
    private func connect(_ loop: RunLoop, _ address: RunLoop.SocketAddress, beforeEnd: () -> Void = {}) throws {
        let listener = try SocketListener(on: address) { listener, event in
            if case .accepted = event { loop.stop() }
        }
        add(listener, to: loop)
        let connector = try SocketConnector(to: listener.address) { _, outcome in
            #expect(throws: Never.self) { try outcome.get() }
        }
        add(connector, to: loop)
        #expect(loop.runPlenty() == .stopped)
        beforeEnd()
        listener.invalidate()
        loop.runUntilIdle()
    }
}
