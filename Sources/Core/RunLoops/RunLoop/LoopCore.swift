// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import Synchronization

/// The parts of a loop that any thread may use without the loop's lock: constants and atomics.
///
/// ``GuardedState`` has the parts that the lock guards, ``RunLoop`` those of the loop's thread alone.
struct LoopCore: ~Copyable {
    let kernel: any Kernel
    /// The kernel's number of the thread that the loop belongs to.
    let threadID: Int32
    /// Distinguishes the loop from all others of the process.
    let number = UInt32(truncatingIfNeeded: rl_next_number())
    let wakeWord = WakeWord()
    let blocks: BlockQueue
    /// The instant of the last look at descriptors, set only if the mode had timers or a wake-up was stored.
    ///
    /// Written by the loop's thread, in relaxed order: a timer that another thread adds at the same moment may
    /// count as added before the look or after it.
    let lastLook = Atomic<Int64>(.min)
    /// Whether many signalled sources have left a mode that has not been run since.
    ///
    /// Used in relaxed order, because the value is only a hint: a thread that finds it set checks again with the
    /// lock.
    let hasStaleSignals = Atomic<Bool>(false)
    /// When the loop was made, and the processor time of its thread by then.
    private let madeAt = SystemCalls.now(.monotonic)
    private let runTimeBefore: Int64
    /// Whether the loop uses the system's clocks, so that they can be read without a call of the loop's kernel.
    private let hasSystemClock: Bool

    init(kernel: any Kernel, threadID: Int32, blocks: BlockQueue) {
        self.kernel = kernel
        self.threadID = threadID
        self.blocks = blocks
        runTimeBefore = max(0, rl_thread_processor_time(threadID))
        hasSystemClock = kernel is EpollKernel
    }

    /// The present time of a clock of the loop's kernel, in nanoseconds.
    func now(_ clock: RunLoop.ClockID) -> Int64 { hasSystemClock ? SystemCalls.now(clock) : kernel.now(clock) }

    /// The processor time that the thread has used since the loop was made, and the rest of the time, in nanoseconds.
    ///
    /// The system measures the processor time, so that a turn does nothing for these numbers.
    func threadTimes() -> (run: Int64, sleep: Int64) {
        let run = max(0, rl_thread_processor_time(threadID) - runTimeBefore)
        return (run, max(0, SystemCalls.now(.monotonic) - madeAt - run))
    }

    // MARK: Waking the thread

    /// Stores a wake-up, and wakes the thread if it sleeps.
    func wakeUp() {
        if let phase = wakeWord.wake(now: { wakeStamp() }) { kernel.wake(wakeWord, phase) }
    }

    /// Asks the innermost run to stop, and wakes the thread if it sleeps.
    func stop() {
        if let phase = wakeWord.stop(now: { wakeStamp() }) { kernel.wake(wakeWord, phase) }
    }

    /// Makes a sleeping thread look again at what it waits for, which is not a wake-up.
    func lookAgain() {
        if let phase = wakeWord.lookAgain() { kernel.wake(wakeWord, phase) }
    }

    /// Returns the present instant for a wake-up; while a recorder is at work, also records the calling thread.
    private func wakeStamp() -> Int64 {
        let now = now(.monotonic)
        // The thread is recorded before the wake-up is stored, so that the thread that serves the wake-up finds the
        // record.
        if rl_is_recorded() { rl_stamp_wake(now, SystemCalls.threadID) }
        return now
    }
}
