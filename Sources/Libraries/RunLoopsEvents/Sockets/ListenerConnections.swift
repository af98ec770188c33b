// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The open connections of one listener, and the closures that wait until there are none.
///
/// A connection counts until its descriptor is closed, by whichever thread. The listener may have ended by then.
final class ListenerConnections: @unchecked Sendable {
    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var count = 0
    @exclusivity(unchecked) private var emptySince = RunLoop.Instant.now
    @exclusivity(unchecked) private var waiters: [UnusedWaiter] = []

    var openCount: Int { lock.withLock { count } }

    /// A descriptor of an accepted connection, which counts until it is closed.
    func descriptor(_ number: CInt) -> Descriptor {
        lock.withLock { count += 1 }
        return Descriptor(connection: number) { [self] in closed() }
    }

    /// Has the waiter look when no connection is open: now, or when the last one is closed.
    func wait(_ waiter: UnusedWaiter) {
        let isEmpty = lock.withLock {
            if count > 0 { waiters.append(waiter) }
            return count == 0
        }
        if isEmpty { waiter.look(at: self) }
    }

    /// How long no connection has been open; `nil` if one is, and the waiter waits again.
    func emptyTime(for waiter: UnusedWaiter) -> Duration? {
        lock.withLock {
            guard count == 0 else {
                waiters.append(waiter)
                return nil
            }
            return emptySince.duration(to: .now)
        }
    }

    private func closed() {
        let now = RunLoop.Instant.now
        let waiters = lock.withLock { () -> [UnusedWaiter] in
            count -= 1
            guard count == 0 else { return [] }
            emptySince = now
            defer { self.waiters = [] }
            return self.waiters
        }
        for waiter in waiters { waiter.look(at: self) }
    }
}

/// A closure that is called once, when a listener has had no connection for some time.
// Unchecked: the closure is called on the thread of its loop alone.
final class UnusedWaiter: @unchecked Sendable {
    private let loop: RunLoop
    private let duration: Duration
    private let body: () -> Void

    init(_ loop: RunLoop, _ duration: Duration, _ body: @escaping () -> Void) {
        self.loop = loop
        self.duration = duration
        self.body = body
    }

    /// Any thread, no lock held.
    func look(at connections: ListenerConnections) {
        loop.perform(in: .common) { [self] in
            guard let emptyTime = connections.emptyTime(for: self) else { return }
            if emptyTime >= duration { return body() }
            // One timer at a time: connections that come and go meanwhile only make it look again.
            loop.performLocally(after: duration - emptyTime, in: .common) { [self] in look(at: connections) }
        }
    }
}
