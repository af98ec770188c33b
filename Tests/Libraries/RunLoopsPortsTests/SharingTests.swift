// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsPorts

/// More senders than a port may have connections: they take turns, and nothing is lost, doubled or out of order.
@Suite(.ownThread) struct SharingTests {
    /// The ids of the messages that have come, by the first byte.
    private final class Log: Sendable {
        private let ids = Locked<[UInt8: [Int32]]>([:])

        func note(_ message: RunLoop.MessagePort.Message) {
            ids.withLock { $0[message.bytes.first ?? 0, default: []].append(message.id) }
        }

        var count: Int { ids.withLock { $0.values.reduce(0) { $0 + $1.count } } }
        subscript(sender: UInt8) -> [Int32] { ids.withLock { $0[sender] ?? [] } }
    }

    @Test(arguments: [1, 2, 3]) func `If there are more senders than connections, all senders can send in turn`(
        limit: Int
    ) throws {
        let directory = try TestDirectory()
        let log = Log()
        let server = Server(
            .sendable(limits: .init(peers: limit)) {
                log.note($0)
                return nil
            })
        try server.port.publish(as: "small", in: directory.ports)
        let senders = try (0..<5).map { _ in try directory.sender("small") }
        for round in Int32(0)..<20 {
            for (index, sender) in senders.enumerated() {
                try sender.send(RunLoop.MessagePort.Message(id: round, bytes: [UInt8(index)]), within: plenty)
                // The others have lost their connections, and the port has not gone.
                for sender in senders { #expect(!sender.isDead) }
            }
        }
        waitUntil { log.count == 100 }
        for index in senders.indices { #expect(log[UInt8(index)] == Array(0..<20)) }
        server.end()
        // Other tests start processes, which have copies of the sockets for a moment.
        waitUntil { senders.contains { $0.isDead } }
        for sender in senders {
            waitUntil { (try? sender.send(RunLoop.MessagePort.Message(), within: plenty)) == nil }
        }
    }

    @Test func `Senders of many threads share one connection`() throws {
        let directory = try TestDirectory()
        let log = Log()
        let server = Server(
            .sendable(limits: .init(peers: 1)) {
                log.note($0)
                return nil
            })
        try server.port.publish(as: "narrow", in: directory.ports)
        let threads = try (0..<4).map { index in
            let sender = try directory.sender("narrow")
            return TestThread {
                for id in Int32(0)..<25 {
                    do {
                        try sender.send(.init(id: id, bytes: [UInt8(index)]), within: plenty)
                    } catch {
                        // Others were faster a hundred times.
                        #expect(error as? RunLoop.PortError == .full)
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        server.port.invalidate()
        server.end()
        for index in UInt8(0)..<4 {
            #expect(log[index] == log[index].sorted())
            #expect(Set(log[index]).count == log[index].count)
        }
    }

    @Test func `A connection closed to make room delivers its messages before its sender reconnects`() throws {
        let directory = try TestDirectory()
        let (log, permit) = (Log(), Permit())
        let server = Server(
            .sendable(limits: .init(peers: 1)) { message in
                if message.bytes == [0], message.id == 0 { permit.wait() }
                log.note(message)
                return nil
            })
        try server.port.publish(as: "orderly", in: directory.ports)
        let first = try directory.sender("orderly")
        // More than are taken from a connection at a time.
        for id in Int32(0)..<100 { try first.send(RunLoop.MessagePort.Message(id: id, bytes: [0]), within: plenty) }
        // The connection of another process, which takes the only place while the port is busy.
        let (here, there) = try PortSocket.pair()
        try server.port.admit(here, of: -1)
        let thread = TestThread {
            for id in Int32(100)..<200 {
                do { try first.send(RunLoop.MessagePort.Message(id: id, bytes: [0]), within: plenty) } catch {
                    Issue.record("\(error)")
                }
            }
        }
        permit.signal()
        thread.join()
        withExtendedLifetime(there) {}
        waitUntil { log.count == 200 }
        #expect(log[0] == Array(0..<200))
        server.end()
    }

    @Test func `Messages sent before a connection ends are delivered even if the sender has not read the greeting`()
        throws
    {
        let directory = try TestDirectory()
        let (log, permit) = (Log(), Permit())
        let server = Server(
            .sendable { message in
                if message.id == 0 { permit.wait() }
                log.note(message)
                return nil
            })
        try server.port.publish(as: "hasty", in: directory.ports)
        do {
            let socket = try PortSocket.make()
            #expect(rl_port_connect(socket.number, directory.ports.path(of: "hasty.port"), .max) == 0)
            #expect(socket.wait(1, until: Deadline.never))
            for id in Int32(0)..<100 {
                let message = RunLoop.MessagePort.Message(id: id, bytes: [0])
                #expect(try socket.send(Frame(.message, id: id, length: 1), message) == .done)
            }
            // The end of the socket: the kernel tells the other side of a reset, since the greeting is unread.
        }
        permit.signal()
        waitUntil { log.count == 100 }
        #expect(log[0] == Array(0..<100))
        server.end()
    }

    @Test func `An answer reaches its asker even if the connection of the request was closed to make room`() throws {
        let directory = try TestDirectory()
        let (kept, permit) = (Locked<RunLoop.MessagePort.Sender?>(nil), Permit())
        let server = Server(
            .sendable(limits: .init(peers: 1)) { message in
                if message.id == 1 {
                    kept.withLock { $0 = message.replyTo }
                    permit.signal()
                }
                return nil
            })
        try server.port.publish(as: "late", in: directory.ports)
        let (asking, other) = (try directory.sender("late"), try directory.sender("late"))
        let asker = TestThread {
            do {
                #expect(try asking.request(RunLoop.MessagePort.Message(id: 1), within: plenty).id == 2)
            } catch {
                Issue.record("\(error)")
            }
        }
        permit.wait()
        try other.send(RunLoop.MessagePort.Message(id: 3), within: plenty)
        let replyTo = try #require(kept.withLock { $0.take() })
        try replyTo.send(RunLoop.MessagePort.Message(id: 2), within: plenty)
        asker.join()
        server.end()
    }
}
