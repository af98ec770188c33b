internal import Synchronization

/// What other threads want of a loop, in one atomic word: its phase, whether a run is in progress, whether that was
/// told to stop, and since when a wake-up has been waiting to be served.
///
/// One word, because the answers depend on each other: a wake-up counts only in some phases, a stop only in a run.
/// All operations are sequentially consistent. A thread that has something for the loop (a block, a signal) first
/// leaves it where the loop looks, then comes here; the loop first changes its phase here, then looks. With one total
/// order one of the two sees the other, and nothing is lost.
package struct WakeWord: ~Copyable, Sendable {
    /// What a wake-up means at present.
    package enum Phase: UInt64, Sendable {
        /// Nothing: the loop does not run, or is past its sleep and looks at everything in its next turn anyway.
        case ignoring = 0
        /// A turn of its own, later: the loop is on its way to sleep and must not.
        case accepting = 1
        /// A turn of its own, and the kernel has to be told.
        case sleeping = 2
    }

    /// The part that belongs to one run, to be put back when a nested one ends.
    package struct Outer: Sendable, Equatable {
        fileprivate let bits: UInt64
    }

    private static let phaseMask: UInt64 = 3
    private static let stopBit: UInt64 = 4
    private static let runBit: UInt64 = 8
    private static let runMask: UInt64 = 15
    private static let stampShift: UInt64 = 4

    private let word = Atomic<UInt64>(0)

    package init() {}

    // MARK: The loop's thread

    /// A run begins: wake-ups count, no stop is asked for.
    package func beginRun() -> Outer {
        let old = update { ($0 & ~Self.runMask) | Self.runBit | Phase.accepting.rawValue }
        return Outer(bits: old & Self.runMask)
    }

    /// A run ends; a stop that came too late for it is forgotten, a wake-up that waits is not.
    package func endRun(_ outer: Outer) {
        _ = update { ($0 & ~Self.runMask) | outer.bits }
    }

    /// A turn begins: wake-ups count.
    ///
    /// Not if the run was told to stop since it asked last: a stop that came while wake-ups did not count has left none,
    /// and nobody would look at it before the sleep. Returns false then, and has served the stop.
    package func beginTurn() -> Bool {
        let old = update { old in
            if old & Self.stopBit != 0 { return old & ~Self.stopBit }
            return (old & ~Self.phaseMask) | Phase.accepting.rawValue
        }
        return old & Self.stopBit == 0
    }

    package func enter(_ phase: Phase) {
        // One of the two-bit phases replaces another without a loop where a single instruction can do it.
        switch phase {
        case .ignoring:
            word.bitwiseAnd(~Self.phaseMask, ordering: .sequentiallyConsistent)
        case .accepting, .sleeping:
            _ = update { ($0 & ~Self.phaseMask) | phase.rawValue }
        }
    }

    /// When the wake-up that waits was called, if one does.
    package var wakeUp: Int64? {
        let stamp = word.load(ordering: .sequentiallyConsistent) >> Self.stampShift
        return stamp == 0 ? nil : Int64(stamp) - 1
    }

    /// The wake-up has had its turn.
    package func serveWakeUp() {
        word.bitwiseAnd(Self.runMask, ordering: .sequentiallyConsistent)
    }

    package var isStopped: Bool {
        word.load(ordering: .relaxed) & Self.stopBit != 0
    }

    package func serveStop() {
        word.bitwiseAnd(~Self.stopBit, ordering: .sequentiallyConsistent)
    }

    // MARK: Any thread

    package var phase: Phase {
        Phase(rawValue: word.load(ordering: .sequentiallyConsistent) & Self.phaseMask).unsafelyUnwrapped
    }

    /// Leaves a wake-up, if wake-ups count and none waits.
    ///
    /// Returns whether the kernel has to be told.
    ///
    /// `now` is asked only when the answer is kept: the instant decides who has been ready longest.
    package func wake(now: () -> Int64) -> Bool {
        request(stop: false, now: now)
    }

    /// Asks the innermost run to stop; without one nothing happens.
    ///
    /// Returns whether the kernel has to be told.
    package func stop(now: () -> Int64) -> Bool {
        request(stop: true, now: now)
    }

    private func request(stop: Bool, now: () -> Int64) -> Bool {
        var old = word.load(ordering: .sequentiallyConsistent)
        var stamp: UInt64 = 0
        while true {
            if stop, old & Self.runBit == 0 { return false }
            var new = stop ? old | Self.stopBit : old
            let wakes = old & Self.phaseMask != Phase.ignoring.rawValue && old >> Self.stampShift == 0
            if wakes {
                if stamp == 0 { stamp = UInt64(max(0, now()) + 1) }
                new |= stamp << Self.stampShift
            }
            if new == old { return false }
            let (exchanged, found) = word.compareExchange(
                expected: old, desired: new, ordering: .sequentiallyConsistent)
            if exchanged { return wakes && old & Self.phaseMask == Phase.sleeping.rawValue }
            old = found
        }
    }

    private func update(_ change: (UInt64) -> UInt64) -> UInt64 {
        var old = word.load(ordering: .relaxed)
        while true {
            let (exchanged, found) = word.compareExchange(
                expected: old, desired: change(old), ordering: .sequentiallyConsistent)
            if exchanged { return old }
            old = found
        }
    }
}
