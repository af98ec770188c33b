// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import Testing

@testable import RunLoopsEvents

/// Peers of sockets that are slow, silent, flooding or gone: none of them makes the loop wait.
@Suite(.ownThread, .serialized, .leavesNothing) struct BadPeerSocketTests {
    /// A thread whose loop accepts connections, and answers each portion with ten times as much.
    private final class Server: @unchecked Sendable {
        let thread: RunLoopThread
        let heartbeat: Heartbeat
        private let listener: SocketListener
        private let directory = TemporaryDirectory()
        var path: String { directory.path("socket") }

        init() throws {
            thread = try RunLoopThread(name: "server")
            let loop = thread.loop
            listener = try .sendable(on: .unix(directory.path("socket"))) { _, event in
                guard case .accepted(let socket) = event else { return }
                let stream = SocketStream.sendable(socket) { stream, event in
                    switch event {
                    case .received(let bytes):
                        let answer = [UInt8](repeating: 1, count: bytes.count * 10)
                        if !stream.write(answer) { stream.isReadingPaused = true }
                    case .drained: stream.isReadingPaused = false
                    case .ended: stream.finish()
                    case .closed, .failed: break
                    }
                }
                add(stream, to: loop)
            }
            try loop.add(listener, in: .default)
            heartbeat = Heartbeat(on: loop)
        }

        /// A client's blocking socket.
        func connect() throws -> CInt {
            let client = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            let address = try RunLoop.SocketAddress.unix(path)
            let result = address.bytes.withUnsafeBytes {
                rl_socket_connect(client, $0.baseAddress, UInt32($0.count))
            }
            try #require(result == 0)
            return client
        }

        func end(_ peer: String) {
            heartbeat.end(peer)
            listener.invalidate()
            RunLoopsEventsTests.end(thread)
        }
    }

    @Test func `Clients that are silent or read no answers do not stop the loop`() throws {
        let server = try Server()
        let silent = try (0..<20).map { _ in try server.connect() }
        let bytes = [UInt8](repeating: 0, count: 60_000)
        let deaf = try (0..<5).map { _ in
            let client = try server.connect()
            _ = rl_socket_send(client, bytes, bytes.count)
            return client
        }
        #expect(server.heartbeat.goesOn())
        for client in silent + deaf { close(client) }
        #expect(server.heartbeat.goesOn(beats: 1))
        server.end("is silent or reads no answers")
    }

    @Test func `Clients that flood the socket, read slowly or go away do not stop the loop`() throws {
        let server = try Server()
        let isOver = Locked(false)
        let floods = try (0..<3).map { _ in
            let client = try server.connect()
            return TestThread {
                let bytes = [UInt8](repeating: 0, count: 60_000)
                var space = [UInt8](repeating: 0, count: 100)
                while !isOver.copy {
                    _ = rl_socket_send(client, bytes, bytes.count)
                    _ = recv(client, &space, space.count, CInt(MSG_DONTWAIT))
                }
                close(client)
            }
        }
        let leaver = TestThread {
            while !isOver.copy {
                guard let client = try? server.connect() else { continue }
                _ = rl_socket_send(client, "x", 1)
                close(client)
            }
        }
        #expect(server.heartbeat.goesOn())
        isOver.withLock { $0 = true }
        for thread in floods + [leaver] { thread.join() }
        server.end("floods the socket, reads slowly or goes away")
    }

    @Test func `A stream does not wait on a socket that another process has made blocking`() throws {
        let pair = DescriptorPair.sockets()
        _ = fcntl(pair.first, F_SETFL, 0)
        var flow = StreamFlow(highWaterMark: 1 << 20)
        #expect(flow.read(pair.first) == nil && flow.failure == nil)
        flow.write([UInt8](repeating: 0, count: 1 << 20), to: pair.first)
        #expect(!flow.output.isEmpty && flow.failure == nil)
        _ = flow.send(pair.first)
        pair.send("abc")
        #expect(flow.read(pair.first) == .received(Array("abc".utf8)))
    }

    @Test func `A service manager that reads no states does not stop the loop`() throws {
        let directory = TemporaryDirectory()
        let manager = ServiceManagerStandIn(directory.path("notify"))
        let notify = try NotifySocket(manager.path)
        let thread = try RunLoopThread(name: "service")
        let heartbeat = Heartbeat(on: thread.loop)
        let refusals = Locked(0)
        let timer = RunLoop.Timer.sendable(.every(.milliseconds(1))) { _ in
            do { try notify.send(.watchdog) } catch { refusals.withLock { $0 += 1 } }
        }
        thread.loop.add(timer, in: .default)
        // The manager's queue is full.
        waitUntil { refusals.copy > 0 }
        #expect(heartbeat.goesOn())
        timer.invalidate()
        heartbeat.end("reads no states")
        end(thread)
    }
}
