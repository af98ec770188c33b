// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The runs in progress that were stopped while the wake-up of the stop counts: before the sleep of their turn.
///
/// In the real loop a run that is nested in such a turn takes that wake-up. In this package's loop the nested run
/// leaves the wake-up to the stopped run. See `KeptDifference`.
struct StopsBeforeSleep {
    /// Where in a turn a callout is, as far as its kind tells.
    enum Place {
        /// The loop has still to sleep, or to look at what is ready.
        case beforeSleep
        case afterSleep
    }

    /// One for each run in progress, outermost first.
    private var runs: [(place: Place, isStopped: Bool)] = []

    /// Whether a run that begins now takes the wake-up of a stop.
    var areTakenByRun: Bool { runs.last?.isStopped ?? false }

    mutating func runBegins() { runs.append((.afterSleep, false)) }

    mutating func runEnds() { runs.removeLast() }

    /// A callout of the innermost run begins.
    mutating func calloutBegins(_ place: Place) {
        guard let last = runs.indices.last else { return }
        runs[last].place = place
        if place == .afterSleep { runs[last].isStopped = false }
    }

    /// The callout in progress stops the innermost run.
    mutating func stop() {
        guard let last = runs.indices.last, runs[last].place == .beforeSleep else { return }
        runs[last].isStopped = true
    }
}

extension Callout {
    /// `nil` for what is called at no place of its own.
    var place: StopsBeforeSleep.Place? {
        switch self {
        case .observer(_, activity: 64), .timer, .descriptor: .afterSleep
        // A run that an observer of entry stopped goes from there to exit.
        case .observer(_, activity: 128), .schedule, .cancel: nil
        case .observer, .source: .beforeSleep
        }
    }
}
