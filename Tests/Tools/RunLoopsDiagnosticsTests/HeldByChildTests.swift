// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

/// A child between fork and exec holds a copy of each descriptor: an inspector, or a client, that has ended must look ended.
@Suite(.ownThread, .serialized) struct HeldByChildTests {
    private let rounds = isFull ? 1000 : 20

    @Test func `A stopped inspector refuses connections even if a child holds copies of its sockets`() throws {
        let forker = Forker(holding: 2_000)
        defer { forker.end() }
        let folder = InspectorFolder()
        var lookedAlive = 0
        for round in 0..<rounds where lookedAlive == 0 {
            let server = try InspectorServer(InspectorDirectory(folder.directory, makes: true))
            func connect() throws -> InspectorClient {
                try InspectorClient(server.directory.connect(server.name))
            }
            let known = try connect()
            _ = try known.ask(.loops, within: plenty)
            let new = try connect()
            let child = HoldingChild()
            defer { child.end() }
            server.stop()
            for client in [known, new] where !isGone(client) { lookedAlive += 1 }
            if (try? connect()) != nil { lookedAlive += 1 }
            #expect(lookedAlive == 0, "in round \(round)")
        }
    }

    @Test func `Work for a disconnected client ends even if a child holds a copy of its connection`() throws {
        let inspector = try TestInspector()
        let thread = InspectedThread(inspector)
        defer { thread.end() }
        let forker = Forker(holding: 2_000)
        defer { forker.end() }
        for _ in 0..<rounds {
            let before = thread.countListeners(inspector)
            var client: InspectorClient? = try inspector.connect()
            try client?.record(within: plenty)
            #expect(thread.countListeners(inspector) > before)
            let child = HoldingChild()
            client = nil
            waitUntil { thread.countListeners(inspector) == before }
            child.end()
        }
    }

    private func isGone(_ client: InspectorClient) -> Bool {
        do {
            _ = try client.answer(until: InspectorClient.deadline(plenty))
        } catch .gone {
            return true
        } catch {}
        return false
    }
}
