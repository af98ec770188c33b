// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import RunLoops

/// Listens to loops until it is stopped: one subscriber for each loop.
///
/// The one way to subscribe and to stop, for every tool. A loop whose thread has ended is forgotten.
// Unchecked: guarded by the lock.
final class Subscription<Subscriber: LoopSubscriber>: @unchecked Sendable {
    /// One loop, held, and what listens to it.
    struct Member {
        let loop: RunLoop
        let stream: LoopStream
        let subscriber: Subscriber
    }

    private struct Entry {
        weak var loop: RunLoop?
        // Held: a weak reference would make each retain of what the loop calls again and again several times as dear.
        // Neither holds anything of the loop's.
        let stream: LoopStream
        let subscriber: Subscriber
    }

    private let make: @Sendable (RunLoop, LoopState) -> Subscriber?
    private let whenOver: @Sendable (Subscriber) -> Void
    private let keepsStamps: Bool
    private let most: Int
    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var entries: [Entry] = []
    @exclusivity(unchecked) private var followers: [(owner: ObjectIdentifier, add: (RunLoop, LoopStream) -> Void)] = []
    @exclusivity(unchecked) private var unfollow: (() -> Void)?
    @exclusivity(unchecked) private var isStopped = false

    /// - Parameters:
    ///   - keepsStamps: Whether signals, posts and wake-ups record their time and thread until the subscription is stopped.
    ///   - most: How many loops that live are listened to at a time; more are left out.
    ///   - make: Makes a loop's subscriber, with the lock held; `nil` to leave the loop out.
    ///   - whenOver: Called with the subscriber of a loop whose thread has ended, when that is noticed, without the lock
    ///     held.
    init(
        keepsStamps: Bool = true, most: Int = .max, whenOver: @escaping @Sendable (Subscriber) -> Void = { _ in },
        make: @escaping @Sendable (RunLoop, LoopState) -> Subscriber?
    ) {
        self.keepsStamps = keepsStamps
        self.most = most
        self.whenOver = whenOver
        self.make = make
        if keepsStamps { rl_count_recorders(1) }
    }

    deinit { _ = stop() }

    // MARK: Subscribing

    /// Adds a loop, once; whether it is listened to: not after ``stop()``, not while a `TraceRecorder` has it.
    ///
    /// - Precondition: called on the loop's own thread.
    func add(_ loop: RunLoop, _ make: ((RunLoop, LoopState) -> Subscriber?)? = nil) -> Bool {
        precondition(
            loop.threadID == SystemCalls.threadID,
            "The loop of another thread was added: call add(_:) on the loop's own thread.")
        return subscribe(to: loop, make ?? self.make)
    }

    /// Adds every loop that is made from here on.
    func addNewLoops() {
        if lock.withLock({ isStopped }) { return }
        NewLoops.add(self) { [weak self] loop in
            if let self { _ = self.subscribe(to: loop, self.make) }
        }
    }

    /// Adds the loops of another subscription, also its future loops; any thread, once.
    ///
    /// A subscriber of a loop that does nothing just now begins with the loop's next event.
    func follow<Other>(_ other: Subscription<Other>) {
        let owner = ObjectIdentifier(self)
        other.lock.withLock {
            other.followers.append((owner, { [weak self] in self?.subscribe(to: $0, through: $1) }))
        }
        lock.withLock {
            unfollow = { [weak other] in other?.lock.withLock { other?.followers.removeAll { $0.owner == owner } } }
        }
        // A loop that comes in between is met twice, and added once.
        for member in other.present { subscribe(to: member.loop, through: member.stream) }
    }

    /// How many follow this subscription.
    var followerCount: Int { lock.withLock { followers.count } }

    private func subscribe(to loop: RunLoop, _ make: (RunLoop, LoopState) -> Subscriber?) -> Bool {
        guard let stream = LoopStream.of(loop) else { return false }
        guard let subscriber = insert(loop, stream, make) else {
            stream.endIfUnused()
            return subscriber(of: stream) != nil
        }
        stream.add(subscriber)
        for follower in lock.withLock({ followers }) { follower.add(loop, stream) }
        return true
    }

    private func subscribe(to loop: RunLoop, through stream: LoopStream) {
        if let subscriber = insert(loop, stream, make) { stream.addLater(subscriber) }
    }

    /// A new subscriber; `nil` where the loop has one, or gets none.
    private func insert(
        _ loop: RunLoop, _ stream: LoopStream, _ make: (RunLoop, LoopState) -> Subscriber?
    ) -> Subscriber? {
        // A program with many threads, one after the other, does not keep what was known of each.
        prune()
        return lock.withLock {
            if isStopped || entries.contains(where: { $0.stream === stream }) { return nil }
            guard entries.count < most, let subscriber = make(loop, stream.state) else { return nil }
            entries.append(Entry(loop: loop, stream: stream, subscriber: subscriber))
            return subscriber
        }
    }

    // MARK: Members

    /// The loops that live, in the order in which they were added; the others are forgotten.
    var present: [Member] {
        prune()
        return lock.withLock { entries }.compactMap { entry in
            entry.loop.map { Member(loop: $0, stream: entry.stream, subscriber: entry.subscriber) }
        }
    }

    /// The subscriber of a loop's stream.
    func subscriber(of stream: LoopStream) -> Subscriber? {
        lock.withLock { entries.first { $0.stream === stream }?.subscriber }
    }

    private func prune() {
        let over = lock.withLock { () -> [Subscriber] in
            let over = entries.filter { $0.loop == nil }.map(\.subscriber)
            if !over.isEmpty { entries.removeAll { $0.loop == nil } }
            return over
        }
        for subscriber in over { whenOver(subscriber) }
    }

    // MARK: The end

    /// Stops listening; returns the subscribers that listened, the first time.
    func stop() -> [Subscriber] {
        let last = lock.withLock { () -> (entries: [Entry], unfollow: (() -> Void)?)? in
            if isStopped { return nil }
            isStopped = true
            defer { (entries, followers, unfollow) = ([], [], nil) }
            return (entries, unfollow)
        }
        guard let last else { return [] }
        last.unfollow?()
        NewLoops.remove(self)
        if keepsStamps { rl_count_recorders(-1) }
        for entry in last.entries { entry.stream.remove(entry.subscriber) }
        return last.entries.map(\.subscriber)
    }
}
