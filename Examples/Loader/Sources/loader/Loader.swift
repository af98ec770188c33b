// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsKit

enum LoaderError: Error {
    /// It came after the stop.
    case stopped
    /// The bytes differ from the bytes of the file.
    case damaged
}

/// What was loaded.
struct Loaded: Sendable {
    let name: String
    let result: Result<[UInt8], any Error>
}

/// Keeps the list of requests, on a thread that all callers share.
///
/// Answers go to the mailbox of the thread that asked.
final class Loader: Sendable {
    private let thread: RunLoopThread
    private let network: NetworkThread
    private let port: UInt16

    /// The loader thread's own: nobody else touches it.
    private struct Waiting: Sendable {
        let name: String
        let mailbox: Mailbox<Loaded>
    }

    private final class List: @unchecked Sendable {
        // Only the loader thread uses these: everything that reaches them comes by post.
        var waiting: [Waiting] = []
        var underWay = 0
    }

    private let list = List()

    init(port: UInt16) throws {
        thread = try RunLoopThread(name: "loader")
        network = try NetworkThread()
        self.port = port
    }

    /// Loads a file, sooner or later; the answer goes to `mailbox`.
    ///
    /// Any thread.
    func load(_ name: String, to mailbox: Mailbox<Loaded>) {
        let isTaken = thread.post { [self] in
            list.waiting.append(Waiting(name: name, mailbox: mailbox))
            startNext()
        }
        if !isTaken { mailbox.put(Loaded(name: name, result: .failure(LoaderError.stopped))) }
    }

    /// Ends both threads, after what is under way on them.
    func stop() {
        thread.stop()
        thread.join()
        network.stop()
    }

    private func startNext() {
        while list.underWay < 4, !list.waiting.isEmpty {
            let request = list.waiting.removeFirst()
            list.underWay += 1
            network.fetch(request.name, from: port) { [self] result in
                thread.post { [self] in finish(request, result) }
            }
        }
    }

    /// The answer is put together and checked here, so that neither the network nor the caller has to wait for it.
    private func finish(_ request: Waiting, _ result: Result<[UInt8], any Error>) {
        list.underWay -= 1
        let checked = result.flatMap { bytes -> Result<[UInt8], any Error> in
            bytes == Server.contents(of: request.name) ? .success(bytes) : .failure(LoaderError.damaged)
        }
        request.mailbox.put(Loaded(name: request.name, result: checked))
        startNext()
    }
}
