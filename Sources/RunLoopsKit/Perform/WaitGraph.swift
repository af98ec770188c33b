internal import RunLoops

/// Who waits on whom: a thread that is about to wait on one that waits on it, straight or through others, is told so.
///
/// Only threads with a loop can be waited on, and a thread that waits does nothing else: each loop has one edge at most.
enum WaitGraph {
    private struct Edge {
        let on: RunLoop
        let ticket: PerformTicket
    }

    private final class Edges: @unchecked Sendable {
        let lock = Lock()
        // Guarded by the lock. A loop that waits is alive, so that its identity is its own.
        @exclusivity(unchecked) var all: [ObjectIdentifier: Edge] = [:]
    }

    private static let edges = Edges()

    /// Notes that `waiter` waits for `ticket`; or returns the circle that this would close, beginning with `waiter`.
    static func begin(_ waiter: RunLoop, _ ticket: PerformTicket) -> [RunLoop]? {
        edges.lock.withLock {
            var path = [waiter, ticket.loop]
            // An edge whose closure has returned is a thread that has not woken up yet, and holds nobody up.
            while let edge = edges.all[ObjectIdentifier(path[path.count - 1])], edge.ticket.isUnfinished {
                if edge.on === waiter { return path }
                path.append(edge.on)
            }
            edges.all[ObjectIdentifier(waiter)] = Edge(on: ticket.loop, ticket: ticket)
            return nil
        }
    }

    static func end(_ waiter: RunLoop) {
        let removed = edges.lock.withLock { edges.all.removeValue(forKey: ObjectIdentifier(waiter)) }
        // It may be the last reference to the loop.
        withExtendedLifetime(removed) {}
    }
}
