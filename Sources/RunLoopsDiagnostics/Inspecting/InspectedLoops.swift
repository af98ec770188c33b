// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The loops of the process that can be looked into: each has a status from the moment it is known.
// Unchecked: the list is guarded by the lock.
final class InspectedLoops: @unchecked Sendable {
    /// One loop, while it lives.
    private struct Entry {
        weak var loop: RunLoop?
        // Held: a weak reference would make each retain of what the loop calls again and again several times as dear.
        // Neither holds anything of the loop's.
        let status: LoopStatus
        let announcer: LoopAnnouncer
    }

    /// One loop, held.
    struct Inspected {
        let loop: RunLoop
        let status: LoopStatus
        let announcer: LoopAnnouncer

        /// The loop's monotonic time.
        var now: Int64 { loop.kernel.now(.monotonic) }
    }

    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var entries: [Entry] = []
    @exclusivity(unchecked) private var newcomers: [(owner: ObjectIdentifier, listener: Newcomer)] = []
    @exclusivity(unchecked) private var nextPruning = 64

    /// Told of a loop that is looked into from now on, on its thread.
    typealias Newcomer = @Sendable (Inspected) -> Void

    /// Has every loop that is made from here on looked into.
    func watchNewLoops() {
        NewLoops.shared.add(self) { [weak self] loop in
            self?.add(loop)
        }
    }

    func ignoreNewLoops() { NewLoops.shared.remove(self) }

    /// The loop's thread, or the only thread that knows the loop.
    func add(_ loop: RunLoop) {
        if lock.withLock({ entries.contains { $0.loop === loop } }) { return }
        let status = LoopStatus(loop)
        guard let announcer = LoopAnnouncer.add(status, to: loop) else { return }
        let listeners = lock.withLock {
            if entries.count >= nextPruning { prune() }
            entries.append(Entry(loop: loop, status: status, announcer: announcer))
            return newcomers.map(\.listener)
        }
        for listener in listeners { listener(Inspected(loop: loop, status: status, announcer: announcer)) }
    }

    /// Forgets the loops that have died.
    ///
    /// With the lock held.
    private func prune() {
        entries.removeAll { $0.loop == nil }
        nextPruning = max(64, entries.count * 2)
    }

    /// The loops that live, in the order in which they were added.
    var all: [Inspected] {
        let entries = lock.withLock {
            prune()
            return self.entries
        }
        return entries.compactMap { entry in
            entry.loop.map { Inspected(loop: $0, status: entry.status, announcer: entry.announcer) }
        }
    }

    /// Ends the writing of the status.
    func removeAll() {
        for inspected in all { inspected.announcer.remove(inspected.status) }
        lock.withLock { entries = [] }
    }

    /// Calls `listener` with the loops that are there, and with each new loop until `owner` is removed.
    func follow(_ owner: AnyObject, _ listener: @escaping Newcomer) {
        lock.withLock { newcomers.append((ObjectIdentifier(owner), listener)) }
        // The listener receives a loop that comes in between twice.
        for inspected in all { listener(inspected) }
    }

    /// How many follow.
    var followerCount: Int { lock.withLock { newcomers.count } }

    func unfollow(_ owner: AnyObject) {
        lock.withLock { newcomers.removeAll { $0.owner == ObjectIdentifier(owner) } }
    }
}
