internal import CLinuxKernel

/// What an item knows of the loop it is in: the lock, how to wake it, and whom to tell of changes.
///
/// The whole loop is the subclass ``Engine``; items do not know it, so that the arrows run one way.
package class LoopCore: @unchecked Sendable {
    /// Guards what other threads may touch: modes and their tables, the items of this loop, the timers.
    ///
    /// Never held during a callout. A source's own lock may be taken inside, not the other way round.
    package let lock = Lock()
    package let wakeWord = WakeWord()
    package let kernel: any Kernel
    /// The kernel's number of the thread that the loop belongs to.
    package let threadID: Int32
    /// The public face of the loop: what sources are told when they are added.
    package weak var face: AnyObject?
    /// The process that made the loop: a child after fork() must not use it.
    private let forks: Int32

    package init(kernel: any Kernel, threadID: Int32) {
        self.kernel = kernel
        self.threadID = threadID
        forks = SystemCalls.forks
    }

    /// Makes the loop turn once more, if it is in a run and on its way to sleep or asleep.
    package func wakeUp() {
        checkNotForked()
        if wakeWord.wake(now: { wakeStamp() }) { kernel.wake() }
    }

    /// Ends the innermost run at the end of its turn.
    package func stop() {
        checkNotForked()
        if wakeWord.stop(now: { wakeStamp() }) { kernel.wake() }
    }

    /// When a wake-up is called; while somebody records, also by whom.
    @inline(__always)
    private func wakeStamp() -> Int64 {
        let now = kernel.now(.monotonic)
        // Before the wake-up itself is left, so that whoever serves it finds it.
        if rl_is_recorded() { rl_stamp_wake(now, SystemCalls.threadID) }
        return now
    }

    /// Takes an item that has become invalid out of every mode.
    ///
    /// Called with the lock held.
    package func discard(_ item: AnyObject) { fatalError("the engine takes items out") }

    /// Makes a change to an item that the loop keeps in an order or has told the kernel of: the dates of a timer, the
    /// events of a port source.
    ///
    /// Called with the lock held.
    package func reschedule(_ item: AnyObject, _ change: () -> Void) { fatalError("the engine keeps the order") }

    /// Whether the item is in any of the loop's modes.
    ///
    /// Called with the lock held.
    package func holds(_ item: AnyObject) -> Bool { fatalError("the engine knows its items") }

    /// The loop's thread ends: cancels and releases what the loop holds.
    ///
    /// Later calls on it are harmless.
    package func threadEnds() { fatalError("the engine tears itself down") }

    @inline(__always)
    package func checkNotForked() {
        if forks != SystemCalls.forks { refuse() }
    }

    @inline(never)
    private func refuse() -> Never {
        fatalError(
            """
            A run loop made before fork() was used in the child process. Its kernel objects are shared with the \
            parent, whose wake-ups would be stolen. Call exec after fork, or make new threads with loops of their own.
            """)
    }
}
