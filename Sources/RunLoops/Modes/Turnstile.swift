/// Since when the kinds of things that a mode serves have been waiting, where their own dates do not say it.
///
/// Who has been ready longest goes first, and each kind has one place in that queue: timers stay where they are until
/// they have been served, even if the one that was due first is put off or taken out; then they go to the end. A wake-up
/// that another mode has served leaves its place here to the next. So it is with the descriptors in the epoll of the
/// real one.
struct Turnstile {
    // Of timers: guarded by the loop's lock.

    /// Timers have not been waiting for longer than this: they were served then, or put in when they were due already.
    private var timersNotBefore = Int64.min
    /// The place that the timers have kept.
    private var timersPlace: Int64?

    // Of wake-ups: the loop's thread alone.

    /// The place that a wake-up has left.
    private var wakeUpPlace: Int64?

    /// Since when timers wait of which the first was due at `date`.
    func timersSince(_ date: Int64) -> Int64 { timersPlace ?? max(date, timersNotBefore) }

    /// Since when a wake-up waits that was called at `date`.
    func wakeUpSince(_ date: Int64) -> Int64 { min(date, wakeUpPlace ?? date) }

    /// Due timers are being served: those that are left over or come later go to the end.
    ///
    /// While the first of several is served, the next has its place there already.
    mutating func servedTimers(_ now: Int64, several: Bool) {
        timersPlace = several ? now : nil
        timersNotBefore = now
    }

    /// A look has gone beyond the place of the timers and found none due.
    mutating func passedTimers(before date: Int64) {
        if let place = timersPlace, place < date { timersPlace = nil }
    }

    /// A timer that was due already is put in, with none before it.
    mutating func lateTimer(_ now: Int64) {
        if timersPlace == nil { timersNotBefore = now }
    }

    /// The first timer, due since `date`, is about to go or to be put off.
    mutating func firstTimerLeaves(_ date: Int64) {
        timersPlace = timersSince(date)
    }

    /// Another mode has served the wake-up of `date`.
    mutating func wakeUpServedElsewhere(_ date: Int64) {
        wakeUpPlace = wakeUpPlace ?? date
    }

    /// This mode has served the wake-up, or has looked beyond its place and found none.
    mutating func passedWakeUps(before date: Int64) {
        if let place = wakeUpPlace, place < date { wakeUpPlace = nil }
    }
}
