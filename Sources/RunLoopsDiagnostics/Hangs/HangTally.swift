// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Which callouts a stretch consists of: the returned callouts, and the callouts under way.
struct HangTally {
    /// One callout, with its time in nanoseconds.
    struct Timed {
        var callout: RunLoop.HangWatch.Report.Callout
        var nanoseconds: Int64
    }

    /// The callout that took the greatest part, or is taking it.
    private(set) var longest: Timed?
    /// By label, the greatest first.
    private(set) var commonest: [RunLoop.HangWatch.Report.Callout]
    /// How many there were, with those under way.
    private(set) var callouts: Int

    init(_ stretch: StretchTally.Stretch, open: [LoopStatus.Callout], since: Int64, now: Int64) {
        let timed = stretch.commonest.map(Self.timed)
        longest = stretch.longest.map(Self.timed)
        let present = Self.guilty(open, since: since, now: now)
        if let present, present.nanoseconds > longest?.nanoseconds ?? 0 { longest = present }
        // A callout that is under way counts once, not once more for each that is inside it.
        callouts = stretch.callouts + (open.isEmpty ? 0 : 1)
        commonest = (timed + (present.map { [$0] } ?? [])).sorted { $0.nanoseconds > $1.nanoseconds }
            .prefix(8).map(\.callout)
    }

    /// Of callouts inside each other the innermost that has taken at least half of what the outermost has.
    private static func guilty(_ open: [LoopStatus.Callout], since: Int64, now: Int64) -> Timed? {
        func time(_ callout: LoopStatus.Callout) -> Int64 { max(0, now - max(callout.since, since)) }
        guard let outermost = open.first,
            let callout = open.last(where: { time($0) * 2 >= time(outermost) })
        else { return nil }
        return timed(
            StretchTally.Entry(callee: callout.callee, label: callout.label, count: 0, time: time(callout)))
    }

    private static func timed(_ entry: StretchTally.Entry) -> Timed {
        Timed(
            callout: RunLoop.HangWatch.Report.Callout(
                kind: entry.callee, label: entry.label?.text ?? "(one label too many)", place: entry.label?.location,
                duration: .nanoseconds(entry.time), count: entry.count),
            nanoseconds: entry.time)
    }
}
