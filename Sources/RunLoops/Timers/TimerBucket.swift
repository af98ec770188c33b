/// The timers that are in the same modes and count on the same clock.
///
/// A timer is in one bucket, however many modes it is in, so that it has one place in one heap; a mode looks at the
/// few buckets that contain it. Guarded by the loop's lock.
final class TimerBucket {
    let base: RunLoopTimeBase
    /// In the order in which they were joined; at least one.
    let modes: [RunLoopMode]
    @exclusivity(unchecked) var queue = TimerQueue<RunLoopTimer>()

    init(base: RunLoopTimeBase, modes: [RunLoopMode]) {
        self.base = base
        self.modes = modes
    }

    func contains(_ mode: RunLoopMode) -> Bool { modes.contains(mode) }

    func isFor(_ base: RunLoopTimeBase, _ modes: [RunLoopMode]) -> Bool {
        self.base == base && self.modes.count == modes.count && modes.allSatisfy(contains)
    }
}
