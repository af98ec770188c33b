// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import LocalServer
import NIOCore
import RunLoops
import RunLoopsConcurrency
import RunLoopsKit

/// State of a loop's thread that asks a server.
actor Fetcher: RunLoopActor {
    nonisolated let runLoopExecutor: RunLoop.Executor
    private(set) var answer = ""

    init(on loop: RunLoop) { runLoopExecutor = loop.executor }

    func fetch(_ address: String, by client: HTTPClient) async throws {
        let response = try await client.execute(HTTPClientRequest(url: address), timeout: .seconds(60))
        answer = String(buffer: try await response.body.collect(upTo: 1024))
    }
}

@main struct Program {
    @MainActor static func main() async throws {
        RunLoop.adoptMain()
        let client = HTTPClient()
        let server = try Server()

        var ticks = Ticks(on: .main) { server.answer() }
        let response = try await client.execute(HTTPClientRequest(url: server.address), timeout: .seconds(60))
        let answer = String(buffer: try await response.body.collect(upTo: 1024))
        ticks.report("AsyncHTTPClient on the main actor", answer)

        let thread = try RunLoopThread(name: "fetcher")
        let fetcher = Fetcher(on: thread.loop)
        ticks = Ticks(on: thread.loop) { server.answer() }
        try await fetcher.fetch(server.address, by: client)
        ticks.report("AsyncHTTPClient on a loop's executor", await fetcher.answer)
        thread.stop()
        try await thread.ended()

        try await server.stop()
        try await client.shutdown()
    }
}
