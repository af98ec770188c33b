// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The timers that are in the same modes and count on the same clock.
///
/// A timer is in one bucket, however many modes it is in, so that it has one place in one heap. A mode looks at the
/// few buckets that contain it. Guarded by the loop's lock. A loop keeps its buckets until it dies.
final class TimerBucket {
    let number: BucketNumber
    @exclusivity(unchecked) private(set) var base: RunLoop.TimeBase
    /// In the order in which they were joined; at least one.
    // Not counted: a loop keeps its modes.
    @exclusivity(unchecked) private(set) var modes: [Unmanaged<ModeState>]
    @exclusivity(unchecked) private var firstMode: Unmanaged<ModeState>
    /// Whether there is another mode than the first.
    @exclusivity(unchecked) private(set) var hasSeveralModes: Bool
    /// How many timers and delayed closures are in it, those whose callouts are under way with them.
    @exclusivity(unchecked) private var count = 0
    @exclusivity(unchecked) var queue: TimerQueue<RunLoop.Timer>

    init(number: BucketNumber, base: RunLoop.TimeBase, modes: [ModeState]) {
        self.number = number
        queue = TimerQueue(number: number)
        self.base = base
        self.modes = modes.map { .passUnretained($0) }
        firstMode = .passUnretained(modes[0])
        hasSeveralModes = modes.count > 1
    }

    var isEmpty: Bool { count == 0 }

    /// Makes an empty bucket one of other modes, or of another clock.
    ///
    /// Otherwise each set of modes that a timer was ever in would leave a bucket that its modes look at for ever.
    func change(_ newBase: RunLoop.TimeBase, _ new: [ModeState]) {
        forEachMode { $0.remove(self) }
        base = newBase
        modes = new.map { .passUnretained($0) }
        firstMode = modes[0]
        hasSeveralModes = modes.count > 1
        forEachMode { $0.add(self) }
    }

    @inline(__always)
    func contains(_ mode: ModeState) -> Bool {
        let pointer = Unmanaged.passUnretained(mode).toOpaque()
        if firstMode.toOpaque() == pointer { return true }
        return hasSeveralModes && modes.contains { $0.toOpaque() == pointer }
    }

    func isFor(_ base: RunLoop.TimeBase, _ modes: [ModeState]) -> Bool {
        guard self.base == base, self.modes.count == modes.count else { return false }
        // Usually in the same order too: then many modes are compared once each.
        let isSame = zip(self.modes, modes).allSatisfy { $0.toOpaque() == Unmanaged.passUnretained($1).toOpaque() }
        return isSame || modes.allSatisfy(contains)
    }

    /// Counts one more timer, or one less, in each of the modes.
    @inline(__always)
    func countTimers(_ difference: Int) {
        count += difference
        firstMode._withUnsafeGuaranteedRef { $0.countTimers(difference) }
        if !hasSeveralModes { return }
        for other in modes.dropFirst() { other._withUnsafeGuaranteedRef { $0.countTimers(difference) } }
    }

    func forEachMode(_ body: (ModeState) -> Void) {
        for mode in modes { mode._withUnsafeGuaranteedRef(body) }
    }
}
