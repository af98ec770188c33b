// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The timers that are in the same modes and count on the same clock.
///
/// A timer is in one bucket, however many modes it is in, so that it has one place in one heap. A mode looks at the
/// few buckets that contain it. Guarded by the loop's lock. A loop keeps its buckets until it dies.
final class TimerBucket {
    let number: BucketNumber
    let base: RunLoop.TimeBase
    /// In the order in which they were joined; at least one.
    // Not counted: a loop keeps its modes.
    let modes: [Unmanaged<ModeState>]
    private let firstMode: Unmanaged<ModeState>
    /// Whether there is another mode than the first.
    let hasSeveralModes: Bool
    @exclusivity(unchecked) var queue = TimerQueue<RunLoop.Timer>()

    init(number: BucketNumber, base: RunLoop.TimeBase, modes: [ModeState]) {
        self.number = number
        self.base = base
        self.modes = modes.map { .passUnretained($0) }
        firstMode = .passUnretained(modes[0])
        hasSeveralModes = modes.count > 1
    }

    @inline(__always)
    func contains(_ mode: ModeState) -> Bool {
        let pointer = Unmanaged.passUnretained(mode).toOpaque()
        if firstMode.toOpaque() == pointer { return true }
        return hasSeveralModes && modes.contains { $0.toOpaque() == pointer }
    }

    func isFor(_ base: RunLoop.TimeBase, _ modes: [ModeState]) -> Bool {
        self.base == base && self.modes.count == modes.count && modes.allSatisfy(contains)
    }

    /// Counts one more timer, or one less, in each of the modes.
    @inline(__always)
    func countTimers(_ difference: Int) {
        firstMode._withUnsafeGuaranteedRef { $0.countTimers(difference) }
        if !hasSeveralModes { return }
        for other in modes.dropFirst() { other._withUnsafeGuaranteedRef { $0.countTimers(difference) } }
    }

    func forEachMode(_ body: (ModeState) -> Void) {
        for mode in modes { mode._withUnsafeGuaranteedRef(body) }
    }
}

/// The number of one of a loop's buckets, in two bytes, because every timer has one.
struct BucketNumber: Equatable {
    private let raw: UInt16

    static let none = BucketNumber(raw: 0)

    private init(raw: UInt16) { self.raw = raw }

    init(index: Int) {
        require(
            index < Int(UInt16.max), "Timers of one loop were put into \(index) different sets of modes: reuse modes.")
        raw = UInt16(index + 1)
    }

    /// - Precondition: not `none`.
    @inline(__always)
    var index: Int { Int(raw) - 1 }
}
