// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import Synchronization

/// Counts what one loop does: its thread adds, any thread reads.
///
/// Every number is a word of its own, so that no reader holds the loop up, and a snapshot taken in the middle of a turn
/// may have counted one thing of it and not yet another.
// Unchecked: what is not atomic belongs to the loop's thread.
final class LoopMeter: LoopListener, @unchecked Sendable {
    /// One callout under way.
    private struct Open {
        var callee = RunLoop.Trace.Event.Callee.block
        var label: (UInt64, UInt64) = (0, 0)
        var since: Int64 = 0
        /// How long the loop had slept by then: what it sleeps inside is not the callout's.
        var slept: Int64 = 0
    }

    private static let mostOpen = 16
    private static let causes = 5

    let thread: Int32
    let isMain: Bool

    private let turns = Atomic<UInt64>(0)
    private let asleep = Atomic<Int64>(0)
    private let busy = Atomic<Int64>(0)
    private let stretches = AtomicHistogram()
    private let lateness = AtomicHistogram()
    private let latency: [AtomicHistogram]
    private let table = CalloutTable()
    /// Of each cause.
    private let wakings = AtomicRow(count: causes)
    /// Of each kind.
    private let callouts = AtomicRow(count: RunLoop.Trace.Event.Callee.allCases.count)

    // The loop's thread.
    @exclusivity(unchecked) private var labels = LabelKeeper()
    @exclusivity(unchecked) private var open: [Open]
    @exclusivity(unchecked) private var openCount = 0
    @exclusivity(unchecked) private var slept: Int64 = 0
    /// Since when the loop is awake; `min` outside a run, and before the first event of a run.
    @exclusivity(unchecked) private var awakeSince = Int64.min

    init(_ loop: RunLoop) {
        thread = loop.threadID
        isMain = loop.threadID == SystemCalls.mainThreadID
        open = Array(repeating: Open(), count: Self.mostOpen)
        latency = RunLoop.Trace.Event.Callee.allCases.map { _ in AtomicHistogram() }
    }

    // MARK: The loop's thread

    func hear(_ event: LoopEvent, at time: Int64, depth: UInt16) {
        switch event {
        case .runBegins:
            if awakeSince == .min { awakeSince = time }
        case .passes(let activity):
            if activity == .beforeTimers { turns.addAlone(1) }
        case .calls(let callee, let label):
            begin(RunLoop.Trace.Event.Callee(callee), label, time)
        case .wanted(let wait):
            guard openCount > 0, openCount <= Self.mostOpen else { return }
            // What nobody knows is not a latency.
            guard wait.since > 0 else { return }
            let callee = open[openCount - 1].callee
            (callee == .timer ? lateness : latency[Int(callee.rawValue)]).add(time - wait.since)
        case .returns:
            end(time)
        case .sleeps:
            endStretch(time)
        case .wakes(let waking):
            wakings.add(Int(waking.cause.rawValue))
            slept &+= time - waking.asleepSince
            asleep.store(slept, ordering: .relaxed)
            awakeSince = time
        case .runEnds:
            if depth <= 1 { endStretch(time) }
        }
    }

    private func endStretch(_ time: Int64) {
        guard awakeSince != .min else { return }
        busy.addAlone(time - awakeSince)
        stretches.add(time - awakeSince)
        awakeSince = .min
    }

    private func begin(_ callee: RunLoop.Trace.Event.Callee, _ label: ItemLabel, _ time: Int64) {
        callouts.add(Int(callee.rawValue))
        if openCount < Self.mostOpen {
            open[openCount] = Open(callee: callee, label: labels.keep(label), since: time, slept: slept)
        }
        openCount += 1
    }

    private func end(_ time: Int64) {
        // The meter may have come in the middle of a callout.
        guard openCount > 0 else { return }
        openCount -= 1
        guard openCount < Self.mostOpen else { return }
        let entry = open[openCount]
        table.add(entry.callee, entry.label, max(0, time - entry.since - (slept - entry.slept)))
    }

    // MARK: Any thread

    /// What has been counted so far.
    func snapshot() -> RunLoop.Statistics {
        var statistics = RunLoop.Statistics()
        statistics.turns = turns.load(ordering: .relaxed)
        for cause in RunLoop.Trace.Event.Waking.Cause.allCases {
            statistics.wakings[cause] = wakings[Int(cause.rawValue)]
        }
        for callee in RunLoop.Trace.Event.Callee.allCases {
            statistics.callouts[callee] = callouts[Int(callee.rawValue)]
            if [.source, .block, .descriptor, .job].contains(callee) {
                statistics.latency[callee] = latency[Int(callee.rawValue)].snapshot()
            }
        }
        statistics.asleep = asleep.load(ordering: .relaxed)
        statistics.busy = busy.load(ordering: .relaxed)
        statistics.stretches = stretches.snapshot()
        statistics.lateness = lateness.snapshot()
        (statistics.dearest, statistics.notAssigned) = table.snapshot()
        return statistics
    }
}
