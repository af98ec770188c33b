// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
// Without this module a zone knows its name and not its rules.
internal import FoundationInternationalization

/// What the clocks on the walls of a zone show.
///
/// Local times are seconds since 1970 as these clocks would count them; the others are seconds since 1970.
struct LocalClock {
    /// The most that a local time has ever been away from Greenwich's is 15 hours and 13 minutes.
    private static let farthest = 16 * 3600

    let zone: TimeZone

    /// How far the clocks are ahead of Greenwich's at that second.
    func offset(at second: Int) -> Int {
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second)))
    }

    /// The smallest and the largest offset that a date near that second is computed with.
    func offsets(around second: Int) -> ClosedRange<Int> {
        let before = offset(at: second - 2 * Self.farthest)
        let (now, after) = (offset(at: second), offset(at: second + 2 * Self.farthest))
        return min(before, now, after)...max(before, now, after)
    }

    /// Returns the seconds, in order, at which the clocks show `local`: none, one or two, as the rules say.
    ///
    /// A zone changes its clocks at most once within 32 hours.
    func seconds(showing local: Int, _ rules: CalendarSchedule.Rules) -> [Int] {
        let (start, end) = (local - Self.farthest, local + Self.farthest)
        let (before, after) = (offset(at: start), offset(at: end))
        if before == after { return [local - before] }
        let isBeforeChange = offset(at: local - before) == before
        let isAfterChange = offset(at: local - after) == after
        switch (isBeforeChange, isAfterChange) {
        case (true, false): return [local - before]
        case (false, true): return [local - after]
        case (true, true):
            switch rules.repeatedTime {
            case .first: return [local - before]
            case .second: return [local - after]
            case .both: return [local - before, local - after]
            }
        case (false, false):
            switch rules.missingTime {
            case .whenGapEnds: return [change(to: after, from: start, until: end)]
            case .sameOffset: return [local - before]
            case .skip: return []
            }
        }
    }

    /// The first second with the offset `after`, which `end` has and `start` does not.
    private func change(to after: Int, from start: Int, until end: Int) -> Int {
        var (start, end) = (start, end)
        while end - start > 1 {
            let middle = start + (end - start) / 2
            if offset(at: middle) == after { end = middle } else { start = middle }
        }
        return end
    }
}
