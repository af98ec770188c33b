// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Since when each kind of thing that a mode serves has been ready, and which of them goes first: what has waited longest.
///
/// This one rule keeps any kind of item from starving another (Documentation/Decisions/0004-who-goes-first.md). The
/// real `CFRunLoop` has an epoll with a descriptor for each kind in a mode, and epoll keeps what is ready in a list. A
/// kind has one place in that list. It keeps the place while it is not looked at, whatever happens to what was ready
/// first. It goes to the end when it was served, or was looked at and found not ready.
///
/// All instants are of the monotonic clock.
// An object, so that its two parts, which are guarded differently, can be written separately.
final class ReadyOrder: @unchecked Sendable {
    // MARK: Timers. Guarded by the loop's lock.

    /// The place that timers have kept since another timer became the first: the instant from which they have waited.
    @exclusivity(unchecked) private var timersWaitSince: Int64?
    /// Since when the present first timer is awaited: a timer that was due before is ready since then.
    @exclusivity(unchecked) private var timersAwaited = Int64.min
    /// The place of timers that have ended the sleep, and are to be served after its observers.
    private enum PlaceAfterSleep {
        case kept, givenUp
        case again(since: Int64)
    }
    @exclusivity(unchecked) private var placeAfterSleep = PlaceAfterSleep.kept
    /// The date of the last timer, which has left the mode without any timer: Specification 4.5.1.
    ///
    /// `Int64.max` once it was served, and while there are timers. The loop's thread also reads it without the lock.
    private let lastTimer = Atomic(Int64.max)

    /// The date that the last timer has left; `Int64.max` if there is none.
    @inline(__always)
    var lastTimerDate: Int64 { lastTimer.load(ordering: .relaxed) }
    /// The mode's last timer goes, and leaves its date.
    func lastTimerGoes(_ date: Int64) { lastTimer.store(date, ordering: .relaxed) }
    /// A timer comes: the date of the last is of no interest any more.
    @inline(__always)
    func timerComes() { lastTimer.store(.max, ordering: .relaxed) }

    /// Since when timers wait, of which the first was due at `date`.
    func timersReady(since date: Int64) -> Int64 { timersWaitSince ?? max(date, timersAwaited) }

    /// Another timer will be the first: a timer comes, goes, or gets another date.
    ///
    /// - Parameter date: When the present first timer is, or was, due.
    func firstTimerChanges(from date: Int64, now: Int64) {
        if date <= now {
            timersWaitSince = timersReady(since: date)
            if case .givenUp = placeAfterSleep { placeAfterSleep = .again(since: now) }
        }
        timersAwaited = now
    }

    /// Due timers have ended the sleep, and have no place until another becomes the first.
    ///
    /// Then they have one again since that instant, also after they were served.
    func timersEndSleep() { placeAfterSleep = .givenUp }

    /// Due timers are being served: timers that are left over or come later go to the end.
    ///
    /// While the first of several is served, the next has its place there already.
    func timersServed(_ now: Int64, leavingOthers: Bool) {
        timersWaitSince = leavingOthers ? now : nil
        if case .again(let since) = placeAfterSleep { timersWaitSince = since }
        timersAwaited = now
        placeAfterSleep = .kept
    }

    /// Timers are being served, and nothing is left of what was due but the date of the last.
    func lastTimerServed(_ now: Int64) {
        placeAfterSleep = .kept
        timersServed(now, leavingOthers: false)
        if lastTimerDate <= now { lastTimer.store(.max, ordering: .relaxed) }
    }

    /// A look has gone on to what has been ready since `rival`, and no timer was due: a date in a mode that is not empty
    /// makes no turn.
    func passTimers(_ now: Int64, before rival: Int64) {
        let date = lastTimerDate
        if date <= now, timersReady(since: date) < rival { lastTimer.store(.max, ordering: .relaxed) }
        if let since = timersWaitSince, since < rival { timersWaitSince = nil }
    }

    /// The thread goes to sleep, and no timer was due.
    func passTimers() { timersWaitSince = nil }

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

    // MARK: The order. The loop's thread.

    /// What goes first; `nil` if nothing is ready.
    ///
    /// Wake-ups lose a place if a look has gone on from it to what came later.
    ///
    /// - Parameters:
    ///   - wakeUp: When a wake-up was called that waits.
    ///   - hasDescriptors: Whether events of descriptors wait.
    ///   - timersReady: Since when timers are ready, `nil` if they are not. Called once, with the instant since when a
    ///     wake-up has been ready: timers that are not due lose a place before it.
    @inline(__always)
    func first(wakeUp: Int64?, hasDescriptors: Bool, timersReady: (_ rival: Int64) -> Int64?) -> Cause? {
        var cause: Cause? = wakeUp == nil ? nil : .wakeUp
        var since = wakeUp.map(wakeUpReady) ?? .max
        if let timers = timersReady(since), timers < since {
            cause = .timers
            since = timers
        }
        if hasDescriptors, descriptorsReady < since { return .descriptor }
        passWakeUp(before: since)
        return cause
    }
}
