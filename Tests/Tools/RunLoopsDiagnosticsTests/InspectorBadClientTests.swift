// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

@Suite(
    "Clients of the inspector that are slow, silent, flooding or gone", .ownThread,
    .serialized)
struct InspectorBadClientTests {
    /// An inspector, and an inspected loop with a thousand timers.
    private final class Stage {
        let inspector: TestInspector
        let thread: InspectedThread
        let heartbeat: Heartbeat

        init() throws {
            inspector = try TestInspector()
            thread = InspectedThread(inspector) { loop in
                for index in 0..<1000 {
                    loop.add(RunLoop.Timer(.after(.seconds(3600)), label: "timer \(index)") { _ in }, in: .default)
                }
            }
            heartbeat = Heartbeat(on: thread.loop)
        }

        func end(_ client: String) {
            heartbeat.end(client)
            thread.end()
        }
    }

    @Test func `silent clients and clients that send half a request do not stop the loop`() throws {
        let stage = try Stage()
        let clients = try (0..<InspectorServer.maxClients).map { _ in try stage.inspector.connectRaw() }
        for client in clients.dropFirst(8) { client.send("runloop-inspect/3 du") }
        #expect(stage.heartbeat.goesOn())
        withExtendedLifetime(clients) {}
        stage.end("is silent or sends half a request")
    }

    @Test func `clients that read no answers do not stop the loop`() throws {
        let stage = try Stage()
        let clients = try (0..<8).map { _ in try stage.inspector.connectRaw() }
        for client in clients {
            for _ in 0..<100 { client.send(InspectorProtocol.Request.dump.line) }
        }
        #expect(stage.heartbeat.goesOn())
        withExtendedLifetime(clients) {}
        stage.end("reads no answers")
    }

    @Test(arguments: [InspectorProtocol.Request.dump, .statistics, .loops])
    func `clients that flood the inspector or go away do not stop the loop`(request: InspectorProtocol.Request) throws {
        let stage = try Stage()
        let isOver = Locked(false)
        let inspector = stage.inspector
        let floods = (0..<3).map { index in
            TestThread {
                do {
                    var client = try inspector.connect()
                    while !isOver.copy {
                        _ = try client.ask(request, within: plenty)
                        // The others ask again and again on one connection.
                        if index == 0 { client = try inspector.connect() }
                    }
                } catch { Issue.record("\(error)") }
            }
        }
        #expect(stage.heartbeat.goesOn())
        isOver.withLock { $0 = true }
        for flood in floods { flood.join() }
        stage.end("floods the inspector with '\(request.text)'")
    }
}
