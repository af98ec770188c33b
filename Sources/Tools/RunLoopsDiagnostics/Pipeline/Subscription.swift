// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops

/// Subscribes to loops until it is stopped, with one subscriber for each loop.
///
/// All tools subscribe and stop through this type. A loop whose thread has ended is forgotten.
// Unchecked: guarded by the lock.
final class Subscription<Subscriber: LoopSubscriber>: @unchecked Sendable {
    /// A loop, retained, with its stream and its subscriber.
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
    ///   - most: The maximum number of living loops with a subscriber at a time; further loops are left out.
    ///   - make: Makes a loop's subscriber, with the lock held; returns `nil` to leave the loop out.
    ///   - whenOver: Called without the lock held when it is noticed that a loop's thread has ended, with the subscriber
    ///     of that loop.
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

    /// Adds a loop unless it has been added before; returns whether the loop has a subscriber.
    ///
    /// It has none after ``stop()``, and while a `TraceRecorder` traces the loop.
    ///
    /// - Precondition: called on the loop's own thread.
    func add(_ loop: RunLoop, _ make: ((RunLoop, LoopState) -> Subscriber?)? = nil) -> Bool {
        precondition(
            loop.threadID == SystemCalls.threadID,
            "The loop of another thread was added: call add(_:) on the loop's own thread.")
        return subscribe(to: loop, make ?? self.make)
    }

    /// Adds every loop that is made from now on.
    func addNewLoops() {
        if lock.withLock({ isStopped }) { return }
        NewLoops.add(self) { [weak self] loop in
            if let self { _ = self.subscribe(to: loop, self.make) }
        }
    }

    /// Adds all present and future loops of another subscription; called once, by any thread.
    ///
    /// The subscriber of a loop that does nothing just now is added at the loop's next event.
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

    /// The number of subscriptions that follow this one.
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

    /// Makes a new subscriber; returns `nil` if the loop has one already, or gets none.
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

    /// The loops whose threads have not ended, in the order in which they were added; the other loops are forgotten.
    var present: [Member] {
        prune()
        return lock.withLock { entries }.compactMap { entry in
            entry.loop.map { Member(loop: $0, stream: entry.stream, subscriber: entry.subscriber) }
        }
    }

    /// Returns the subscriber of a loop's stream.
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

    /// Removes all subscribers; the first call returns them, later calls return none.
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
