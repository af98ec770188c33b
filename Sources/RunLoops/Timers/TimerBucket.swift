/// The timers that are in the same modes and count on the same clock.
///
/// A timer is in one bucket, however many modes it is in, so that it has one place in one heap; a mode looks at the
/// few buckets that contain it. Guarded by the loop's lock. A loop keeps its buckets until it dies.
final class TimerBucket<Timer: QueuedTimer> {
    let number: BucketNumber
    let base: RunLoopTimeBase
    /// In the order in which they were joined; at least one.
    let modes: [RunLoopMode]
    private let firstMode: RunLoopMode
    /// Whether there is another mode than the first.
    let hasSeveralModes: Bool
    /// Of the first mode, and of the others.
    private let counter: ItemCounter
    private let otherCounters: [ItemCounter]
    @exclusivity(unchecked) var queue = TimerQueue<Timer>()

    init(number: BucketNumber, base: RunLoopTimeBase, modes: [RunLoopMode], counters: [ItemCounter]) {
        self.number = number
        self.base = base
        self.modes = modes
        firstMode = modes[0]
        hasSeveralModes = modes.count > 1
        counter = counters[0]
        otherCounters = Array(counters.dropFirst())
    }

    @inline(__always)
    func contains(_ mode: RunLoopMode) -> Bool { firstMode == mode || (hasSeveralModes && modes.contains(mode)) }

    func isFor(_ base: RunLoopTimeBase, _ modes: [RunLoopMode]) -> Bool {
        self.base == base && self.modes.count == modes.count && modes.allSatisfy(contains)
    }

    /// One more timer, or one less, in each of the modes.
    @inline(__always)
    func countTimers(_ difference: Int) {
        counter.changeTimers(by: difference)
        if !hasSeveralModes { return }
        for other in otherCounters { other.changeTimers(by: difference) }
    }
}

/// Names one of a loop's buckets in two bytes, because every timer has one.
struct BucketNumber: Equatable {
    private let raw: UInt16

    static let none = BucketNumber(raw: 0)

    private init(raw: UInt16) { self.raw = raw }

    init(index: Int) {
        require(
            index < Int(UInt16.max), "Timers of one loop were put into \(index) different sets of modes: reuse modes.")
        raw = UInt16(index + 1)
    }

    /// Precondition: not `none`.
    @inline(__always)
    var index: Int { Int(raw) - 1 }
}
