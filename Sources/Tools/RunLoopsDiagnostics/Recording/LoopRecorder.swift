// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import Synchronization

/// Writes the events of one loop into a ring.
// Unchecked: what is neither atomic nor guarded by the lock never changes.
final class LoopRecorder: LoopSubscriber, @unchecked Sendable {
    let state: LoopState
    private let ring: EventRing
    private let book: ItemBook
    private let identity: RunLoop.Identity
    /// When the recording began, in nanoseconds; earlier runs and sleeps are shown from this time on.
    private let begun: Int64
    /// The modes of the runs that were under way when the recording began, the innermost last.
    private let modes: [RunLoop.Mode]
    /// Whether the loop's thread has recorded the runs and callouts that were under way at the beginning.
    private let hasBegun = Atomic<Bool>(false)
    private let end = Guarded<End?>(nil)

    /// The time when the recording was stopped, and the loop's state at that time.
    private struct End {
        var time: Int64
        var seen: LoopState.Snapshot
    }

    init(_ loop: RunLoop, _ state: LoopState, capacity: Int) {
        self.state = state
        identity = RunLoop.Identity(thread: state.thread)
        ring = EventRing(capacity: capacity)
        modes = loop.snapshot(patience: 20_000_000)?.modes ?? []
        book = ItemBook(loop, state, running: modes)
        begun = state.now
        state.labels.add(ring)
    }

    // MARK: The loop's thread

    func begin(in mode: RunLoop.Mode?, at time: Int64) {
        for event in underWay(state.snapshot()) { ring.write(event) }
        hasBegun.store(true, ordering: .releasing)
    }

    func hear(_ event: LoopEvent, at time: Int64, depth: UInt16) {
        var raw = RawEvent(time: time)
        switch event {
        case .runBegins(let mode):
            book.runBegins(mode, at: time)
            raw = .runBegan(mode, at: time, depth)
        case .passes(let activity):
            raw.head = RunLoop.Trace.Event.head(.passed, depth: depth)
            raw.first = Int64(truncatingIfNeeded: activity.rawValue)
        case .calls(let callee, _):
            raw = .calloutBegan(
                RunLoop.Trace.Event.Callee(callee), state.innermost?.words ?? (0, 0), at: time, depth)
        case .wanted(let wait):
            raw.head = RunLoop.Trace.Event.head(.wanted, depth: depth, thread: wait.thread)
            raw.first = wait.since
            raw.second = wait.tolerance
            raw.third = wait.interval
        case .returns:
            raw.head = RunLoop.Trace.Event.head(.calloutEnded, depth: depth)
        case .sleeps:
            // The event that ends the sleep says when it began.
            return book.sleeps(at: time)
        case .wakes(let waking):
            raw.head = RunLoop.Trace.Event.head(
                .woke, detail: waking.cause.rawValue, depth: depth, thread: waking.thread)
            raw.first = waking.calledAt
            raw.second = max(waking.asleepSince, begun)
        case .runEnds(let result):
            if depth <= 1 { book.lookIfDue(at: time) }
            raw.head = RunLoop.Trace.Event.head(.runEnded, depth: depth)
            raw.first = Int64(result.rawValue)
        }
        ring.write(raw)
    }

    /// Returns events for the beginnings of the runs and callouts under way, so that later events are inside a run.
    ///
    /// If the loop's lock was not free when the recording began, the modes of these runs are not known.
    private func underWay(_ seen: LoopState.Snapshot) -> [RawEvent] {
        guard seen.depth > 0 else { return [] }
        let time = min(begun, seen.callouts.first?.since ?? begun)
        return (0..<seen.depth).map { index in
            .runBegan(index < modes.count ? modes[index] : "a mode", at: time, UInt16(clamping: index + 1))
        }
            + seen.callouts.map { .calloutBegan($0.callee, $0.words, at: $0.since, UInt16(clamping: seen.depth)) }
    }

    // MARK: Any thread

    /// Ends the recording with the present state of the loop; later calls do nothing.
    func stop() {
        end.withLock { if $0 == nil { $0 = End(time: state.now, seen: state.snapshot()) } }
    }

    /// Returns the recording so far, and the time of its end in nanoseconds.
    func read() -> (loop: RunLoop.Trace.Loop, end: Int64) {
        let end = end.withLock { $0 } ?? End(time: state.now, seen: state.snapshot())
        let (events, lost) = state.labels.reading {
            let (written, lost) = ring.read()
            // A loop that hangs has not come to its first event.
            let raw = hasBegun.load(ordering: .acquiring) ? written : underWay(end.seen)
            return (raw.compactMap(RunLoop.Trace.Event.init), lost)
        }
        let (modesRun, pages) = book.read()
        let asleepSince = end.seen.activity == .asleep ? max(end.seen.since, begun) : nil
        let loop = RunLoop.Trace.Loop(
            thread: identity.thread, name: identity.name, isMain: identity.isMain, events: events, lost: Int(lost),
            asleepSince: asleepSince, modesRun: modesRun, pages: pages,
            hostOverdue: book.hostOverdue)
        return (loop, end.time)
    }
}

extension RawEvent {
    fileprivate static func runBegan(_ mode: RunLoop.Mode, at time: Int64, _ depth: UInt16) -> RawEvent {
        RawEvent(time: time, head: RunLoop.Trace.Event.head(.runBegan, depth: depth), first: Int64(mode.number))
    }

    fileprivate static func calloutBegan(
        _ callee: RunLoop.Trace.Event.Callee, _ label: (text: UInt64, line: UInt64), at time: Int64, _ depth: UInt16
    ) -> RawEvent {
        RawEvent(
            time: time, head: RunLoop.Trace.Event.head(.calloutBegan, detail: callee.rawValue, depth: depth),
            label: label.text, line: label.line)
    }
}
