// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// A listener that knows whether its loop is still there.
protocol OwnedListener: LoopListener {
    /// Whether the loop's thread has ended.
    var isOver: Bool { get }
    /// Hears nothing from here on, whichever loop announces.
    func stop()
}

/// The listeners of one owner, one for each of its loops.
///
/// From the first on, signals, posts and wake-ups leave word of when and by whom.
// Unchecked: guarded by the lock.
final class ListenerGroup<Listener: OwnedListener>: @unchecked Sendable {
    private let make: @Sendable (RunLoop) -> Listener
    private let whenOver: @Sendable (Listener) -> Void
    private let lock = Lock()
    @exclusivity(unchecked) private var members: [(listener: Listener, announcer: LoopAnnouncer)] = []
    @exclusivity(unchecked) private var isStopped = false

    /// - Parameters:
    ///   - make: Makes a loop's listener, with the group's lock held.
    ///   - whenOver: Called with the listener of a loop whose thread has ended, when that is noticed, without a lock
    ///     held.
    init(_ make: @escaping @Sendable (RunLoop) -> Listener, whenOver: @escaping @Sendable (Listener) -> Void) {
        self.make = make
        self.whenOver = whenOver
        NewLoops.setRecorded(true)
    }

    deinit { _ = stop() }

    /// Adds a loop, once.
    ///
    /// Whether it is listened to: not after ``stop()``, not while a `TraceRecorder` has it.
    ///
    /// The loop's thread.
    func add(_ loop: RunLoop) -> Bool {
        precondition(
            loop.threadID == SystemCalls.threadID,
            "The loop of another thread was added: call add(_:) on the loop's own thread.")
        return listen(to: loop)
    }

    /// Adds every loop that is made from here on.
    func addNewLoops() {
        if lock.withLock({ isStopped }) { return }
        NewLoops.shared.add(self) { [weak self] loop in
            _ = self?.listen(to: loop)
        }
    }

    private func listen(to loop: RunLoop) -> Bool {
        // A program with many threads, one after the other, does not keep what was known of each.
        _ = present
        return lock.withLock {
            if isStopped { return false }
            if members.contains(where: { $0.announcer === loop.tracer }) { return true }
            let listener = make(loop)
            guard let announcer = LoopAnnouncer.add(listener, to: loop) else { return false }
            members.append((listener, announcer))
            return true
        }
    }

    /// Those whose loops are there; the others are forgotten.
    var present: [Listener] {
        let (present, over) = lock.withLock { () -> ([Listener], [Listener]) in
            let over = members.filter(\.listener.isOver).map(\.listener)
            if !over.isEmpty { members.removeAll { member in over.contains { $0 === member.listener } } }
            return (members.map(\.listener), over)
        }
        for listener in over { whenOver(listener) }
        return present
    }

    /// Stops listening; returns the listeners that listened, the first time.
    func stop() -> [Listener] {
        let last = lock.withLock { () -> [(listener: Listener, announcer: LoopAnnouncer)]? in
            if isStopped { return nil }
            isStopped = true
            defer { members = [] }
            return members
        }
        guard let last else { return [] }
        NewLoops.shared.remove(self)
        NewLoops.setRecorded(false)
        for (listener, announcer) in last {
            listener.stop()
            announcer.remove(listener)
        }
        return last.map(\.listener)
    }
}
