// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import Synchronization

/// The state of the loop's thread and the requests of other threads, in one atomic word that every waking call reads.
///
/// One word, because the answers depend on each other. A wake-up counts only while the thread is on its way to sleep or
/// asleep, a stop counts only in a run, and the kernel has to act only while the thread sleeps. All operations are
/// sequentially consistent. A thread that has work for the loop (a block, a signal, a timer) first stores it where the
/// loop looks, then changes this word; the loop first changes its phase here, then looks. With one total order one of
/// the two sees the other, and nothing is lost. The thread falls asleep in the same atomic step in which it checks that
/// no other thread has changed the word ("news").
///
/// The kernel can sleep on the word itself: a thread with news changes the word's lower half.
package struct WakeWord: ~Copyable, @unchecked Sendable {
    /// The phase of the thread.
    package enum Phase: UInt64, Sendable {
        /// The thread is in no run, or has slept; it looks at everything before it sleeps, so that wake-ups are not
        /// stored.
        case awake = 0
        /// The thread is on its way to sleep; a wake-up causes a turn of its own, and needs no call to the kernel.
        case goingToSleep = 1
        /// The thread sleeps on this word.
        case asleepOnWord = 2
        /// The thread sleeps in the kernel's set of descriptors.
        case asleepOnDescriptors = 3
        /// The thread is in its host, which waits for a descriptor in place of the sleep.
        case inHost = 4

        /// Whether a thread with news has to call the kernel.
        var isAsleep: Bool { rawValue >= Phase.asleepOnWord.rawValue }
    }

    /// The part of the word that belongs to one run, to be restored when a nested run ends.
    struct Outer: Sendable, Equatable {
        fileprivate let bits: UInt64
    }

    private enum Bits {
        static let phase: UInt64 = 7
        /// A run is in progress.
        static let run: UInt64 = 8
        /// The run was asked to stop.
        static let stop: UInt64 = 16
        static let ofRun: UInt64 = 31
        /// Set if there was a change since the thread last looked: the thread must not sleep, or has to look again.
        static let news: UInt64 = 32
        /// The first bit of the time of the stored wake-up.
        ///
        /// The bits hold the time in nanoseconds plus one; 0 if no wake-up is stored.
        static let stampShift: UInt64 = 6
        /// The greatest time that fits in the bits: nine years in nanoseconds.
        ///
        /// On a machine that is up for longer, wake-ups are served before everything else.
        static let lastStamp: UInt64 = UInt64.max >> 6
    }

    private let word = Atomic<UInt64>(0)

    init() {}

    // MARK: The loop's thread

    /// Begins a run: wake-ups count from now on, and no stop is requested.
    borrowing func beginRun() -> Outer {
        let old = update { ($0 & ~Bits.ofRun) | Bits.run | Phase.goingToSleep.rawValue }
        return Outer(bits: old & Bits.ofRun)
    }

    /// Ends a run: discards a stop that the run did not serve, and keeps a wake-up that was not served.
    ///
    /// - Parameter isStopped: Whether the outer run was asked to stop during this run.
    borrowing func endRun(_ outer: Outer, isStopped: Bool = false) {
        let bits = isStopped ? outer.bits | Bits.stop : outer.bits
        _ = update { ($0 & ~Bits.ofRun) | bits }
    }

    /// Begins a turn: wake-ups count from now on.
    ///
    /// Returns false, and serves the stop, if the run was stopped since it last looked. A stop that was called while
    /// wake-ups did not count has stored no wake-up, and nothing else would find it before the sleep.
    borrowing func beginTurn() -> Bool {
        // Here the phase is `awake` or `goingToSleep`, so that one atomic operation on a bit changes it, without a loop
        // of exchanges.
        let old = word.bitwiseOr(Phase.goingToSleep.rawValue, ordering: .sequentiallyConsistent).oldValue
        if old & Bits.stop == 0 { return true }
        serveStop()
        return false
    }

    /// Ends the storing of wake-ups: the thread looks at everything in its next turn anyway.
    borrowing func beAwake() {
        word.bitwiseAnd(~(Bits.phase | Bits.news), ordering: .sequentiallyConsistent)
    }

    /// Clears the wake-up, because its turn has begun.
    borrowing func serveWakeUp() {
        word.bitwiseAnd(Bits.ofRun, ordering: .sequentiallyConsistent)
    }

    /// Called when the thread enters its host; returns whether there is news already.
    borrowing func enterHost() -> Bool {
        let old = update { ($0 & ~(Bits.phase | Bits.news)) | Phase.inHost.rawValue }
        return old & Bits.news != 0 || old >> Bits.stampShift != 0
    }

    /// Called when the thread returns from its host and is on its way to sleep: wake-ups count, and need no call to the
    /// kernel.
    borrowing func leaveHost() {
        _ = update { ($0 & ~(Bits.phase | Bits.news)) | Phase.goingToSleep.rawValue }
    }

    /// Lets the thread fall asleep, unless there is news: then the thread has to look again.
    ///
    /// A stopped run does not sleep either: a run that was nested in it may have served the wake-up that came with the
    /// stop.
    ///
    /// Returns the lower half of the word, which every thread with news will change; `nil` if the thread must not
    /// sleep.
    package borrowing func fallAsleep(_ phase: Phase) -> UInt32? {
        var old = word.load(ordering: .relaxed)
        while true {
            let hasNews = old & (Bits.news | Bits.stop) != 0 || old >> Bits.stampShift != 0
            let new = hasNews ? old & ~Bits.news : (old & ~Bits.phase) | phase.rawValue
            let (exchanged, found) = word.compareExchange(
                expected: old, desired: new, ordering: .sequentiallyConsistent)
            if exchanged { return hasNews ? nil : UInt32(truncatingIfNeeded: new) }
            old = found
        }
    }

    /// The address that the kernel can sleep on, and wake.
    var address: UnsafeRawPointer {
        // SAFETY: an atomic is never moved while it is borrowed, and a loop keeps its word for as long as it lives. The
        // lower half comes first on every machine that Swift supports on Linux.
        withUnsafePointer(to: word) { UnsafeRawPointer($0) }
    }

    /// The instant of the wake-up that is not served yet; `nil` if there is none.
    var wakeUp: Int64? {
        let stamp = word.load(ordering: .sequentiallyConsistent) >> Bits.stampShift
        return stamp == 0 ? nil : Int64(stamp) - 1
    }

    borrowing func serveStop() {
        word.bitwiseAnd(~Bits.stop, ordering: .sequentiallyConsistent)
    }

    // MARK: Any thread

    var isStopped: Bool {
        word.load(ordering: .relaxed) & Bits.stop != 0
    }

    var phase: Phase {
        // Every change above writes one of the five phases.
        Phase(rawValue: word.load(ordering: .sequentiallyConsistent) & Bits.phase).unsafelyUnwrapped
    }

    /// Stores a wake-up, if wake-ups count and none is stored.
    ///
    /// - Parameter now: Called only if the wake-up is stored: a turn serves first what has been ready longest, and
    ///   compares this time.
    /// - Returns: The phase of the sleep, if the kernel has to wake the thread.
    borrowing func wake(now: () -> Int64) -> Phase? { request(stop: false, now) }

    /// Asks the innermost run to stop; without a run nothing happens.
    ///
    /// The parameter and the result are the same as for ``wake(now:)``.
    borrowing func stop(now: () -> Int64) -> Phase? { request(stop: true, now) }

    /// Makes a thread that sleeps, or is about to sleep, look again at what it waits for; this is not a wake-up, and
    /// causes no turn.
    ///
    /// Returns where the thread sleeps, if the kernel has to wake it.
    borrowing func lookAgain() -> Phase? {
        let old = update { old in old & Bits.phase == 0 ? old : old | Bits.news }
        return Self.sleeper(in: old)
    }

    private borrowing func request(stop: Bool, _ now: () -> Int64) -> Phase? {
        var old = word.load(ordering: .sequentiallyConsistent)
        var stamp: UInt64 = 0
        while true {
            if stop, old & Bits.run == 0 { return nil }
            var new = stop ? old | Bits.stop : old
            let wakes = old & Bits.phase != 0 && old >> Bits.stampShift == 0
            if wakes {
                if stamp == 0 { stamp = Self.stamp(now()) }
                new |= stamp << Bits.stampShift | Bits.news
            }
            if new == old { return nil }
            let (exchanged, found) = word.compareExchange(
                expected: old, desired: new, ordering: .sequentiallyConsistent)
            if exchanged { return wakes ? Self.sleeper(in: old) : nil }
            old = found
        }
    }

    /// The sleep that the kernel has to end, given the word before the news came; `nil` if there was news already.
    private static func sleeper(in old: UInt64) -> Phase? {
        guard old & Bits.news == 0, let phase = Phase(rawValue: old & Bits.phase), phase.isAsleep else { return nil }
        return phase
    }

    private static func stamp(_ now: Int64) -> UInt64 { min(UInt64(max(0, now)) + 1, Bits.lastStamp) }

    private borrowing func update(_ change: (UInt64) -> UInt64) -> UInt64 {
        var old = word.load(ordering: .relaxed)
        while true {
            let (exchanged, found) = word.compareExchange(
                expected: old, desired: change(old), ordering: .sequentiallyConsistent)
            if exchanged { return old }
            old = found
        }
    }
}
