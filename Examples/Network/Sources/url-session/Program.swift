// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import LocalServer
import RunLoopsConcurrency
import RunLoopsKit

// Foundation has a class of this name as well.
import class RunLoops.RunLoop

/// State of a loop's thread that asks a server.
actor Fetcher: RunLoopActor {
    nonisolated let runLoopExecutor: RunLoop.Executor
    private(set) var answer = ""

    init(on loop: RunLoop) { runLoopExecutor = loop.executor }

    func fetch(_ url: URL) async throws {
        answer = String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self)
    }
}

@main struct Program {
    @MainActor static func main() async throws {
        RunLoop.adoptMain()
        let server = try Server()
        guard let url = URL(string: server.address) else { return }

        var ticks = Ticks(on: .main) { server.answer() }
        let (data, _) = try await URLSession.shared.data(from: url)
        ticks.report("URLSession on the main actor", String(decoding: data, as: UTF8.self))

        let thread = try RunLoopThread(name: "fetcher")
        let fetcher = Fetcher(on: thread.loop)
        ticks = Ticks(on: thread.loop) { server.answer() }
        try await fetcher.fetch(url)
        ticks.report("URLSession on a loop's executor", await fetcher.answer)
        thread.stop()
        try await thread.ended()

        // What to beware of: whose thread calls back.
        let ofMain = URLSession(configuration: .default, delegate: nil, delegateQueue: .main)
        for (title, session) in [("a queue of the session's", URLSession.shared), ("delegateQueue .main", ofMain)] {
            server.answer()
            let isMain = await withCheckedContinuation { continuation in
                session.dataTask(with: url) { _, _, _ in continuation.resume(returning: Thread.isMainThread) }.resume()
            }
            print("a completion handler on \(title): \(isMain ? "the main thread" : "another thread")")
        }
        try await server.stop()
    }
}
