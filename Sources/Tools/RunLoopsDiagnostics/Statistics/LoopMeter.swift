// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Counts what one loop does: its thread adds, any thread reads.
///
/// Turns, callouts and times are the loop's state; the meter adds how they are spread. No reader holds the loop up, so a
/// reading in the middle of a turn may have counted one thing of it and not yet another.
// Unchecked: what is not shared words belongs to the loop's thread, or never changes.
final class LoopMeter: LoopSubscriber, @unchecked Sendable {
    private let state: LoopState
    /// The counts of the loop before the meter was added.
    private let before: RunLoop.Statistics
    private let stretches = SharedHistogram()
    private let lateness = SharedHistogram()
    private let latency = RunLoop.Trace.Event.Callee.allCases.map { _ in SharedHistogram() }
    private let table: CalloutTable

    // The loop's thread.
    /// Since when the loop is awake; `min` outside a run, and before the first event of a run.
    @exclusivity(unchecked) private var awakeSince = Int64.min

    init(_ state: LoopState) {
        self.state = state
        before = state.done.statistics
        table = CalloutTable(labels: state.labels)
    }

    // MARK: The loop's thread

    func hear(_ event: LoopEvent, at time: Int64, depth: UInt16) {
        switch event {
        case .runBegins: if awakeSince == .min { awakeSince = time }
        case .wanted(let wait):
            // What nobody knows is not a latency.
            guard wait.since > 0, let callee = state.innermost?.callee else { return }
            // A timer that uses its tolerance is not late.
            if callee == .timer { return lateness.add(time - wait.since - wait.tolerance) }
            latency[Int(callee.rawValue)].add(time - wait.since)
        case .returns:
            // The meter may have come in the middle of a callout.
            guard let frame = state.innermost else { return }
            table.add(frame.callee, frame.words, state.length(of: frame, at: time))
        case .sleeps: endStretch(time)
        case .wakes: awakeSince = time
        case .runEnds: if depth <= 1 { endStretch(time) }
        case .passes, .calls: break
        }
    }

    private func endStretch(_ time: Int64) {
        guard awakeSince != .min else { return }
        stretches.add(time - awakeSince)
        awakeSince = .min
    }

    // MARK: Any thread

    /// The counts so far, with the sleep or the stretch awake that goes on, and whether the loop sleeps.
    ///
    /// - Parameter endsRound: Whether the longest callouts from here on are another report's; one thread at a time.
    func read(endsRound: Bool = false) -> (statistics: RunLoop.Statistics, isAsleep: Bool) {
        let (now, isAsleep) = state.done
        var statistics = now.since(before)
        for callee in [RunLoop.Trace.Event.Callee.source, .block, .descriptor, .job] {
            statistics.latency[callee] = latency[Int(callee.rawValue)].snapshot()
        }
        statistics.stretches = stretches.snapshot()
        statistics.lateness = lateness.snapshot()
        table.read(into: &statistics, endsRound: endsRound)
        return (statistics, isAsleep)
    }
}

extension LoopState {
    /// The counts since the loop's state is kept, and whether the loop sleeps.
    fileprivate var done: (statistics: RunLoop.Statistics, isAsleep: Bool) {
        let seen = snapshot()
        let goesOn = max(0, now - seen.since)
        var statistics = RunLoop.Statistics()
        statistics.turns = seen.turns
        statistics.wakings = seen.wakings
        statistics.callouts = seen.calloutCounts
        statistics.asleep = seen.slept + (seen.activity == .asleep ? goesOn : 0)
        statistics.busy = seen.busy + (seen.activity == .busy ? goesOn : 0)
        return (statistics, seen.activity == .asleep)
    }
}

/// A histogram of durations that one thread adds to and any thread reads.
final class SharedHistogram: Sendable {
    private static let sum = RunLoop.DurationHistogram.stepCount
    private static let longest = sum + 1
    private let words = SharedWords(count: longest + 1)

    @inline(__always)
    func add(_ nanoseconds: Int64) {
        let length = UInt64(max(nanoseconds, 0))
        words.add(RunLoop.DurationHistogram.step(nanoseconds))
        words.add(Self.sum, length)
        if length > words[Self.longest] { words[Self.longest] = length }
    }

    func snapshot() -> RunLoop.DurationHistogram {
        var histogram = RunLoop.DurationHistogram()
        for index in 0..<Self.sum { histogram.counts[index] = words[index] }
        histogram.sum = Int64(bitPattern: words[Self.sum])
        histogram.longest = Int64(bitPattern: words[Self.longest])
        return histogram
    }
}
