// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsConcurrency
internal import Synchronization

/// The owner of a queue, as far as the queue has to know it.
protocol QueueReceiver: AnyObject, Sendable {
    /// Makes a channel to the port; returns its other end, without which the channel is closed again.
    func makeChannel(_ handle: UInt64) throws(RunLoop.PortError) -> Export
}

/// The messages that wait for a port of this process: any thread puts messages in, the loop's thread takes them out,
/// many at a time.
///
/// Senders hold the queue, not the port, so that the port can die while they send. The loop is woken once for all
/// messages that come before it has looked.
final class MessageQueue: Route, @unchecked Sendable {
    let limits: RunLoop.MessagePort.Limits
    let source: RunLoop.Source
    /// Whether messages carry the scheduling of the sending thread; read without order: a message sent at the same time may miss it.
    let carriesPriority = Atomic(false)
    private let generation = ForkGeneration()
    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var ring = Ring<Delivery>()
    @exclusivity(unchecked) private var isAnnounced = false
    @exclusivity(unchecked) private var isClosed = false
    @exclusivity(unchecked) private var waiting = 0
    @exclusivity(unchecked) private var loop: RunLoop?
    @exclusivity(unchecked) private weak var receiver: (any QueueReceiver)?
    /// Changes whenever there is room again or the queue is closed; waiting senders sleep on this word.
    private let room: UnsafeMutablePointer<Atomic<UInt32>>

    init(_ limits: RunLoop.MessagePort.Limits, _ source: RunLoop.Source) {
        self.limits = limits
        self.source = source
        room = .allocate(capacity: 1)
        room.initialize(to: Atomic(0))
    }

    deinit {
        room.deinitialize(count: 1)
        room.deallocate()
    }

    func attach(_ receiver: any QueueReceiver) { lock.withLock { self.receiver = receiver } }

    /// Attaches the loop that takes messages out, and wakes it for messages that have come before.
    func attach(_ loop: RunLoop) {
        lock.withLock { self.loop = loop }
        // A source that was signalled before it was added is still signalled; the loop has to learn that.
        if source.isSignalled { loop.wakeUp() }
    }

    // MARK: Any thread

    /// In a forked child too: its parent's thread, which takes messages out, is not there.
    var isDead: Bool { generation.isInherited || lock.withLock { isClosed } }

    var isOwn: Bool { lock.withLock { isOnOwnThread } }

    func send(_ delivery: Delivery, until deadline: Int64) throws(RunLoop.PortError) -> UInt64 {
        if generation.isInherited { throw .dead }
        if delivery.message.bytes.count > limits.messageSize { throw .tooLarge(limits.messageSize) }
        if delivery.message.descriptors.count > limits.descriptors { throw .tooManyDescriptors(limits.descriptors) }
        var delivery = delivery
        if carriesPriority.load(ordering: .relaxed) {
            let isOwn = delivery.thread == SystemCalls.threadID
            delivery.scheduling = isOwn ? .ofCallingThread : Scheduling(of: delivery.thread)
        }
        lock.lock()
        // An answer is always taken: there is at most one for each ask, and the answering side must not have to wait.
        if ring.count >= limits.queue, !delivery.isAnswer {
            do { try waitForRoom(until: deadline) } catch {
                lock.unlock()
                throw error
            }
        }
        if isClosed {
            lock.unlock()
            throw .dead
        }
        ring.append(delivery)
        if isAnnounced {
            lock.unlock()
            return 0
        }
        isAnnounced = true
        let loop = loop
        lock.unlock()
        source.signal()
        loop?.wakeUp()
        return 0
    }

    /// With the lock held.
    private var isOnOwnThread: Bool { loop.map { $0.threadID == SystemCalls.threadID } ?? false }

    /// Called with the lock held, and returns with it held.
    private func waitForRoom(until deadline: Int64) throws(RunLoop.PortError) {
        // The loop's own thread would wait for itself.
        if deadline == Deadline.none || isOnOwnThread { throw isClosed ? .dead : .full }
        waiting += 1
        defer { waiting -= 1 }
        while ring.count >= limits.queue, !isClosed {
            let seen = room.pointee.load(ordering: .relaxed)
            lock.unlock()
            let result = rl_futex_wait(room, seen, deadline)
            lock.lock()
            if result == -Errors.timedOut, ring.count >= limits.queue, !isClosed { throw .timedOut }
        }
    }

    func export(_ handle: UInt64, until deadline: Int64) throws(RunLoop.PortError) -> Export {
        if generation.isInherited { throw .dead }
        guard let receiver = lock.withLock({ receiver }) else { throw .dead }
        return try receiver.makeChannel(handle)
    }

    // MARK: The loop's thread

    /// Moves the next messages to `batch`; returns whether more are left.
    func take(_ count: Int, into batch: inout Ring<Delivery>) -> Bool {
        lock.lock()
        ring.move(count, to: &batch)
        let isMore = !ring.isEmpty
        isAnnounced = isMore
        wakeSenders()
        lock.unlock()
        return isMore
    }

    /// Refuses everything from now on, and returns the undelivered messages, for release with no lock held.
    func close() -> Ring<Delivery> {
        lock.lock()
        defer { lock.unlock() }
        isClosed = true
        loop = nil
        var waste = Ring<Delivery>()
        ring.move(.max, to: &waste)
        wakeSenders()
        return waste
    }

    /// Called with the lock held.
    private func wakeSenders() {
        guard waiting > 0 else { return }
        room.pointee.wrappingAdd(1, ordering: .relaxed)
        _ = rl_futex_wake(room, .max)
    }
}
