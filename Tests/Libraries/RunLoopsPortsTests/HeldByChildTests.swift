// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsPorts

/// A child between fork and exec holds a copy of each descriptor: what has ended must look ended all the same.
@Suite(.ownThread, .serialized) struct HeldByChildTests {
    @Test(arguments: [0, 2_000, 20_000])
    func `A republished port loses no message while another thread starts programs`(microseconds: UInt32) throws {
        let directory = try TestDirectory()
        let sender = try directory.sender("phoenix")
        let forker = Forker(holding: microseconds)
        defer { forker.end() }
        var answered = 0
        var lookedAlive = 0
        for round in 0..<rounds {
            let server = Server(.sendable { RunLoop.MessagePort.Message(id: $0.id + 1) })
            try server.port.publish(as: "phoenix", in: directory.ports)
            let message = RunLoop.MessagePort.Message(id: Int32(round))
            if let reply = try? TestThread.run({ try sender.request(message, within: plenty) }), reply.id == round + 1 {
                answered += 1
            }
            server.end()
            if !sender.isDead { lookedAlive += 1 }
        }
        #expect(answered == rounds)
        #expect(lookedAlive == 0)
    }

    private var rounds: Int { isFull ? 1000 : 50 }

    @Test func `A released sender is disconnected from its port even if a child holds a copy of its connection`() throws
    {
        let directory = try TestDirectory()
        let server = Server(.sendable { _ in nil })
        defer { server.end() }
        try server.port.publish(as: "server", in: directory.ports)
        let forker = Forker(holding: 2_000)
        defer { forker.end() }
        for _ in 0..<rounds {
            var sender: RunLoop.MessagePort.Sender? = try directory.sender("server")
            try sender?.send(RunLoop.MessagePort.Message(), within: plenty)
            let child = HoldingChild()
            sender = nil
            waitUntil { server.port.lock.withLock { server.port.peers.isEmpty } }
            child.end()
        }
    }

    @Test func `A sender whose connection was never accepted throws noSuchPort after the port is invalidated`() throws {
        let directory = try TestDirectory()
        let forker = Forker(holding: 2_000)
        defer { forker.end() }
        for _ in 0..<rounds {
            // In no loop: nobody accepts.
            let port = RunLoop.MessagePort.sendable { _ in nil }
            try port.publish(as: "silent", in: directory.ports)
            let sender = try directory.sender("silent")
            #expect(throws: RunLoop.PortError.timedOut) {
                try sender.send(RunLoop.MessagePort.Message(), within: .milliseconds(1))
            }
            let child = HoldingChild()
            port.invalidate()
            #expect(throws: RunLoop.PortError.noSuchPort("silent")) {
                try sender.send(RunLoop.MessagePort.Message(), within: plenty)
            }
            child.end()
        }
    }

    @Test func `A connection sent to another process works after its sender is released`() throws {
        let directory = try TestDirectory()
        let heard = Locked<[Int32]>([])
        let target = Server(
            .sendable { message in
                heard.withLock { $0.append(message.id) }
                return nil
            })
        defer { target.end() }
        try target.port.publish(as: "target", in: directory.ports)
        let kept = Locked<RunLoop.MessagePort.Sender?>(nil)
        let relay = Server(
            .sendable { message in
                kept.withLock { $0 = message.replyTo }
                return nil
            })
        defer { relay.end() }
        try relay.port.publish(as: "relay", in: directory.ports)
        func introduce() throws {
            let toTarget = try directory.sender("target")
            try directory.sender("relay").send(RunLoop.MessagePort.Message(replyTo: toTarget), within: plenty)
        }
        try introduce()
        waitUntil { kept.copy != nil && relay.port.lock.withLock { relay.port.peers.isEmpty } }
        try kept.copy?.send(RunLoop.MessagePort.Message(id: 7), within: plenty)
        waitUntil { !heard.copy.isEmpty }
        #expect(heard.copy == [7])
        kept.withLock { $0 = nil }
    }
}
