/// What is known of a hang, and why it is one by that.
///
/// Values in, values out. Times in nanoseconds.
struct HangEvidence {
    /// The limit that was passed.
    var limit: Int64
    /// The stretch so far.
    var duration: Int64
    /// The part of it that was looked at; the others of this kind are of that part.
    var wall: Int64
    /// The thread's processor time.
    var processor: Int64
    /// For how long the thread was ready to run and did not.
    var delay: Int64
    /// The part of the stretch that the longest callout took.
    var longest: Int64
    /// Whether there was a callout beside that one, or none at all.
    var hasOthers: Bool
    /// How often the thread was found to wait, and for what.
    var waits: [HangCause.Wait: Int] = [:]

    var cause: HangCause {
        // One that would have been a hang anyway is not excused by others that took the processor.
        if delay * 2 >= wall, duration - delay < limit { return .starvation }
        if hasOthers, longest * 2 < duration { return .congestion }
        if processor * 2 >= wall - delay { return .computing }
        // The first in a fixed order among equals, so that the same evidence gives the same answer.
        let most = waits.max { ($0.value, $1.key.rank) < ($1.value, $0.key.rank) }
        return most.map { .waiting($0.key) } ?? .waiting(.other(call: -1))
    }
}

extension HangCause.Wait {
    fileprivate var rank: Int {
        switch self {
        case .lock: 0
        case .sleep: 1
        case .descriptors: 2
        case .child: 3
        case .other(let call): 4 + max(-1, call) + 1
        }
    }
}
