// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The instants since which wake-ups, timers and descriptors of a mode have been ready: the kind that has been ready
/// longest is served first.
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

    /// The ready date that timers have kept since another timer became the first.
    @exclusivity(unchecked) private var timersWaitSince: Int64?
    /// The instant at which the present first timer became the first: a timer that was due before is ready since then.
    @exclusivity(unchecked) private var timersAwaited = Int64.min
    /// The ready date of timers that have ended the sleep, and are served after its observers.
    private enum PlaceAfterSleep {
        case kept, givenUp
        case again(since: Int64)
    }
    @exclusivity(unchecked) private var placeAfterSleep = PlaceAfterSleep.kept
    /// The date of the last timer that was removed from the mode, which has no timer now: Specification 4.5.1.
    ///
    /// `Int64.max` after it was served, and while there are timers. The loop's thread also reads it without the lock.
    private let lastTimer = Atomic(Int64.max)

    /// The date of the last timer; `Int64.max` if there is none.
    @inline(__always)
    var lastTimerDate: Int64 { lastTimer.load(ordering: .relaxed) }
    /// The mode's last timer is removed; its date is kept.
    func lastTimerGoes(_ date: Int64) { lastTimer.store(date, ordering: .relaxed) }
    /// A timer is added: the date of the last one is discarded.
    @inline(__always)
    func timerComes() { lastTimer.store(.max, ordering: .relaxed) }

    /// The ready date of timers whose first was due at `date`.
    func timersReady(since date: Int64) -> Int64 { timersWaitSince ?? max(date, timersAwaited) }

    /// Another timer becomes the first: a timer is added or removed, or its date is changed.
    ///
    /// - Parameter date: When the present first timer is, or was, due.
    func firstTimerChanges(from date: Int64, now: Int64) {
        if date <= now {
            timersWaitSince = timersReady(since: date)
            if case .givenUp = placeAfterSleep { placeAfterSleep = .again(since: now) }
        }
        timersAwaited = now
    }

    /// Due timers have ended the sleep, and have no ready date until another timer becomes the first.
    ///
    /// Then they are ready since that instant, also after they were served.
    func timersEndSleep() { placeAfterSleep = .givenUp }

    /// Due timers are being served: remaining timers and timers that are added later are ready since now.
    ///
    /// While the first of several is served, the next already has that ready date.
    func timersServed(_ now: Int64, leavingOthers: Bool) {
        timersWaitSince = leavingOthers ? now : nil
        if case .again(let since) = placeAfterSleep { timersWaitSince = since }
        timersAwaited = now
        placeAfterSleep = .kept
    }

    /// The date of a last timer is being served, and no timer is due.
    func lastTimerServed(_ now: Int64) {
        placeAfterSleep = .kept
        timersServed(now, leavingOthers: false)
        if lastTimerDate <= now { lastTimer.store(.max, ordering: .relaxed) }
    }

    /// A look has found another kind that is ready since `rival`, and no due timer: the date of a last timer in a mode
    /// that is not empty makes no turn.
    func passTimers(_ now: Int64, before rival: Int64) {
        let date = lastTimerDate
        if date <= now, timersReady(since: date) < rival { lastTimer.store(.max, ordering: .relaxed) }
        if let since = timersWaitSince, since < rival { timersWaitSince = nil }
    }

    /// The thread falls asleep, and no timer was due.
    func passTimers() { timersWaitSince = nil }

    // MARK: Wake-ups. The loop's thread.

    /// The ready date of a wake-up that was served in another mode.
    @exclusivity(unchecked) private var wakeUpWaitsSince: Int64?

    /// The ready date of a wake-up that was called at `date`.
    func wakeUpReady(since date: Int64) -> Int64 { min(date, wakeUpWaitsSince ?? date) }

    /// Another mode has served the wake-up of `date`; the next wake-up gets its ready date here.
    func wakeUpServedElsewhere(_ date: Int64) { wakeUpWaitsSince = wakeUpWaitsSince ?? date }

    /// This mode has served a wake-up, or has found another kind that is ready since `date`, and no wake-up.
    func passWakeUp(before date: Int64 = .max) {
        if let since = wakeUpWaitsSince, since < date { wakeUpWaitsSince = nil }
    }

    // MARK: Descriptors. The loop's thread.

    /// The instant since which the descriptors of the last look are ready: the look before has not found them.
    @exclusivity(unchecked) var descriptorsReady: Int64 = 0

    // MARK: The order. The loop's thread.

    /// The kind that is served first; `nil` if none is ready.
    ///
    /// Wake-ups lose an earlier ready date if a kind with a later one is served.
    ///
    /// - Parameters:
    ///   - wakeUp: The instant of a wake-up that is not served.
    ///   - hasDescriptors: Whether events of descriptors wait.
    ///   - timersReady: The ready date of timers, `nil` if they are not ready. Called once, with the ready date of a
    ///     wake-up: timers that are not due lose an earlier one.
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
