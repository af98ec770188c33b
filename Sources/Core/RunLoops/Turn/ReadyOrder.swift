// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The instant since which the timers of a mode have been ready, and the rule of what is served first: the kind of item
/// that has been ready longest (Specification 5.5).
///
/// A wake-up has been ready since its call. The kernel does not say when a descriptor became ready, so a descriptor
/// counts as ready since the last look that did not find it ready. Timers have been ready since the first of them was
/// due, and keep that instant if the first timer is removed or postponed before it is served. A timer that was due
/// before it became the first has been ready since it became the first.
///
/// All instants are of the monotonic clock.
struct ReadyOrder {
    /// The instant since which timers had already been ready when another timer became the first; `nil` if they were
    /// not ready.
    private var timersWaitSince: Int64?
    /// The instant at which the present first timer became the first.
    private var timersAwaited = Int64.min

    /// Returns the instant since which timers have been ready, if the first of them was due at `date`.
    func timersReady(since date: Int64) -> Int64 { timersWaitSince ?? max(date, timersAwaited) }

    /// Called when another timer becomes the first because a timer is added or removed, or its date is changed.
    ///
    /// - Parameter date: When the present first timer is, or was, due.
    mutating func firstTimerChanges(from date: Int64, now: Int64) {
        if date <= now { timersWaitSince = timersReady(since: date) }
        timersAwaited = now
    }

    /// Called when due timers are served: remaining timers and timers that are added later count as ready since now.
    mutating func timersServed(_ now: Int64, leavingOthers: Bool) {
        timersWaitSince = leavingOthers ? now : nil
        timersAwaited = now
    }

    /// Resets the date since which timers have been ready, if it is earlier than `date`; called when no timer is due.
    mutating func passTimers(before date: Int64 = .max) {
        if let since = timersWaitSince, since < date { timersWaitSince = nil }
    }

    /// Returns the kind that is served first; `nil` if none is ready.
    ///
    /// - Parameters:
    ///   - wakeUp: The instant since which a wake-up has been ready; `nil` if there is none.
    ///   - timers: The instant since which timers have been ready; `nil` if none are.
    ///   - descriptors: The instant since which descriptors have been ready; `nil` if none are.
    static func first(wakeUp: Int64?, timers: Int64?, descriptors: Int64?) -> Cause? {
        var cause: Cause? = wakeUp == nil ? nil : .wakeUp
        var since = wakeUp ?? .max
        if let timers, timers < since {
            cause = .timers
            since = timers
        }
        if let descriptors, descriptors < since { return .descriptor }
        return cause
    }
}
