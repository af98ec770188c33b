// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LocalServer
import NIOCore
import NIOPosix
import RunLoops
import RunLoopsConcurrency
import RunLoopsKit

/// Asks a server, on the actor of the caller.
func get(
    _ port: Int, _ group: any EventLoopGroup, isolation: isolated (any Actor)? = #isolation
) async throws -> String {
    let channel = try await ClientBootstrap(group: group).connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
    }
    return try await channel.executeThenClose { inbound, outbound in
        try await outbound.write(ByteBuffer(string: "GET / HTTP/1.0\r\n\r\n"))
        var answer = ByteBuffer()
        for try await part in inbound { answer.writeImmutableBuffer(part) }
        return String(String(buffer: answer).split(separator: "\r\n").last ?? "nothing")
    }
}

/// State of a loop's thread that asks a server.
actor Fetcher: RunLoopActor {
    nonisolated let runLoopExecutor: RunLoop.Executor
    private(set) var answer = ""

    init(on loop: RunLoop) { runLoopExecutor = loop.executor }

    func fetch(_ port: Int, _ group: any EventLoopGroup) async throws { answer = try await get(port, group) }
}

/// What to beware of: the loop of the thread that waits does nothing meanwhile.
@MainActor
func waitForAWhile(_ group: any EventLoopGroup) throws {
    try group.next().scheduleTask(in: .milliseconds(300)) {}.futureResult.wait()
}

@main struct Program {
    @MainActor static func main() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server = try Server()

        var ticks = Ticks(on: .main) { server.answer() }
        ticks.report("NIO on the main actor", try await get(server.port, group))

        let thread = try RunLoopThread(name: "fetcher")
        let fetcher = Fetcher(on: thread.loop)
        ticks = Ticks(on: thread.loop) { server.answer() }
        try await fetcher.fetch(server.port, group)
        ticks.report("NIO on a loop's executor", await fetcher.answer)
        thread.stop()
        try await thread.ended()

        ticks = Ticks(on: .main)
        try waitForAWhile(group)
        ticks.report("NIO with wait() on the main thread", "done")
        try await server.stop()
        // The asynchronous call: the other one waits as wait() does.
        try await group.shutdownGracefully()
    }
}
