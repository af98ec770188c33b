internal import RunLoops

/// Who waits on whom: a thread that is about to wait on one that waits on it, straight or through others, is told so.
///
/// Only threads with a loop can be waited on, and a thread that waits does nothing else: each loop has one edge at most.
enum WaitGraph {
    private struct Edge {
        let on: RunLoop
        let ticket: PerformTicket
    }

    /// By the loop that waits, which is alive, so that its identity is its own.
    private static let edges = Guarded<[ObjectIdentifier: Edge]>([:])

    /// Notes that `waiter` waits for `ticket`; or returns the circle that this would close, beginning with `waiter`.
    static func begin(_ waiter: RunLoop, _ ticket: PerformTicket) -> [RunLoop]? {
        edges.withLock { edges in
            var path = [waiter, ticket.loop]
            // An edge whose closure has returned is a thread that has not woken up yet, and holds nobody up.
            while let edge = edges[ObjectIdentifier(path[path.count - 1])], edge.ticket.isUnfinished {
                if edge.on === waiter { return path }
                path.append(edge.on)
            }
            edges[ObjectIdentifier(waiter)] = Edge(on: ticket.loop, ticket: ticket)
            return nil
        }
    }

    static func end(_ waiter: RunLoop) {
        let removed = edges.withLock { $0.removeValue(forKey: ObjectIdentifier(waiter)) }
        // It may be the last reference to the loop.
        withExtendedLifetime(removed) {}
    }
}
