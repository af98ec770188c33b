// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsSystem
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

@Suite("Misbehaving clients", .ownThread)
struct InspectorGarbageTests {
    private func answers(_ inspector: TestInspector) -> Bool {
        // Places are given back when the inspector's thread has seen a client go.
        while true {
            if let client = try? inspector.connect(), (try? client.dump(within: plenty)) != nil { return true }
        }
    }

    @Test func `random bytes are refused and the next client is served`() throws {
        let inspector = try TestInspector()
        let thread = InspectedThread(inspector)
        var random = SeededRandom(3)
        for _ in 0..<(isFull ? 20_000 : 500) {
            let client = try? inspector.connectRaw()
            let length = Int.random(in: 0...600, using: &random)
            client?.send((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
        }
        #expect(answers(inspector))
        thread.turn()
        thread.end()
    }

    @Test func `nearly correct requests are refused or answered, and the next client is served`() throws {
        let inspector = try TestInspector()
        let thread = InspectedThread(inspector)
        let lines = ["loops", "dump", "statistics", "record 16", "recorded"].map {
            Array("runloop-inspect/3 \($0)\n".utf8)
        }
        var random = SeededRandom(4)
        for _ in 0..<(isFull ? 20_000 : 500) {
            guard let client = try? inspector.connectRaw() else { continue }
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                guard var line = lines.randomElement(using: &random) else { continue }
                let place = Int.random(in: line.indices, using: &random)
                if random.oneIn(2) { line[place] = .random(in: 0...255, using: &random) }
                client.send(line)
            }
        }
        #expect(answers(inspector))
        thread.turn()
        thread.end()
        waitUntil { inspector.server.loops.followerCount == 0 }
    }

    @Test func `requests are not answered if the client cannot take the answer of an earlier request`() throws {
        let inspector = try TestInspector()
        let ends = DescriptorPair.sockets()
        let connection = InspectorConnection(
            PrivateDescriptor(adopting: rl_port_duplicate(ends.first)), inspector.server.loops,
            InspectorConnection.Patience())
        let client = RawClient(PrivateDescriptor(adopting: rl_port_duplicate(ends.second)))
        client.send("runloop-inspect/3 loops\nrunloop-inspect/3 loops\n")
        _ = rl_end_connection(client.socket.number)
        // Without POLLHUP, as poll(2) reports it if the client goes later.
        #expect(!connection.serve(Int16(POLLIN)))
    }

    @Test func `a client that disconnects during an answer blocks no other`() throws {
        let inspector = try TestInspector()
        let thread = InspectedThread(inspector) { loop in
            // An answer that no socket's buffer takes whole.
            for index in 0..<5000 { loop.add(RunLoop.Source(label: "source \(index)") { _ in }, in: .default) }
        }
        for index in 0..<(isFull ? 2000 : 40) {
            let client = try? inspector.connectRaw()
            client?.send("runloop-inspect/3 dump\n")
            guard index.isMultiple(of: 2), let number = client?.socket.number else { continue }
            _ = rl_port_wait(number, Int16(POLLIN), InspectorClient.deadline(.milliseconds(1)))
        }
        #expect(answers(inspector))
        let description = try #require(try inspector.connect().dump(within: plenty).loops.first?.description)
        #expect(description.contains("source 4999"))
        thread.end()
    }

    @Test func `a request that is too long is refused`() throws {
        let inspector = try TestInspector()
        let client = try inspector.connectRaw()
        client.send([UInt8](repeating: UInt8(ascii: "a"), count: InspectorProtocol.maxRequestLength))
        #expect(client.readToEnd().hasSuffix("the request is too long"))
    }

    @Test func `pipelined requests are answered in order`() throws {
        let inspector = try TestInspector()
        let client = try inspector.connectRaw()
        client.send("runloop-inspect/3 loops\nrunloop-inspect/3 nothing\n")
        let said = client.readToEnd()
        #expect(said.hasPrefix("runloop-inspect/3 ok "))
        #expect(said.hasSuffix("unknown request"))
    }

    @Test func `clients above the limit are refused`() throws {
        let inspector = try TestInspector()
        let clients = try (0..<InspectorServer.maxClients).map { _ in try inspector.connect() }
        for client in clients { _ = try client.dump(within: plenty) }
        #expect(try inspector.connectRaw().readToEnd().hasSuffix("16 others are looking"))
        _ = try clients[0].dump(within: plenty)
    }

    @Test(arguments: [ENOMEM, ENOBUFS, EPERM])
    func `a client whose accept fails does not keep the thread awake and is served later`(
        _ code: CInt
    ) throws {
        let refusals = Locked([RunLoop.Instant]())
        let inspector = try TestInspector(accept: { listener in
            let isRefused = refusals.withLock { refusals in
                if refusals.count < 2 { refusals.append(.now) }
                return refusals.count == 1
            }
            return isRefused ? -code : rl_port_accept(listener)
        })
        _ = try inspector.connect().dump(within: plenty)
        let refused = refusals.copy
        // The look after the refusal leaves the listener out, for a second.
        #expect(refused.count == 2 && refused[0].duration(to: refused[1]) >= .seconds(1))
    }

    @Test func `a client that sends nothing or reads nothing is disconnected`() throws {
        let inspector = try TestInspector(
            patience: .init(greeting: 20_000_000, idle: 20_000_000, taking: 20_000_000))
        let thread = InspectedThread(inspector) { loop in
            for index in 0..<5000 { loop.add(RunLoop.Source(label: "source \(index)") { _ in }, in: .default) }
        }
        #expect(try inspector.connectRaw().readToEnd() == "")
        let lazy = try inspector.connectRaw()
        lazy.send("runloop-inspect/3 dump\n")
        // Both ends are closed, whatever was still to be taken.
        var wanted = pollfd(fd: lazy.socket.number, events: 0, revents: 0)
        while rl_inspect_poll(&wanted, 1, 1000) == 0 {}
        #expect(wanted.revents & Int16(POLLHUP) != 0)
        thread.end()
    }
}
