// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsKit

/// Keeps the list of loads, on a thread that all callers share: at most four are under way.
public final class LoaderThread: Sendable {
    private let thread: RunLoopThread
    private let network: NetworkThread
    private let list = List()

    private final class List: @unchecked Sendable {
        // Only the loader thread uses these: everything that reaches them comes by post.
        var waiting: [LoadConnection] = []
        var underWay: [ObjectIdentifier: LoadConnection] = [:]
    }

    /// Starts both threads.
    public init() throws {
        thread = try RunLoopThread(name: "loader")
        network = try NetworkThread()
    }

    /// Ends both threads, after what is under way on them; loads that have not ended fail.
    public func stop() {
        thread.stop()
        thread.join()
        network.stop()
        for connection in list.waiting + list.underWay.values { connection.put(.failed(.stopped)) }
    }

    func load(_ connection: LoadConnection) {
        let isTaken = thread.post { [self] in
            list.waiting.append(connection)
            startNext()
        }
        if !isTaken { connection.put(.failed(.stopped)) }
    }

    func cancel(_ connection: LoadConnection) {
        thread.post { [self] in
            list.waiting.removeAll { $0 === connection }
            guard list.underWay.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
            network.cancel(ObjectIdentifier(connection))
            startNext()
        }
    }

    private func startNext() {
        while list.underWay.count < 4, !list.waiting.isEmpty {
            let connection = list.waiting.removeFirst()
            let id = ObjectIdentifier(connection)
            list.underWay[id] = connection
            network.load(id, connection.url) { [self, weak connection] event in
                connection?.put(event)
                switch event {
                case .response, .bytes: break
                case .finished, .failed, .cancelled:
                    thread.post { [self] in
                        list.underWay[id] = nil
                        startNext()
                    }
                }
            }
        }
    }
}
