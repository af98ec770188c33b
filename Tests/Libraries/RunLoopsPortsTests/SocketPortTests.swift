// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsPorts

/// Ports over sockets, both ends in this process.
@Suite(.ownThread, .serialized) struct SocketPortTests {
    @Test func `Messages arrive once each and in order`() throws {
        let directory = try TestDirectory()
        let number = 20_000
        let next = Locked<Int32>(0)
        let disorder = Locked(0)
        let done = Permit()
        let server = Server(
            .sendable { message in
                next.withLock {
                    if message.id != $0 || message.text != "message \(message.id)" { disorder.withLock { $0 += 1 } }
                    $0 += 1
                    if $0 == number { done.signal() }
                }
                return nil
            })
        try server.port.publish(as: "order", in: directory.ports)
        let sender = try directory.sender("order")
        for id in 0..<Int32(number) {
            try sender.send(RunLoop.MessagePort.Message(id: id, text: "message \(id)"), within: plenty)
        }
        done.wait()
        #expect(disorder.withLock { $0 } == 0)
        server.end()
        #expect(sender.isDead)
        #expect(throws: RunLoop.PortError.dead) { try sender.send(RunLoop.MessagePort.Message(), within: plenty) }
    }

    @Test func `Each of several concurrent requests gets its reply`() throws {
        let directory = try TestDirectory()
        let server = Server(.sendable { RunLoop.MessagePort.Message(id: $0.id, text: "reply to \($0.text)") })
        try server.port.publish(as: "ask", in: directory.ports)
        let sender = try directory.sender("ask")
        let threads = (0..<4).map { thread in
            TestThread {
                for number in 0..<200 {
                    do {
                        let id = Int32(thread * 1000 + number)
                        let reply = try sender.request(
                            RunLoop.MessagePort.Message(id: id, text: "\(id)"), within: plenty)
                        if reply.id != id || reply.text != "reply to \(id)" { Issue.record("\(id): \(reply)") }
                    } catch { Issue.record("\(error)") }
                }
            }
        }
        for thread in threads { thread.join() }
        server.end()
    }

    @Test func `A request throws if its message is dropped or the port ends`() throws {
        let directory = try TestDirectory()
        let kept = Locked<RunLoop.MessagePort.Message?>(nil)
        let server = Server(
            .sendable { message in
                if message.id == 1 { kept.withLock { $0 = message } }
                return nil
            })
        try server.port.publish(as: "gone", in: directory.ports)
        let sender = try directory.sender("gone")
        #expect(throws: RunLoop.PortError.noReply) {
            try TestThread.run { try sender.request(RunLoop.MessagePort.Message(id: 0), within: plenty) }
        }
        let asker = TestThread {
            #expect(throws: RunLoop.PortError.dead) {
                try sender.request(RunLoop.MessagePort.Message(id: 1), within: plenty)
            }
        }
        waitUntil { kept.withLock { $0 != nil } }
        server.end()
        kept.withLock { $0 = nil }
        asker.join()
    }

    @Test func `Replies are kept in order until they are read, and none is lost`() throws {
        let directory = try TestDirectory()
        let number = 3000
        let server = Server(
            .sendable { RunLoop.MessagePort.Message(id: $0.id, bytes: [UInt8](repeating: 1, count: 2000)) })
        try server.port.publish(as: "slow", in: directory.ports)
        let sender = try directory.sender("slow")
        try TestThread.run {
            var next: Int32 = 0
            var disorder = 0
            let replies = RunLoop.MessagePort { reply in
                if reply.id != next || reply.bytes.count != 2000 { disorder += 1 }
                next += 1
                return nil
            }
            try RunLoop.current.add(replies, in: .default)
            let asker = TestThread { [replyTo = replies.sender] in
                for id in 0..<Int32(number) {
                    do { try sender.send(RunLoop.MessagePort.Message(id: id, replyTo: replyTo), within: plenty) } catch
                    {
                        Issue.record("\(error)")
                    }
                }
            }
            // Some are surely waiting before the first is read; how many does not matter.
            usleep(50_000)
            while next < number { RunLoop.current.run(in: .default, for: plenty, returnsAfterSource: true) }
            asker.join()
            #expect(disorder == 0)
            replies.invalidate()
        }
        server.end()
    }

    @Test func `Every reply is delivered, even if the asker has closed the connection of its requests`() throws {
        let directory = try TestDirectory()
        let number: Int32 = 300
        let server = Server(
            .sendable { RunLoop.MessagePort.Message(id: $0.id, bytes: [UInt8](repeating: 1, count: 8000)) })
        try server.port.publish(as: "leaving", in: directory.ports)
        try TestThread.run {
            var next: Int32 = 0
            let replies = RunLoop.MessagePort { reply in
                if reply.id == next { next += 1 }
                return nil
            }
            try RunLoop.current.add(replies, in: .default)
            // On another thread: this one has to read, or there is room for nothing more at some time.
            let asker = TestThread { [replyTo = replies.sender] in
                do {
                    let sender = try directory.sender("leaving")
                    for id in 0..<number {
                        try sender.send(RunLoop.MessagePort.Message(id: id, replyTo: replyTo), within: plenty)
                    }
                } catch { Issue.record("\(error)") }
            }
            usleep(20_000)
            while next < number { RunLoop.current.run(in: .default, for: plenty, returnsAfterSource: true) }
            asker.join()
            replies.invalidate()
        }
        server.end()
    }

    @Test func `A sender finds a republished port again`() throws {
        let directory = try TestDirectory()
        let sender = try directory.sender("phoenix")
        for round in 0..<20 {
            let server = Server(.sendable { RunLoop.MessagePort.Message(id: $0.id + 1) })
            try server.port.publish(as: "phoenix", in: directory.ports)
            let reply = try TestThread.run {
                try sender.request(RunLoop.MessagePort.Message(id: Int32(round)), within: plenty)
            }
            #expect(reply.id == Int32(round) + 1)
            server.end()
        }
    }

    @Test func `A sender without permission gets notPermitted and other senders work`() throws {
        let directory = try TestDirectory()
        let server = Server(.sendable { RunLoop.MessagePort.Message(id: $0.id) })
        try server.port.publish(as: "closed", in: directory.ports, access: .users([12_345]))
        try server.port.publish(as: "open", in: directory.ports)
        let refused = try directory.sender("closed")
        for _ in 0..<3 {
            #expect(throws: RunLoop.PortError.notPermitted) {
                try refused.send(RunLoop.MessagePort.Message(), within: plenty)
            }
        }
        // The other way round: a sender that does not trust the owner.
        let wary = try directory.sender("open", owner: .users([12_345]))
        #expect(throws: RunLoop.PortError.notPermitted) { try wary.send(RunLoop.MessagePort.Message(), within: plenty) }
        let sender = try directory.sender("open")
        #expect(try TestThread.run { try sender.request(RunLoop.MessagePort.Message(id: 3), within: plenty) }.id == 3)
        server.end()
    }

    @Test func `A sender whose timeout passes throws timedOut and can send later`() throws {
        let directory = try TestDirectory()
        let port = RunLoop.MessagePort.sendable { _ in nil }
        try port.publish(as: "quick", in: directory.ports)
        let sender = try directory.sender("quick")
        #expect(throws: RunLoop.PortError.timedOut) { try sender.send(RunLoop.MessagePort.Message(), within: .zero) }
        #expect(throws: RunLoop.PortError.timedOut) {
            try sender.send(RunLoop.MessagePort.Message(), within: .milliseconds(5))
        }
        let server = Server(port)
        waitUntil { (try? sender.send(RunLoop.MessagePort.Message(), within: .zero)) != nil }
        server.end()
    }

    @Test func `A send to a full queue throws full without a timeout and timedOut after its timeout`() throws {
        let directory = try TestDirectory()
        let inside = Permit()
        let go = Permit()
        let server = Server(
            .sendable { _ in
                inside.signal()
                go.wait()
                return nil
            })
        try server.port.publish(as: "full", in: directory.ports)
        let sender = try directory.sender("full")
        try sender.send(RunLoop.MessagePort.Message(), within: plenty)
        inside.wait()
        let message = RunLoop.MessagePort.Message(bytes: [UInt8](repeating: 0, count: 60_000))
        #expect(throws: RunLoop.PortError.full) { while true { try sender.send(message, within: .zero) } }
        #expect(throws: RunLoop.PortError.timedOut) { try sender.send(message, within: .milliseconds(5)) }
        server.port.invalidate()
        go.signal()
        server.end()
    }

    @Test func `A malformed frame disconnects its peer and no other`() throws {
        let directory = try TestDirectory()
        let server = Server(.sendable { RunLoop.MessagePort.Message(id: $0.id) })
        try server.port.publish(as: "picky", in: directory.ports)
        let sender = try directory.sender("picky")
        try TestThread.run { _ = try sender.request(RunLoop.MessagePort.Message(), within: plenty) }
        var random = SeededRandom(9)
        for round in 0..<100 {
            let bad = try PortSocket.make()
            #expect(rl_port_connect(bad.number, directory.ports.path(of: "picky.port"), .max) == 0)
            let bytes = badPacket(round, &random)
            let pipe = try PortSocket.pair()
            // With descriptors, which must not stay open: see the count in another test.
            let passed = [pipe.0.number, pipe.1.number]
            let result = rl_port_send(bad.number, bytes, bytes.count, nil, 0, passed, CInt(round % 3))
            // EPIPE: dropped already, since what was sent before the greeting counts like any other.
            #expect(result == 0 || result == -EPIPE)
            // It is dropped: after the greeting comes the end.
            waitUntil { bad.hasHungUp }
        }
        // Peers that go away before, in and after the greeting.
        for _ in 0..<20 {
            let gone = try PortSocket.make()
            #expect(rl_port_connect(gone.number, directory.ports.path(of: "picky.port"), .max) == 0)
        }
        #expect(try TestThread.run { try sender.request(RunLoop.MessagePort.Message(id: 5), within: plenty) }.id == 5)
        server.end()
    }

    private func badPacket(_ round: Int, _ random: inout SeededRandom) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: Frame.headerSize)
        func frame(_ frame: Frame) { header.withUnsafeMutableBytes { frame.write(to: $0) } }
        switch round % 6 {
        // Half a frame: gone in the middle of a message.
        case 0:
            frame(Frame(.message, length: 10))
            return Array(header.prefix(17))
        case 1: frame(Frame(.message, length: 10))
        case 2: frame(Frame(.reply, serial: 1))
        case 3: frame(Frame(.message, serial: 1, handle: 4711))
        case 4: frame(Frame(.welcome, handle: 10))
        // Longer than anything that is taken.
        default: return (0..<70_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
        return header
    }

    @Test(.needsDescriptors(2000)) func `A port receives the messages of a thousand peers`() throws {
        let directory = try TestDirectory()
        let received = Locked([Int32: Int]())
        let server = Server(
            .sendable { message in
                received.withLock { $0[message.id, default: 0] += 1 }
                return nil
            })
        try server.port.publish(as: "busy", in: directory.ports)
        let senders = try (0..<1000).map { _ in try directory.sender("busy") }
        for round in 0..<2 {
            for (index, sender) in senders.enumerated() {
                try sender.send(RunLoop.MessagePort.Message(id: Int32(round * 1000 + index)), within: plenty)
            }
        }
        waitUntil { received.withLock { $0.count == 2000 } }
        #expect(received.withLock { $0.values.allSatisfy { $0 == 1 } })
        server.end()
    }

    @Test func `A message refused for its dead reply port does not change the order of the other messages`() throws {
        let directory = try TestDirectory()
        let (received, permit) = (Locked<[Int32]>([]), Permit())
        let server = Server(
            .sendable { message in
                if message.id == 0 { permit.wait() }
                received.withLock { $0.append(message.id) }
                return nil
            })
        try server.port.publish(as: "orderly", in: directory.ports)
        let sender = try directory.sender("orderly")
        // More than are taken from a connection at a time, so that a second connection would overtake.
        for id in 0..<Int32(50) { try sender.send(RunLoop.MessagePort.Message(id: id), within: plenty) }
        let gone = RunLoop.MessagePort.sendable { _ in nil }
        gone.invalidate()
        let refused = RunLoop.MessagePort.Message(replyTo: gone.sender)
        // Without a wait: a new connection would have to be made first.
        #expect(throws: RunLoop.PortError.dead) { try sender.send(refused) }
        permit.signal()
        for id in Int32(50)..<100 { try sender.send(RunLoop.MessagePort.Message(id: id), within: plenty) }
        waitUntil { received.withLock { $0.count == 100 } }
        #expect(received.copy == Array(0..<100))
        server.end()
    }
}
