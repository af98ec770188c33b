// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import Synchronization

/// Announces what one loop does to its listeners: the loop itself knows one tracer.
///
/// The clock is read once for all of them.
// Unchecked: what is not atomic belongs to the loop's thread, or is guarded by the lock.
final class LoopAnnouncer: LoopTracer, @unchecked Sendable {
    private enum Change {
        case add(any LoopListener)
        case remove(any LoopListener)
        case release([AnyObject])
    }

    /// What a listener is kept by: read as a constant of an object that is not counted, it need not be counted either,
    /// which would cost more than all the rest.
    private final class ListenerBox {
        let listener: any LoopListener
        init(_ listener: any LoopListener) { self.listener = listener }
    }

    // SAFETY: looked at inside `trace` only, which the loop itself calls.
    private unowned(unsafe) let loop: RunLoop
    private let clock: LoopClock

    // The loop's thread.
    @exclusivity(unchecked) private var boxes: [ListenerBox] = [] {
        didSet {
            references = boxes.map { .passUnretained($0) }
            lone = boxes.count == 1 ? (boxes[0].listener as? LoopStatus).map { .passUnretained($0) } : nil
        }
    }
    // SAFETY: `boxes` keeps them. A box that is removed while a listener is called is kept in `retired` meanwhile.
    @exclusivity(unchecked) private var references: [Unmanaged<ListenerBox>] = []
    @exclusivity(unchecked) private var retired: [ListenerBox] = []
    // SAFETY: the only one in `boxes`, which holds it.
    @exclusivity(unchecked) private var lone: Unmanaged<LoopStatus>?
    /// How many events are being announced: a listener may run the loop.
    @exclusivity(unchecked) private var telling = 0
    @exclusivity(unchecked) private var depth: UInt16 = 0

    private let hasChanges = Atomic<Bool>(false)
    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var changes: [Change] = []

    private init(_ loop: RunLoop) {
        self.loop = loop
        clock = LoopClock(loop)
        // In the middle of a run its depth is not known; one is the most likely.
        depth = loop.currentMode == nil ? 0 : 1
    }

    /// Has a listener told of what the loop does from here on.
    ///
    /// Whether it will be: not while something of another kind traces the loop. The loop's thread, or the only one that
    /// knows the loop.
    static func add(_ listener: any LoopListener, to loop: RunLoop) -> LoopAnnouncer? {
        if let tracer = loop.tracer, !(tracer is LoopAnnouncer) { return nil }
        let announcer = loop.tracer as? LoopAnnouncer ?? LoopAnnouncer(loop)
        announcer.boxes.append(ListenerBox(listener))
        loop.tracer = announcer
        return announcer
    }

    /// The same from any thread, for a loop that somebody listens to until then.
    ///
    /// The listener hears what comes after the loop's next event.
    func add(_ listener: any LoopListener) { change(.add(listener)) }

    /// The listener hears nothing after the loop's next event.
    ///
    /// Any thread.
    func remove(_ listener: any LoopListener) { change(.remove(listener)) }

    /// Lets go of objects on the loop's thread, at its next event: what they hold may belong to that thread.
    ///
    /// Any thread.
    func release(_ objects: consuming [AnyObject]) {
        lock.lock()
        // Moved: a reference that stayed here could be the last.
        changes.append(.release(consume objects))
        lock.unlock()
        hasChanges.store(true, ordering: .releasing)
    }

    /// How many listen at present.
    ///
    /// The loop's thread.
    var listenerCount: Int { boxes.count }

    private func change(_ change: Change) {
        lock.withLock { changes.append(change) }
        hasChanges.store(true, ordering: .releasing)
    }

    func trace(_ event: LoopEvent) {
        if hasChanges.load(ordering: .relaxed) { applyChanges() }
        // A program that can be looked into, while nobody does: this is what it pays all the time.
        if let lone { return lone._withUnsafeGuaranteedRef { tell($0, event) } }
        let time = clock.now
        if case .runBegins = event { depth &+= 1 }
        telling &+= 1
        // By number: a listener that is called may change who listens.
        var index = 0
        while index < references.count {
            references[index]._withUnsafeGuaranteedRef { $0.listener.hear(event, at: time, depth: depth) }
            index &+= 1
        }
        telling &-= 1
        if case .runEnds = event { depth = max(depth, 1) - 1 }
    }

    /// Tells a status, and nothing but what it notes: of most events not even the time is asked for.
    @inline(__always)
    private func tell(_ status: LoopStatus, _ event: LoopEvent) {
        switch event {
        case .wanted: return
        case .passes(let activity) where activity != .beforeTimers: return
        case .runBegins: depth &+= 1
        default: break
        }
        status.hear(event, at: clock.now, depth: depth)
        if case .runEnds = event { depth = max(depth, 1) - 1 }
    }

    @inline(never)
    private func applyChanges() {
        let changes = lock.withLock {
            defer { self.changes = [] }
            hasChanges.store(false, ordering: .relaxed)
            return self.changes
        }
        for change in changes {
            switch change {
            case .add(let listener): boxes.append(ListenerBox(listener))
            case .remove(let listener):
                retired += boxes.filter { $0.listener === listener }
                boxes.removeAll { $0.listener === listener }
            case .release: break
            }
        }
        if telling == 0 { retired = [] }
        // The loop costs again what it costs when nobody looks. What it is telling just now reaches nobody.
        if boxes.isEmpty, loop.tracer === self { loop.tracer = nil }
    }
}
