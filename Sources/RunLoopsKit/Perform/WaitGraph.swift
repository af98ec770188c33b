internal import RunLoops
internal import Synchronization

/// Who waits on whom: a thread that is about to wait on one that waits on it, straight or through others, is told so; and
/// the priority of those who wait is passed on to those who keep them waiting.
///
/// Only threads with a loop can be waited on, and a thread that waits does nothing else: each loop has one edge at most.
struct WaitGraph {
    /// What somebody waits for.
    enum Wait {
        /// That a closure returns.
        case closure(PerformTicket, hasLimit: Bool)
        /// That a thread ends.
        case end

        /// Not so: a thread that has not woken up yet, and holds nobody up.
        var isUnfinished: Bool {
            switch self {
            case .closure(let ticket, _): ticket.isUnfinished
            case .end: true
            }
        }

        /// Whether it ends only if what is waited for happens.
        var isEndless: Bool {
            switch self {
            case .closure(let ticket, let hasLimit): ticket.isUnfinished && !(hasLimit && ticket.isPending)
            case .end: true
            }
        }
    }

    private struct Edge {
        let on: RunLoop
        let wait: Wait
    }

    private static let graph = Guarded(WaitGraph())

    /// By the loop that waits, which is alive, so that its identity is its own.
    private var edges: [ObjectIdentifier: Edge] = [:]
    private var loans = PriorityLoans()

    /// Notes that the calling thread waits on that of `loop`; or returns the circle that this would close, beginning with
    /// `waiter`.
    ///
    /// - Parameter waiter: The calling thread's loop; nobody can wait on a thread without one.
    static func begin(_ waiter: RunLoop?, _ wait: Wait, on loop: RunLoop) -> [RunLoop]? {
        graph.withLock { graph in
            if let waiter {
                if let circle = graph.circle(from: waiter, wait, on: loop) { return circle }
                graph.edges[ObjectIdentifier(waiter)] = Edge(on: loop, wait: wait)
            }
            // Neither has anything to gain: nothing is asked of the system.
            if Scheduling.isUsualHere, loop.isUsuallyScheduled.load(ordering: .relaxed) { return nil }
            if let mine = Scheduling.ofCallingThread { graph.lend(mine, by: SystemCalls.threadID, wait, on: loop) }
            return nil
        }
    }

    /// Notes that the calling thread does not wait any more.
    static func end(_ waiter: RunLoop?, on loop: RunLoop) {
        let removed = graph.withLock { graph in
            if let present = graph.loans.withdraw(SystemCalls.threadID, on: loop) { graph.pass(present, from: loop) }
            return waiter.flatMap { graph.edges.removeValue(forKey: ObjectIdentifier($0)) }
        }
        // It may be the last reference to the loop.
        withExtendedLifetime(removed) {}
    }

    private func circle(from waiter: RunLoop, _ wait: Wait, on loop: RunLoop) -> [RunLoop]? {
        var path = [waiter, loop]
        while let edge = edges[ObjectIdentifier(path[path.count - 1])] {
            // A thread's end cannot be refused, only waited for: one who gives up after a time does not prevent it.
            if case .end = wait, !edge.wait.isEndless { return nil }
            guard edge.wait.isUnfinished else { return nil }
            if edge.on === waiter { return path }
            path.append(edge.on)
        }
        return nil
    }

    private mutating func lend(_ scheduling: Scheduling, by waiter: Int32, _ wait: Wait, on loop: RunLoop) {
        guard let present = loans.claim(scheduling, by: waiter, on: loop) else { return }
        if case .closure(let ticket, _) = wait { ticket.isHurried.store(true, ordering: .relaxed) }
        pass(present, from: loop)
    }

    /// The loop's thread may wait itself: whom it waits on hears of its new scheduling, and so on along the chain.
    private mutating func pass(_ scheduling: Scheduling, from loop: RunLoop) {
        guard let edge = edges[ObjectIdentifier(loop)], edge.wait.isUnfinished else { return }
        lend(scheduling, by: loop.threadID, edge.wait, on: edge.on)
    }
}
