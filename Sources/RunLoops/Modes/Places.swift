// Since when the kinds of things that a mode serves have been waiting, where their own dates do not say it.
//
// Who has been ready longest goes first, and each kind has one place in that queue, as the descriptors have in the epoll
// of the real one (Documentation/Decisions/0004-who-goes-first.md).

/// The place of a mode's timers.
///
/// They stay where they are until they have been served, even if the one that was due first is put off or taken out; then
/// they go to the end. Guarded by the loop's lock.
struct TimerPlace {
    /// Timers have not been waiting for longer than this: they were served then, or put in when they were due already.
    private var notBefore = Int64.min
    /// The place that they have kept.
    private var kept: Int64?

    /// Since when timers wait of which the first was due at `date`.
    func since(_ date: Int64) -> Int64 { kept ?? max(date, notBefore) }

    /// Due timers are being served: those that are left over or come later go to the end.
    ///
    /// While the first of several is served, the next has its place there already.
    mutating func served(_ now: Int64, several: Bool) {
        kept = several ? now : nil
        notBefore = now
    }

    /// A look has gone beyond the place and found no timer due.
    mutating func passed(before date: Int64) {
        if let place = kept, place < date { kept = nil }
    }

    /// A timer that was due already is put in, with none before it.
    mutating func lateTimerComes(_ now: Int64) {
        if kept == nil { notBefore = now }
    }

    /// The first timer, due since `date`, is about to go or to be put off.
    mutating func firstTimerGoes(_ date: Int64) { kept = since(date) }
}

/// The place of wake-ups in a mode: one that another mode has served leaves its place here to the next.
///
/// The loop's thread alone.
struct WakeUpPlace {
    private var left: Int64?

    /// Since when a wake-up waits that was called at `date`.
    func since(_ date: Int64) -> Int64 { min(date, left ?? date) }

    /// Another mode has served the wake-up of `date`.
    mutating func servedElsewhere(_ date: Int64) { left = left ?? date }

    /// This mode has served the wake-up, or has looked beyond its place and found none.
    mutating func passed(before date: Int64) {
        if let place = left, place < date { left = nil }
    }
}
