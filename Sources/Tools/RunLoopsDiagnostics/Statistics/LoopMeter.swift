// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Counts the activity of one loop: the loop's thread adds to the counts, any thread reads them.
///
/// The loop's state has the counts of turns and callouts and the times; the meter adds their distributions. A reader
/// never delays the loop, so that a reading in the middle of a turn may contain a part of the turn.
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
    /// When the loop woke up or its run began; `min` outside a run, and before the first event of a run.
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
            // Without the time of the request there is no latency.
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

    /// Returns the counts so far, including the present sleep or stretch awake, and whether the loop sleeps.
    ///
    /// - Parameter endsRound: Whether the search for the longest recent callouts begins anew for the next report; one
    ///   thread at a time.
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
    /// The counts since the loop's state was first recorded, and whether the loop sleeps.
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
