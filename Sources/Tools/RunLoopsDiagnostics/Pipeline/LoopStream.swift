// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

package import RunLoops
internal import Synchronization

/// The one tracer of a loop, which passes the loop's events on to any number of subscribers.
///
/// The stream records each event in the loop's state, and reads the clock once for all subscribers.
// Unchecked: what is not atomic belongs to the loop's thread, or is guarded by the lock.
package final class LoopStream: LoopTracer, @unchecked Sendable {
    private enum Change {
        case add(any LoopSubscriber)
        case remove(any LoopSubscriber)
        case release([AnyObject])
    }

    /// Holds a subscriber.
    ///
    /// The reference to this box is not counted, so that its constant is read without counting a reference to the
    /// subscriber; counting would cost more than all the rest.
    private final class Box {
        let subscriber: any LoopSubscriber
        init(_ subscriber: any LoopSubscriber) { self.subscriber = subscriber }
    }

    let state: LoopState
    // SAFETY: looked at inside `trace` only, which the loop itself calls.
    private unowned(unsafe) let loop: RunLoop

    // The loop's thread.
    @exclusivity(unchecked) private var boxes: [Box] = [] {
        didSet { references = boxes.filter { !$0.subscriber.isSilent }.map { .passUnretained($0) } }
    }
    // SAFETY: `boxes` keeps them. A box that is removed while a subscriber is called is kept in `retired` meanwhile.
    @exclusivity(unchecked) private var references: [Unmanaged<Box>] = []
    @exclusivity(unchecked) private var retired: [Box] = []
    /// The number of events that subscribers are being called for: a subscriber may run the loop.
    @exclusivity(unchecked) private var telling = 0
    @exclusivity(unchecked) private var depth: UInt16

    private let hasChanges = Atomic<Bool>(false)
    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var changes: [Change] = []

    private init(_ loop: RunLoop) {
        self.loop = loop
        state = LoopState(loop)
        depth = loop.currentMode == nil ? 0 : 1
    }

    /// Returns the loop's stream, and makes it if there is none; `nil` while a tracer of another kind traces the loop.
    ///
    /// Called by the loop's thread, or by the only thread that knows the loop.
    package static func of(_ loop: RunLoop) -> LoopStream? {
        guard let tracer = loop.tracer else {
            let stream = LoopStream(loop)
            loop.tracer = stream
            return stream
        }
        return tracer as? LoopStream
    }

    /// Adds a subscriber, which is called for each of the loop's events from now on.
    ///
    /// Called by the loop's thread, or by the only thread that knows the loop.
    package func add(_ subscriber: any LoopSubscriber) {
        subscriber.begin(in: loop.currentMode, at: state.now)
        boxes.append(Box(subscriber))
    }

    /// Adds a subscriber from any thread, at the loop's next event.
    func addLater(_ subscriber: any LoopSubscriber) { change(.add(subscriber)) }

    /// Removes a subscriber at the loop's next event; from then on it is not called.
    ///
    /// Thread safety: any thread.
    package func remove(_ subscriber: any LoopSubscriber) { change(.remove(subscriber)) }

    /// Releases objects on the loop's thread, at its next event: the objects may hold others that belong to that
    /// thread.
    ///
    /// Thread safety: any thread.
    func release(_ objects: consuming [AnyObject]) { change(.release(consume objects)) }

    /// The number of subscribers.
    ///
    /// Read by the loop's thread.
    var subscriberCount: Int { boxes.count }

    private func change(_ change: consuming Change) {
        lock.lock()
        // Moved: a reference that stayed here could be the last.
        changes.append(consume change)
        lock.unlock()
        hasChanges.store(true, ordering: .releasing)
    }

    package func trace(_ event: LoopEvent) {
        if hasChanges.load(ordering: .relaxed) { applyChanges() }
        switch event {
        case .passes(let activity) where activity != .beforeTimers:
            // The most frequent events change nothing in the state.
            if !references.isEmpty { tell(event, at: state.now) }
        case .wanted(let wait):
            // A program that can be looked into, while nobody does, pays nothing for what only subscribers use.
            guard !references.isEmpty else { return }
            state.noteReady(since: wait.since)
            tell(event, at: state.now)
        case .returns:
            // A subscriber that hears of a callout's return finds the callout still on the stack.
            let time = references.isEmpty ? 0 : state.now
            if !references.isEmpty { tell(event, at: time) }
            state.note(event, at: time, depth: depth)
        case .runBegins, .passes, .calls, .sleeps, .wakes, .runEnds:
            if case .runBegins = event { depth &+= 1 }
            let time = state.now
            state.note(event, at: time, depth: depth)
            if !references.isEmpty { tell(event, at: time) }
            if case .runEnds = event { depth = max(depth, 1) - 1 }
        }
    }

    @inline(__always)
    private func tell(_ event: LoopEvent, at time: Int64) {
        telling &+= 1
        // By number: a subscriber that is called may change who subscribes.
        var index = 0
        while index < references.count {
            references[index]._withUnsafeGuaranteedRef { $0.subscriber.hear(event, at: time, depth: depth) }
            index &+= 1
        }
        telling &-= 1
    }

    @inline(never)
    private func applyChanges() {
        apply(
            lock.withLock {
                defer { self.changes = [] }
                hasChanges.store(false, ordering: .relaxed)
                return self.changes
            })
        if telling == 0 { retired = [] }
        // Last: what is released above may give the loop another tracer, and the loop keeps only one that it no longer has.
        endIfUnused()
    }

    private func apply(_ changes: consuming [Change]) {
        for change in changes {
            switch change {
            case .add(let subscriber): add(subscriber)
            case .remove(let subscriber):
                retired += boxes.filter { $0.subscriber === subscriber }
                boxes.removeAll { $0.subscriber === subscriber }
            case .release: break
            }
        }
    }

    /// Removes a stream without subscribers from its loop, so that the loop again has no cost of tracing.
    ///
    /// Called by the loop's thread.
    func endIfUnused() {
        if boxes.isEmpty, loop.tracer === self { loop.tracer = nil }
    }
}

/// Receives the events of one loop: a recorder, a meter or a watch.
package protocol LoopSubscriber: AnyObject, Sendable {
    /// Called before the first event, on the loop's thread; `mode` is the mode of the run under way, if there is one.
    func begin(in mode: RunLoop.Mode?, at time: Int64)

    /// Called for each event, on the loop's thread with no lock held; `depth` is the number of runs that contain the
    /// event.
    func hear(_ event: LoopEvent, at time: Int64, depth: UInt16)

    /// Whether the subscriber needs only the loop's state, and is not called for events.
    var isSilent: Bool { get }
}

extension LoopSubscriber {
    package func begin(in mode: RunLoop.Mode?, at time: Int64) {}
    package var isSilent: Bool { false }
}
