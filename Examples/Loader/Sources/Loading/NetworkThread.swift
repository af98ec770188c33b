// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CCurl
import RunLoops
import RunLoopsKit

/// The one thread that touches sockets, all of them curl's.
final class NetworkThread: Sendable {
    private let thread: RunLoopThread
    private let table = Table()

    private final class Table: @unchecked Sendable {
        // Only the network thread uses it.
        var transfers: Transfers?
    }

    private static let isCurlReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init() throws {
        guard Self.isCurlReady else { throw LoadError.stopped }
        thread = try RunLoopThread(name: "network")
        try thread.performAndWait { [table] in table.transfers = try Transfers() }
    }

    /// Loads an address; `news` is called on the network thread, with the end last.
    func load(_ id: ObjectIdentifier, _ url: String, news: @escaping @Sendable (LoadEvent) -> Void) {
        let isTaken = thread.post { [table] in table.transfers?.load(id, url, news) }
        if !isTaken { news(.failed(.stopped)) }
    }

    /// Closes a connection without further news.
    func cancel(_ id: ObjectIdentifier) {
        thread.post { [table] in table.transfers?.cancel(id) }
    }

    /// Closes all connections, and ends the thread.
    func stop() {
        thread.post { [table] in table.transfers = nil }
        thread.stop()
        thread.join()
    }
}
