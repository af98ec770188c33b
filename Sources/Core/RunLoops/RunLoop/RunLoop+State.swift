// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import Synchronization

extension RunLoop {
    /// The state of a loop that threads share: the fields that its lock guards, and atomics.
    ///
    /// The fields of the loop's thread alone are in ``RunLoop``. An item finds the state of its loop by the loop's
    /// lock, and never the loop itself.
    ///
    /// The methods are called with the lock held, unless a comment says otherwise.
    final class State: @unchecked Sendable {
        // MARK: Constants

        /// The loop's lock, which guards the fields below, the modes and their tables, and the timers and observers of the
        /// loop.
        ///
        /// Never held during a callout. A source's own lock may be taken inside, not the other way round.
        let lockPointer = LoopLock.lend()
        let kernel: any Kernel
        /// The kernel's number of the thread that the loop belongs to.
        let threadID: Int32
        /// Distinguishes the loop from all others of the process.
        let number = UInt32(truncatingIfNeeded: rl_next_number())
        let defaultMode: ModeState
        /// When the loop was made, and the processor time of its thread by then.
        private let madeAt = SystemCalls.now(.monotonic)
        private let runTimeBefore: Int64
        /// Whether the loop uses the system's clocks, so that they can be read without a call of the loop's kernel.
        private let hasSystemClock: Bool

        // MARK: Without the lock

        let wakeWord = WakeWord()
        let blocks = BlockQueue()
        /// The instant of the last look at descriptors, set only if the mode had timers or a wake-up was stored.
        ///
        /// Written by the loop's thread, in relaxed order: a timer that another thread adds at the same moment may
        /// count as added before the look or after it.
        let lastLook = Atomic<Int64>(.min)
        /// Whether many signalled sources have left a mode that has not been run since.
        ///
        /// Used in relaxed order, because the value is only a hint: a thread that finds it set checks again with the
        /// lock held.
        let hasStaleSignals = Atomic<Bool>(false)

        // MARK: Guarded by the lock

        // The dynamic check of exclusivity is off where a lock already ensures exclusivity.
        /// The modes, in the order in which they were made, the default mode first.
        ///
        /// A mode is never removed, except one that is made for an item which the system refuses.
        @exclusivity(unchecked) private(set) var modeStates: [ModeState]
        /// The modes by number, as unmanaged references, which are used without reference counting.
        @exclusivity(unchecked) private(set) var modeReferences: [Unmanaged<ModeState>]
        /// Names of modes, in the order in which they were marked; a mode need not exist yet to be marked.
        @exclusivity(unchecked) private(set) var commonModeNames: [Mode] = [.default]
        @exclusivity(unchecked) var commonItems = ItemSet<Item>()
        /// The buckets, which are never removed.
        ///
        /// An empty bucket of several modes is used again for other modes. When there can be no more buckets, any empty
        /// bucket is used again.
        @exclusivity(unchecked) private(set) var timerBuckets: [TimerBucket] = []
        /// The buckets by number, as unmanaged references, which are used without reference counting.
        ///
        /// Every operation on a timer needs the timer's bucket.
        @exclusivity(unchecked) private(set) var bucketReferences: [Unmanaged<TimerBucket>] = []
        /// The maximum number of buckets; tests set a lower one.
        @exclusivity(unchecked) var maxTimerBuckets = BucketNumber.maxCount
        /// Incremented for each timer that is added to a queue.
        @exclusivity(unchecked) var timerSequence: UInt32 = 0
        /// Timers whose callouts are under way, innermost last.
        // Unmanaged: the loop keeps a timer during its callout.
        @exclusivity(unchecked) var firingTimers: [Unmanaged<Timer>] = []
        /// Timers that were added to this loop during a callout of theirs on another loop's thread, while that callout
        /// is under way.
        @exclusivity(unchecked) var timersFiringElsewhere: [Unmanaged<Timer>] = []
        /// The due timers of all calls of ``RunLoop/fireTimers(_:)`` that are under way.
        @exclusivity(unchecked) var dueList = DueList<Timer>()
        /// The mode and the limit of the sleep; valid while the wake word says that the thread sleeps or is about to.
        @exclusivity(unchecked) var sleep = Sleep()
        /// The blocks that were posted without a wake-up and have not run, for recorders; usually none.
        @exclusivity(unchecked) var quietBlocks: [QuietBlock] = []
        /// The runs in progress, innermost last.
        @exclusivity(unchecked) var runs: [RunInProgress] = []
        @exclusivity(unchecked) var runsBegun: UInt64 = 0
        /// Whether the thread has ended.
        @exclusivity(unchecked) private(set) var isDead = false
        private var timesAtEnd: (run: Int64, sleep: Int64)?
        /// The guest, if a host waits for the loop; usually `nil`.
        ///
        /// Written by the loop's thread.
        @exclusivity(unchecked) var guest: Guest?
        /// The loop itself, for code that runs on the loop's thread on behalf of another thread.
        ///
        /// The reference is unmanaged. Do not retain the loop with the lock held: the last reference must not be
        /// released then.
        @exclusivity(unchecked) var loop: Unmanaged<RunLoop>?
        /// Objects that other libraries attach to the loop, such as its counterpart in Foundation's names; usually
        /// none.
        @exclusivity(unchecked) var companions: [any LoopCompanion] = []

        init(kernel: any Kernel, threadID: Int32) {
            self.kernel = kernel
            self.threadID = threadID
            runTimeBefore = max(0, rl_thread_processor_time(threadID))
            hasSystemClock = kernel is EpollKernel
            defaultMode = ModeState(.default, number: 0, readiness: kernel.makeReadiness())
            defaultMode.markCommon()
            modeStates = [defaultMode]
            modeReferences = [.passUnretained(defaultMode)]
        }

        /// The processor time that the thread has used since the loop was made, and the rest of the time, in
        /// nanoseconds.
        ///
        /// The system measures the processor time, so that a turn does nothing for these numbers.
        var threadTimes: (run: Int64, sleep: Int64) {
            if let timesAtEnd { return timesAtEnd }
            let run = max(0, rl_thread_processor_time(threadID) - runTimeBefore)
            return (run, max(0, SystemCalls.now(.monotonic) - madeAt - run))
        }

        // MARK: The lock

        @inline(__always)
        func lock() { lockPointer.pointee.take() }
        @inline(__always)
        func unlock() { lockPointer.pointee.giveBack() }

        // MARK: Without the lock

        /// The present time of a clock of the loop's kernel, in nanoseconds; any thread.
        @inline(__always)
        func now(_ clock: ClockID) -> Int64 { hasSystemClock ? SystemCalls.now(clock) : kernel.now(clock) }

        /// Stores a wake-up, and wakes the thread if it sleeps; any thread, with or without the lock.
        func wakeUp() {
            if let phase = wakeWord.wake(now: { wakeStamp() }) { kernel.wake(wakeWord, phase) }
        }

        /// Asks the innermost run to stop, and wakes the thread if it sleeps; any thread, with or without the lock.
        func stop() {
            if let phase = wakeWord.stop(now: { wakeStamp() }) { kernel.wake(wakeWord, phase) }
        }

        /// Returns the present instant for a wake-up; while a recorder is at work, also records the calling thread.
        @inline(__always)
        private func wakeStamp() -> Int64 {
            let now = now(.monotonic)
            // The thread is recorded before the wake-up is stored, so that the thread that serves the wake-up finds the
            // record.
            if rl_is_recorded() { rl_stamp_wake(now, SystemCalls.threadID) }
            return now
        }

        // MARK: Modes

        @inline(__always)
        func existingMode(_ mode: Mode) -> ModeState? { mode == .default ? defaultMode : namedMode(mode) }

        @inline(never)
        private func namedMode(_ mode: Mode) -> ModeState? {
            // A loop has few modes: looking through them costs less than hashing one.
            for state in modeStates where state.mode == mode { return state }
            return nil
        }

        @inline(__always)
        func makeMode(_ mode: Mode) -> ModeState { existingMode(mode) ?? addMode(mode) }

        @inline(never)
        private func addMode(_ mode: Mode) -> ModeState {
            let state = ModeState(mode, number: modeStates.count, readiness: kernel.makeReadiness())
            if commonModeNames.contains(mode) { state.markCommon() }
            modeStates.append(state)
            modeReferences.append(.passUnretained(state))
            return state
        }

        /// Removes modes that were made since there were `count` of them, with the lock held all the time, for an item
        /// that the system has refused.
        func removeModes(madeAfter count: Int) {
            while modeStates.count > count {
                modeReferences.removeLast()
                modeStates.removeLast().descriptors.readiness.close()
            }
        }

        /// Makes the bucket of timers that are in these modes and count on this clock.
        ///
        /// An empty bucket of several modes is used again: otherwise each set of modes that a timer was ever in would
        /// leave a bucket that its modes look at in every turn.
        func addBucket(_ clock: ClockID, _ modes: [Int]) -> TimerBucket {
            let isFull = timerBuckets.count >= maxTimerBuckets
            let bucket: TimerBucket
            if isFull || modes.count > 1,
                let unused = timerBuckets.first(where: {
                    $0.isEmpty && (isFull || $0.hasSeveralModes && $0.clock == clock)
                })
            {
                for mode in unused.modes { modeStates[mode].remove(unused) }
                (unused.clock, unused.modes) = (clock, modes)
                bucket = unused
            } else {
                require(
                    !isFull,
                    "Timers of one loop are in \(timerBuckets.count) different sets of modes at the same time: use fewer modes."
                )
                bucket = TimerBucket(number: BucketNumber(index: timerBuckets.count), clock: clock, modes: modes)
                timerBuckets.append(bucket)
                bucketReferences.append(.passUnretained(bucket))
            }
            for mode in modes { modeStates[mode].add(bucket) }
            return bucket
        }

        /// Whether a mode is marked, or cannot be marked any more because the thread has ended.
        func isCommon(_ mode: Mode) -> Bool { commonModeNames.contains(mode) || isDead }

        func markCommon(_ mode: Mode) {
            commonModeNames.append(mode)
            existingMode(mode)?.markCommon()
            modeBecameCommon()
        }

        // MARK: The end

        struct Waste {
            var sources: [(Source, Mode)] = []
            var items: [Item] = []
            var closures: [() -> Void] = []
        }

        /// Empties all modes; returns the sources whose cancel closures the caller has to call, and everything that has
        /// to be released without the lock.
        func takeEverythingOut() -> Waste {
            timesAtEnd = threadTimes
            isDead = true
            putListedBack(pausing: false)
            var waste = Waste()
            waste.items = commonItems.all + dueList.takeAll()
            commonItems = ItemSet()
            for mode in modeStates {
                waste.sources += mode.sources.map { ($0, mode.mode) }
                let items = mode.sources + mode.observers + mode.descriptors.sources as [Item]
                waste.items += items
                for item in items { leave(item, mode) }
                mode.signals.close()
                mode.descriptors.readiness.close()
            }
            // Also the timers whose callouts are under way: a thread can end inside a callout, and before another's callout.
            var timers = (firingTimers + timersFiringElsewhere).map { $0.takeUnretainedValue() }
            timers.removeAll { !$0.owner.isHeld(by: self) }
            for bucket in timerBuckets {
                bucket.queue.visit(dueList) { _, timer, _ in if let timer { timers.append(timer) } }
                let closures = bucket.queue.removeAllDelayed()
                count(-closures.count, in: bucket)
                waste.closures += closures
            }
            waste.items += timers
            for timer in timers { takeOut(timer) }
            return waste
        }
    }
}

/// The parts of a run in progress that other threads read.
struct RunInProgress {
    let number: UInt64
    let mode: ModeState
    /// Whether the run was stopped while another run was nested in it.
    var isStopped = false
}
