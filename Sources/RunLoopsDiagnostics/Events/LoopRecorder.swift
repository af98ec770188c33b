// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import Synchronization

/// Writes what one loop does into its ring.
///
/// Only the loop's thread calls `hear`; the rest may be asked by any.
// Unchecked: what is not atomic belongs to the loop's thread, or never changes.
final class LoopRecorder: LoopListener, @unchecked Sendable {
    let ring: EventRing
    let book: ItemBook
    let thread: Int32
    let name: String
    let isMain: Bool
    private let isOn = Atomic<Bool>(true)

    // The loop's thread.
    @exclusivity(unchecked) private var labels = LabelKeeper()

    init(_ loop: RunLoop, capacity: Int) {
        thread = loop.threadID
        isMain = loop.threadID == SystemCalls.mainThreadID
        name = ThreadName.ofThread(loop.threadID)
        ring = EventRing(capacity: capacity)
        book = ItemBook(loop)
    }

    /// Writes no more events, whoever reports them.
    func stop() { isOn.store(false, ordering: .relaxed) }

    func hear(_ event: LoopEvent, at time: Int64, depth: UInt16) {
        guard isOn.load(ordering: .relaxed) else { return }
        book.hear(event, at: time, depth: depth)
        var raw = RawEvent(time: time)
        switch event {
        case .runBegins(let mode):
            raw.head = RunLoop.Trace.Event.head(.runBegan, depth: depth)
            raw.first = Int64(mode.number)
        case .passes(let activity):
            raw.head = RunLoop.Trace.Event.head(.passed, depth: depth)
            raw.first = Int64(truncatingIfNeeded: activity.rawValue)
        case .calls(let callee, let label):
            raw.head = RunLoop.Trace.Event.head(
                .calloutBegan, detail: RunLoop.Trace.Event.Callee(callee).rawValue, depth: depth)
            (raw.label, raw.line) = labels.keep(label)
        case .wanted(let wait):
            raw.head = RunLoop.Trace.Event.head(.wanted, depth: depth, thread: wait.thread)
            raw.first = wait.since
            raw.second = wait.tolerance
            raw.third = wait.interval
        case .returns:
            raw.head = RunLoop.Trace.Event.head(.calloutEnded, depth: depth)
        case .sleeps:
            // The event that ends the sleep says when it began.
            return
        case .wakes(let waking):
            raw.head = RunLoop.Trace.Event.head(
                .woke, detail: waking.cause.rawValue, depth: depth, thread: waking.thread)
            raw.first = waking.calledAt
            raw.second = waking.asleepSince
        case .runEnds(let result):
            raw.head = RunLoop.Trace.Event.head(.runEnded, depth: depth)
            raw.first = Int64(result.rawValue)
        }
        ring.write(raw)
    }

    /// What has been recorded so far.
    ///
    /// Any thread.
    func events() -> (events: [RunLoop.Trace.Event], lost: UInt64) {
        let (raw, lost) = ring.read()
        let events = raw.compactMap { RunLoop.Trace.Event($0) { RunLoop.Mode(number: UInt32(truncatingIfNeeded: $0)) } }
        return (events, lost)
    }
}
