// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Since when each kind of thing that a mode serves has been ready: the kind that has waited longest goes first.
///
/// This one rule keeps any kind of item from starving another (Documentation/Decisions/0004-who-goes-first.md). The
/// real `CFRunLoop` has an epoll with a descriptor for each kind in a mode, and epoll keeps what is ready in a list. A
/// kind has one place in that list. It keeps the place while it is not looked at, whatever happens to what was ready
/// first. It goes to the end when it was served, or was looked at and found not ready.
///
/// All instants are of the monotonic clock.
// An object, so that its two parts, which are guarded differently, can be written separately.
final class Fairness: @unchecked Sendable {
    // MARK: Timers. Guarded by the loop's lock.

    /// The place that timers have kept since another timer became the first: the instant from which they have waited.
    @exclusivity(unchecked) private var timersWaitSince: Int64?
    /// Since when the present first timer is awaited: a timer that was due before is ready since then.
    @exclusivity(unchecked) private var timersAwaited = Int64.min

    /// Since when timers wait, of which the first was due at `date`.
    func timersReady(since date: Int64) -> Int64 { timersWaitSince ?? max(date, timersAwaited) }

    /// Another timer will be the first: a timer comes, goes, or gets another date.
    ///
    /// - Parameter date: When the present first timer is, or was, due.
    func firstTimerChanges(from date: Int64, now: Int64) {
        if date <= now { timersWaitSince = timersReady(since: date) }
        timersAwaited = now
    }

    /// Due timers are being served: timers that are left over or come later go to the end.
    ///
    /// While the first of several is served, the next has its place there already.
    func timersServed(_ now: Int64, leavingOthers: Bool) {
        timersWaitSince = leavingOthers ? now : nil
        timersAwaited = now
    }

    /// A look has gone on to what has been ready since `date`, or the thread goes to sleep, and no timer was due.
    func passTimers(before date: Int64 = .max) {
        if let since = timersWaitSince, since < date { timersWaitSince = nil }
    }

    // MARK: Wake-ups. The loop's thread.

    /// The place of a wake-up that was served in another mode: the instant from which it has waited.
    @exclusivity(unchecked) private var wakeUpWaitsSince: Int64?

    /// Since when a wake-up waits that was called at `date`.
    func wakeUpReady(since date: Int64) -> Int64 { min(date, wakeUpWaitsSince ?? date) }

    /// Another mode has served the wake-up of `date`, which leaves its place here to the next.
    func wakeUpServedElsewhere(_ date: Int64) { wakeUpWaitsSince = wakeUpWaitsSince ?? date }

    /// This mode has served a wake-up, or has gone on to what has been ready since `date` and found none.
    func passWakeUp(before date: Int64 = .max) {
        if let since = wakeUpWaitsSince, since < date { wakeUpWaitsSince = nil }
    }

    // MARK: Descriptors. The loop's thread.

    /// Since when the descriptors that the last look found are ready: the look before has not found them.
    @exclusivity(unchecked) var descriptorsReady: Int64 = 0
}
