// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsPorts

/// Peers that are slow, silent, flooding or gone: none of them makes the loop of the port wait.
@Suite(.ownThread, .serialized) struct BadPeerTests {
    @Test func `A client that does not read its answers stops neither the loop nor another thread's wait for room`()
        throws
    {
        let directory = try TestDirectory()
        let replyTo = Locked<RunLoop.MessagePort.Sender?>(nil)
        let server = Server(
            .sendable { message in
                if message.id == 0 { replyTo.withLock { $0 = message.replyTo } }
                return message.id == 0 ? nil : .init(id: message.id, bytes: [UInt8](repeating: 1, count: 60_000))
            })
        try server.port.publish(as: "server", in: directory.ports)
        let heartbeat = Heartbeat(on: server.loop)
        let received = Locked<[Int32]>([])
        // In no loop yet, so that it reads nothing.
        let replies = RunLoop.MessagePort.sendable { message in
            received.withLock { $0.append(message.id) }
            return nil
        }
        let client = try directory.sender("server")
        try client.send(.init(id: 0, replyTo: replies.sender), within: plenty)
        waitUntil { replyTo.withLock { $0 != nil } }
        let sent = Locked<Int32>(0)
        let waiting = Locked<Int32>(0)
        let thread = TestThread {
            guard let sender = replyTo.copy else { return }
            let bytes = [UInt8](repeating: 2, count: 60_000)
            do {
                while true {
                    try sender.send(.init(id: -1 - sent.copy, bytes: bytes), within: .zero)
                    sent.withLock { $0 += 1 }
                }
            } catch { #expect(error as? RunLoop.PortError == .full) }
            waiting.withLock { $0 = SystemCalls.threadID }
            do { try sender.send(.init(id: -1 - sent.copy, bytes: bytes), within: plenty) } catch {
                Issue.record("\(error)")
            }
            sent.withLock { $0 += 1 }
        }
        waitUntil { waiting.copy != 0 && threadStatus(waiting.copy, "State:")?.hasPrefix("S") == true }
        // The answers find no room while the other thread waits for room.
        for id in Int32(1)...3 { try client.send(.init(id: id, replyTo: replies.sender), within: plenty) }
        #expect(heartbeat.goesOn())
        // Now it reads: nothing is lost, and each thread's messages are in order.
        let reader = Server(replies)
        thread.join()
        waitUntil { received.copy.count == Int(sent.copy) + 3 }
        #expect(received.copy.filter { $0 > 0 } == [1, 2, 3])
        #expect(received.copy.filter { $0 < 0 } == (1...sent.copy).map { -$0 })
        replyTo.withLock { $0 = nil }
        heartbeat.end("reads no answers")
        reader.end()
        server.end()
    }

    @Test func `A reply that brings along a port that accepts no connection does not stop the loop`() throws {
        let directory = try TestDirectory()
        // In no loop: nobody accepts.
        let silent = RunLoop.MessagePort.sendable { _ in nil }
        try silent.publish(as: "silent", in: directory.ports)
        let named = try directory.sender("silent")
        let server = Server(.sendable { RunLoop.MessagePort.Message(id: $0.id, replyTo: $0.id == 1 ? named : nil) })
        try server.port.publish(as: "server", in: directory.ports)
        let heartbeat = Heartbeat(on: server.loop)
        let received = Locked<[Int32]>([])
        let replies = Server(
            .sendable { message in
                received.withLock { $0.append(message.id) }
                return nil
            })
        let client = try directory.sender("server")
        for id in Int32(1)...2 { try client.send(.init(id: id, replyTo: replies.port.sender), within: plenty) }
        #expect(heartbeat.goesOn())
        waitUntil { received.copy.last == 2 }
        heartbeat.end("accepts no connection")
        replies.end()
        server.end()
        silent.invalidate()
    }

    @Test func `A request to a port that accepts no connection or reads no messages lets its own loop run`() throws {
        let directory = try TestDirectory()
        let accepted = Locked<[Int32]>([])
        let port = RunLoop.MessagePort.sendable { message in
            accepted.withLock { $0.append(message.id) }
            return RunLoop.MessagePort.Message(id: message.id)
        }
        try port.publish(as: "late", in: directory.ports)
        // In no loop: no connection is accepted until 20 beats of the asker's own loop have passed.
        let server = Locked<Server?>(nil)
        func ask(_ id: Int32, _ sender: RunLoop.MessagePort.Sender, _ afterBeats: @escaping @Sendable () -> Void) throws
        {
            let reply = try TestThread.run {
                let ticks = Box(0)
                let timer = RunLoop.Timer(.every(.milliseconds(1))) { timer in
                    ticks.value += 1
                    guard ticks.value == 20 else { return }
                    timer.invalidate()
                    afterBeats()
                }
                RunLoop.current.add(timer, in: .default)
                defer { timer.invalidate() }
                return try sender.request(.init(id: id), within: plenty, in: .default)
            }
            #expect(reply.id == id)
        }
        try ask(1, try directory.sender("late")) { server.withLock { $0 = Server(port) } }
        server.copy?.end()

        // In this process, with a queue that is full.
        let narrow = RunLoop.MessagePort.sendable(limits: .init(queue: 1)) { RunLoop.MessagePort.Message(id: $0.id) }
        try narrow.sender.send(.init(id: 2), within: .zero)
        try ask(3, narrow.sender) { server.withLock { $0 = Server(narrow) } }
        server.copy?.end()
        #expect(accepted.copy == [1])
    }

    @Test func `A request that cannot be sent in time ends its wait with the error`() throws {
        let directory = try TestDirectory()
        let silent = RunLoop.MessagePort.sendable { _ in nil }
        try silent.publish(as: "silent", in: directory.ports)
        let sender = try directory.sender("silent")
        #expect(throws: RunLoop.PortError.timedOut) {
            try TestThread.run { try sender.request(.init(), within: .milliseconds(50)) }
        }
        // The port ends while a separate thread waits for it.
        #expect(throws: RunLoop.PortError.self) {
            try TestThread.run {
                let timer = RunLoop.Timer(.after(.milliseconds(20))) { _ in silent.invalidate() }
                RunLoop.current.add(timer, in: .default)
                return try sender.request(.init(), within: plenty, in: .default)
            }
        }
    }

    @Test func `Clients that are silent, send half a frame or go away do not stop the loop`() throws {
        let directory = try TestDirectory()
        let server = Server(.sendable { RunLoop.MessagePort.Message(id: $0.id) })
        try server.port.publish(as: "server", in: directory.ports)
        let heartbeat = Heartbeat(on: server.loop)
        let path = directory.ports.path(of: "server.port")
        let silent = try (0..<20).map { _ in
            let socket = try PortSocket.make()
            #expect(rl_port_connect(socket.number, path, .max) == 0)
            return socket
        }
        let isOver = Locked(false)
        let leaver = TestThread {
            while !isOver.copy {
                guard let socket = try? PortSocket.make() else { continue }
                if rl_port_connect(socket.number, path, .max) != 0 { continue }
                _ = rl_port_send(socket.number, [0x52, 0x50], 2, nil, 0, nil, 0)
            }
        }
        #expect(heartbeat.goesOn())
        isOver.withLock { $0 = true }
        leaver.join()
        withExtendedLifetime(silent) {}
        let sender = try directory.sender("server")
        #expect(try TestThread.run { try sender.request(.init(id: 5), within: plenty) }.id == 5)
        heartbeat.end("is silent, sends half a frame or goes away")
        server.end()
    }

    @Test func `Clients that flood the port do not stop the loop`() throws {
        let directory = try TestDirectory()
        let server = Server(.sendable { RunLoop.MessagePort.Message(id: $0.id, bytes: $0.bytes) })
        try server.port.publish(as: "server", in: directory.ports)
        let heartbeat = Heartbeat(on: server.loop)
        let isOver = Locked(false)
        let replies = RunLoop.MessagePort.sendable { _ in nil }
        let floods = try (0..<4).map { index in
            let sender = try directory.sender("server")
            let (size, replyTo) = (index.isMultiple(of: 2) ? 16 : 60_000, index < 2 ? nil : replies.sender)
            return TestThread {
                let bytes = [UInt8](repeating: 0, count: size)
                while !isOver.copy {
                    try? sender.send(.init(bytes: bytes, replyTo: replyTo), within: .milliseconds(10))
                }
            }
        }
        #expect(heartbeat.goesOn())
        isOver.withLock { $0 = true }
        for flood in floods { flood.join() }
        heartbeat.end("floods the port")
        replies.invalidate()
        server.end()
    }
}
