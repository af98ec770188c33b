// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The runs in progress that were stopped before the sleep of their turn, when a stop also leaves a wake-up.
///
/// In the real loop, a run that is nested in such a turn takes the wake-up. In this package's loop, the nested run
/// leaves the wake-up to the stopped run. See `KeptDifference`.
struct StopsBeforeSleep {
    /// The part of a turn in which a callout is made, as far as its kind determines it.
    enum Place {
        /// The loop has not slept yet in this turn, and has not looked for ready items.
        case beforeSleep
        case afterSleep
    }

    /// One for each run in progress, outermost first.
    private var runs: [(place: Place, isStopped: Bool)] = []

    /// Whether a run that begins now takes the wake-up of a stop.
    var areTakenByRun: Bool { runs.last?.isStopped ?? false }

    mutating func runBegins() { runs.append((.afterSleep, false)) }

    mutating func runEnds() { runs.removeLast() }

    /// Records that a callout of the innermost run begins.
    mutating func calloutBegins(_ place: Place) {
        guard let last = runs.indices.last else { return }
        runs[last].place = place
        if place == .afterSleep { runs[last].isStopped = false }
    }

    /// Records that the callout in progress stops the innermost run.
    mutating func stop() {
        guard let last = runs.indices.last, runs[last].place == .beforeSleep else { return }
        runs[last].isStopped = true
    }
}

extension Callout {
    /// The part of a turn in which the callout is made; `nil` if it can be made in any part.
    var place: StopsBeforeSleep.Place? {
        switch self {
        case .observer(_, activity: 64), .timer, .descriptor: .afterSleep
        // A run that an observer of entry stopped goes from there to exit.
        case .observer(_, activity: 128), .schedule, .cancel: nil
        case .observer, .source: .beforeSleep
        }
    }
}
