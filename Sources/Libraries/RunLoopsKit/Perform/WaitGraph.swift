// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsConcurrency
internal import Synchronization

/// The waits of threads on other threads, as a graph.
///
/// A thread that is about to wait on a thread that waits on it, directly or through others, gets an error. A waiting
/// thread lends its priority to the thread that it waits for.
///
/// Only threads with a loop can be waited on, and a thread that waits does nothing else: each loop has one edge at
/// most.
struct WaitGraph {
    /// What a thread waits for.
    enum Wait {
        /// The thread waits until a closure returns.
        case closure(PerformTicket, hasLimit: Bool)
        /// The thread waits until another thread ends.
        case end

        /// `false`: what was waited for has happened, but the waiting thread has not woken up yet, and holds no thread
        /// up.
        var isUnfinished: Bool {
            switch self {
            case .closure(let ticket, _): ticket.isUnfinished
            case .end: true
            }
        }

        /// Whether the wait ends only if what is waited for happens.
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

    /// The edges by the waiting thread's loop, which is alive, so that no other object has its identity.
    private var edges: [ObjectIdentifier: Edge] = [:]
    private var loans = PriorityLoans()

    /// Notes that the calling thread waits on the thread of `loop`; or returns the circle that this would close,
    /// beginning with `waiter`.
    ///
    /// - Parameter waiter: The calling thread's loop; no thread can wait on a thread without a loop.
    static func begin(_ waiter: RunLoop?, _ wait: Wait, on loop: RunLoop) -> [RunLoop]? {
        graph.withLock { graph in
            if let waiter {
                if let circle = graph.circle(from: waiter, wait, on: loop) { return circle }
                graph.edges[ObjectIdentifier(waiter)] = Edge(on: loop, wait: wait)
            }
            // Neither thread has anything to gain: the system is not asked.
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
        // This may be the last reference to the loop.
        withExtendedLifetime(removed) {}
    }

    private func circle(from waiter: RunLoop, _ wait: Wait, on loop: RunLoop) -> [RunLoop]? {
        var path = [waiter, loop]
        while let edge = edges[ObjectIdentifier(path[path.count - 1])] {
            // A thread's end cannot be refused, only waited for: a thread that gives up after a time does not prevent
            // the end.
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

    /// The loop's thread may itself wait: the thread that it waits on gets the new scheduling too, and so on along the
    /// chain.
    private mutating func pass(_ scheduling: Scheduling, from loop: RunLoop) {
        guard let edge = edges[ObjectIdentifier(loop)], edge.wait.isUnfinished else { return }
        lend(scheduling, by: loop.threadID, edge.wait, on: edge.on)
    }
}
