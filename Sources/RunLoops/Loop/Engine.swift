internal import CLinuxKernel
internal import Synchronization

/// The run loop itself, behind the public face.
///
/// This file has what it consists of. The others, each an extension: `Engine+Run` (one run, one turn), `Engine+Wait`
/// (sleeping, and what woke it), `Engine+Callouts` (telling observers, running blocks, sources, ports), `Engine+Timers`,
/// and `Engine+Items` (adding and removing).
package final class Engine: LoopCore, @unchecked Sendable {
    // MARK: Guarded by the lock

    /// Never removed, in the order in which they were made.
    // The dynamic check of exclusivity is off where a lock or a single thread excludes what it looks for.
    @exclusivity(unchecked) var modes: [ModeState] = []
    /// The first of them.
    let defaultMode: ModeState
    /// Names of modes, in the order in which they were marked; a mode need not exist yet to be marked.
    var commonModes: [RunLoopMode] = [.default]
    @exclusivity(unchecked) var commonItems = CommonItems()
    /// Never removed; empty ones are reused by mode and clock.
    @exclusivity(unchecked) var timerBuckets: [TimerBucket<RunLoopTimer>] = []
    /// The same by number, not counted.
    @exclusivity(unchecked) var bucketReferences: [Unmanaged<TimerBucket<RunLoopTimer>>] = []
    @exclusivity(unchecked) var timerSequence: UInt32 = 0
    /// The wake-up that was served last, by when it was called.
    @exclusivity(unchecked) var lastWakeUp = Int64.min
    /// Timers whose callouts are under way, innermost last.
    @exclusivity(unchecked) var firingTimers: [RunLoopTimer] = []
    /// The mode the thread sleeps in, while it does, and until when: who brings something earlier has to wake it.
    let sleepingMode = SleepingMode()
    @exclusivity(unchecked) var sleepLimit = WaitLimit.forever
    /// The innermost run's mode.
    @exclusivity(unchecked) var current: ModeState?
    /// The thread has ended.
    @exclusivity(unchecked) var isDead = false
    /// What a host waits for instead of the thread's sleep; in general nobody does.
    ///
    /// Written by the loop's thread.
    @exclusivity(unchecked) var guest: Guest?

    // MARK: Any thread

    let blocks = BlockQueue()
    /// Whether there is a tracer; asked only where somebody records at all.
    private let isTraced = Atomic<Bool>(false)

    // MARK: The loop's thread

    #if RUNLOOPS_WITHOUT_TRACING
    /// Nobody: for Scripts/trace-cost alone, to see what the question costs.
    package var tracer: (any LoopTracer)? {
        get { nil }
        set {}
    }
    #else
    /// Who is told of everything; in general nobody.
    @exclusivity(unchecked) package var tracer: (any LoopTracer)? {
        // Relaxed: a post that comes too early for it is one of which nobody knows since when it waits.
        didSet { isTraced.store(tracer != nil, ordering: .relaxed) }
    }
    #endif

    /// Of the main loop only.
    let mainQueue: MainQueue?
    /// Work of the main queue must not be begun inside work of the main queue.
    @exclusivity(unchecked) var isInMainQueue = false
    /// When descriptors were found last while there was something to compare them with.
    @exclusivity(unchecked) var lastLook = Int64.min
    /// Whether the last look at the descriptors has found work in the main queue.
    @exclusivity(unchecked) var foundMainQueue = false
    /// Kept from one turn to the next, so that a turn makes no arrays.
    @exclusivity(unchecked) var fetched: [ReadyDescriptor] = []
    @exclusivity(unchecked) var dueTimers: [TimerQueue<RunLoopTimer>.Due] = []
    @exclusivity(unchecked) var signalled: [SignalQueue<RunLoopSource>.Place] = []

    /// The monotonic time, if it was read since the last callout or sleep.
    @exclusivity(unchecked) var knownNow = Int64.min

    /// The monotonic time, read once between two callouts: nothing in between takes long enough to matter, and reading
    /// costs as much as much of it.
    ///
    /// The loop's thread.
    @inline(__always)
    func monotonicNow() -> Int64 {
        if knownNow == .min { knownNow = kernel.now(.monotonic) }
        return knownNow
    }

    package init(kernel: any Kernel, threadID: Int32, servesMainQueue: Bool = false) {
        mainQueue = servesMainQueue ? MainQueue() : nil
        defaultMode = ModeState(mode: .default, readiness: kernel.makeReadiness())
        super.init(kernel: kernel, threadID: threadID)
        defaultMode.markCommon()
        modes = [defaultMode]
    }

    // MARK: Modes. With the lock held.

    @inline(__always)
    func existingMode(_ mode: RunLoopMode) -> ModeState? {
        mode == .default ? defaultMode : namedMode(mode)
    }

    @inline(never)
    private func namedMode(_ mode: RunLoopMode) -> ModeState? {
        // A loop has a handful of modes: looking through them costs less than hashing one.
        for state in modes where state.mode == mode { return state }
        return nil
    }

    @inline(__always)
    func makeMode(_ mode: RunLoopMode) -> ModeState {
        existingMode(mode) ?? addMode(mode)
    }

    @inline(never)
    private func addMode(_ mode: RunLoopMode) -> ModeState {
        let state = ModeState(mode: mode, readiness: kernel.makeReadiness())
        if commonModes.contains(mode) { state.markCommon() }
        modes.append(state)
        return state
    }

    /// A block makes the mode it names, as an item does.
    ///
    /// Without the lock held.
    @inline(__always)
    package func nameMode(_ mode: RunLoopMode) {
        if mode == .default || mode == .common { return }
        lock.withLock { _ = makeMode(mode) }
    }

    /// Leaves a block for a run in one of its modes, which exist.
    @inline(__always)
    package func post(_ block: consuming Block, wake: Bool) {
        checkNotForked()
        if rl_is_recorded(), isTraced.load(ordering: .relaxed) { return put(leavingWord(block), wake: wake) }
        put(block, wake: wake)
    }

    @inline(__always)
    private func put(_ block: consuming Block, wake: Bool) {
        if SystemCalls.threadID == threadID { blocks.pushHere(block) } else { blocks.push(block) }
        if wake { wakeUp() }
    }

    /// The block with when it was posted, and by whom, told when it runs.
    ///
    /// A closure around the block's own, because a block has no room: one allocation, while somebody records.
    @inline(never)
    private func leavingWord(_ block: consuming Block) -> Block {
        let wait = LoopWait(since: kernel.now(.monotonic), thread: SystemCalls.threadID)
        // Unowned: it runs inside a run of this loop only; and one that no run may run must not keep its loop for ever.
        return block.wrapped { [unowned self] body in
            tracer?.trace(.wanted(wait))
            body()
        }
    }

    // MARK: What items ask for. With the lock held.

    package override func discard(_ item: AnyObject) { discardItem(item) }
    package override func holds(_ item: AnyObject) -> Bool { holdsItem(item) }
    package override func reschedule(_ item: AnyObject, _ change: () -> Void) { rescheduleItem(item, change) }

    // MARK: The end

    package override func threadEnds() {
        let (sources, waste) = lock.withLock { takeEverythingOut() }
        blocks.close()
        endGuest()
        for (source, mode) in sources { source.cancelled?(self, mode) }
        // Items and their closures die here, with no lock held.
        signalled = []
        withExtendedLifetime(waste) {}
    }

    /// Empties all modes.
    ///
    /// With the lock held; returns the sources to tell, and all that must outlive the lock.
    private func takeEverythingOut() -> ([(RunLoopSource, RunLoopMode)], [AnyObject]) {
        isDead = true
        var told: [(RunLoopSource, RunLoopMode)] = []
        var waste: [AnyObject] = commonItems.all
        commonItems = CommonItems()
        for mode in modes {
            let sources = mode.sources.values.sorted { $0.number < $1.number }.map(\.source)
            told += sources.map { ($0, mode.mode) }
            waste += sources + mode.observers + mode.ports.sources
            for source in sources { take(source, outOf: mode) }
            // A place holds its queue, and the queue the place: taken out, both can go.
            mode.signals.takeAll(into: &signalled)
            for observer in mode.observers { mode.remove(observer) }
            for port in mode.ports.sources { take(port, outOf: mode) }
            mode.ports.readiness.close()
        }
        for bucket in timerBuckets {
            let timers = bucket.queue.all.map(\.timer)
            waste += timers
            for timer in timers { takeOut(timer) }
        }
        return (told, waste)
    }
}
