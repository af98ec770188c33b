// What a loop consists of, and how it is found, asked and reached. What happens in a turn is in the folder Turn, what a mode
// keeps in Tables, what can be added in Items, what tools see in Inspection.

internal import CLinuxKernel
package import Synchronization

/// Sleeps until there is something to do on its thread, does it, tells its observers, and sleeps again.
///
/// Every thread can have one run loop, which is made when it is first asked for (``current``) and lives until the
/// thread ends. Timers, sources and observers are added to modes of a loop; a run is in one mode and serves what
/// belongs to it.
///
/// Corresponds to `CFRunLoop`. What it does is written down rule by rule in the article <doc:OneTurn>.
///
/// Thread safety: all members may be used by any thread, but for those that run the loop. Closures are called on the
/// loop's thread with no lock held, so that they may call anything, the loop itself included. After the thread's end
/// all members are harmless and do nothing. After `fork()` a loop of the parent traps in the child.
public final class RunLoop: @unchecked Sendable {
    // MARK: Constants

    /// The loop's lock: guards what other threads may touch, which are the modes and their tables, the timers and
    /// observers of this loop, and what is marked below.
    ///
    /// Never held during a callout. A source's own lock may be taken inside, not the other way round.
    let lockPointer = LoopLock.lend()
    package let kernel: any Kernel
    /// The kernel's number of the thread that the loop belongs to.
    package let threadID: Int32
    /// Tells the loop from all others of the process.
    let number = UInt32(truncatingIfNeeded: rl_next_number())
    /// Of the main loop only.
    let mainQueue: MainQueue?
    /// The process that made the loop: a child after fork() must not use it.
    private let forks: Int32
    /// Whether the kernel's clocks are the system's, which can be read without asking the kernel.
    private let hasSystemClock: Bool

    // MARK: Any thread

    package let wakeWord = WakeWord()
    let blocks = BlockQueue()
    /// Whether there is a tracer; asked only where somebody records at all.
    let isTraced = Atomic<Bool>(false)
    /// The latest instant at which a wake-up was called, or descriptors found ready, that may have left its place in some
    /// mode: a timer that was due before has to be told apart from one that comes after.
    ///
    /// Relaxed: a timer that another thread adds at the same moment may be seen as the one or the other.
    let lastRival = Atomic<Int64>(.min)
    /// Whether there is another mode than the default one.
    let hasSeveralModes = Atomic<Bool>(false)
    /// Whether the thread was found to be scheduled as threads usually are: a thread that waits for it then has nothing to
    /// lend it, and does not ask the system each time.
    package let isUsuallyScheduled = Atomic(false)

    // MARK: Guarded by the lock

    // The dynamic check of exclusivity is off where a lock or a single thread excludes what it looks for.
    /// Never removed, in the order in which they were made; the default mode is the first.
    @exclusivity(unchecked) private(set) var modeStates: [ModeState] = []
    let defaultMode: ModeState
    /// Names of modes, in the order in which they were marked; a mode need not exist yet to be marked.
    @exclusivity(unchecked) private(set) var commonModeNames: [Mode] = [.default]
    @exclusivity(unchecked) var commonItems = CommonItems()
    /// Never removed; empty ones are used again by mode and clock.
    @exclusivity(unchecked) private(set) var timerBuckets: [TimerBucket] = []
    /// The same by number, not counted: what a timer's every step asks for.
    @exclusivity(unchecked) private(set) var bucketReferences: [Unmanaged<TimerBucket>] = []
    /// Grows with each timer that is put into a queue.
    @exclusivity(unchecked) var timerSequence: UInt32 = 0
    /// Timers whose callouts are under way, innermost last.
    // Not counted: the loop keeps a timer while it is called.
    @exclusivity(unchecked) var firingTimers: [Unmanaged<Timer>] = []
    /// The servings of due timers that are under way, innermost last.
    @exclusivity(unchecked) var timerPasses: [TimerPass] = []
    /// What the thread sleeps for, while the wake word says that it sleeps or is about to.
    @exclusivity(unchecked) var sleep = Sleep()
    /// The runs in progress, innermost last.
    @exclusivity(unchecked) var runs: [RunInProgress] = []
    @exclusivity(unchecked) var runsBegun: UInt64 = 0
    /// The thread has ended.
    @exclusivity(unchecked) private(set) var isDead = false
    /// What a host waits for instead of the thread's sleep; usually there is no host.
    ///
    /// Written by the loop's thread.
    @exclusivity(unchecked) var guest: Guest?

    // MARK: The loop's thread

    #if RUNLOOPS_WITHOUT_TRACING
    /// Nobody: for Scripts/trace-cost alone, to see what the question costs.
    package var tracer: (any LoopTracer)? {
        get { nil }
        set {}
    }
    #else
    /// The tracer that receives every event; usually `nil`.
    @exclusivity(unchecked) package var tracer: (any LoopTracer)? {
        // Relaxed: of a post that comes just before the tracer nobody knows since when it waits.
        didSet { isTraced.store(tracer != nil, ordering: .relaxed) }
    }
    #endif

    /// Whether work of the main queue, such as a job of the main actor, is under way.
    ///
    /// No such work begins inside it.
    @exclusivity(unchecked) package internal(set) var isInMainQueue = false
    /// When descriptors were found last while there was something to compare them with.
    @exclusivity(unchecked) var lastLook = Int64.min
    /// When the wake-up was called that was served last.
    @exclusivity(unchecked) var lastServedWakeUp = Int64.min
    /// Whether the last look at the descriptors has found work in the main queue.
    @exclusivity(unchecked) var foundMainQueue = false
    // Kept from one turn to the next, so that a turn makes no arrays.
    @exclusivity(unchecked) var fetched: [ReadyDescriptor] = []
    @exclusivity(unchecked) var signalled: [SignalQueue<Source>.Queued] = []
    /// The monotonic time, if it was read since the last callout or sleep.
    @exclusivity(unchecked) var knownNow = Int64.min

    package init(kernel: any Kernel, threadID: Int32, servesMainQueue: Bool = false) {
        self.kernel = kernel
        self.threadID = threadID
        mainQueue = servesMainQueue ? MainQueue() : nil
        forks = SystemCalls.forks
        hasSystemClock = kernel is EpollKernel
        defaultMode = ModeState(mode: .default, readiness: kernel.makeReadiness())
        defaultMode.markCommon()
        modeStates = [defaultMode]
        LoopLock.assign(lockPointer, to: self)
        NewLoops.shared.tell(of: self)
    }

    deinit {
        // A loop that no thread has ended: items that live longer must not find it.
        if !isDead { threadEnds() }
        LoopLock.assign(lockPointer, to: nil)
    }

    // MARK: Finding a loop

    /// The loop of the calling thread, made at the first ask.
    ///
    /// Corresponds to `CFRunLoopGetCurrent`.
    /// Thread safety: any thread. Complexity: O(1).
    @available(
        *, noasync,
        message: "A task has no thread of its own: use RunLoop.main, or a loop that its thread has handed over."
    )
    public static var current: RunLoop {
        if let existing = ThreadLoop.existing { return existing }
        let id = SystemCalls.threadID
        let loop = id == SystemCalls.mainThreadID ? main : RunLoop(kernel: EpollKernel(), threadID: id)
        ThreadLoop.set(loop)
        return loop
    }

    /// The main thread's loop.
    ///
    /// Runs what `DispatchQueue.main` and `@MainActor` have queued, in every common mode, when the main thread runs it.
    /// Corresponds to `CFRunLoopGetMain`.
    /// Thread safety: any thread.
    public static let main = RunLoop(
        kernel: EpollKernel(), threadID: SystemCalls.mainThreadID, servesMainQueue: true)

    // MARK: Asking

    /// The mode of the innermost run in progress; `nil` if there is none.
    ///
    /// Corresponds to `CFRunLoopCopyCurrentMode`.
    public var currentMode: Mode? { withLock { runs.last?.mode.mode } }

    /// The modes that something was added to, in the order in which they were made, the default mode first.
    ///
    /// Corresponds to `CFRunLoopCopyAllModes`.
    public var modes: [Mode] { withLock { modeStates.map(\.mode) } }

    /// The modes that are marked as common, in the order in which they were marked, the default mode first.
    public var commonModes: [Mode] { withLock { commonModeNames } }

    /// Whether the thread sleeps, or is about to, because there is nothing to do.
    ///
    /// Corresponds to `CFRunLoopIsWaiting`.
    public var isWaiting: Bool { wakeWord.phase.isAsleep }

    /// When the next timer of `mode` is due, on that timer's clock; `nil` if there is none.
    ///
    /// A timer whose callout is under way counts with the date that is being served.
    /// Corresponds to `CFRunLoopGetNextTimerFireDate`.
    /// Complexity: O(1) in the timers.
    public func nextTimerDeadline(in mode: Mode) -> Instant? { withLock { nextTimer(in: mode) } }

    // MARK: Reaching a loop from elsewhere

    /// Makes the loop turn once more, now if it sleeps.
    ///
    /// A wake-up handles nothing by itself; it makes a turn, in which signalled sources and blocks are found. Wake-ups
    /// collapse. One that comes before the loop has gone to sleep is not lost. Without a run in progress it does
    /// nothing.
    /// Corresponds to `CFRunLoopWakeUp`.
    /// Thread safety: any thread; async-signal-safe on the main loop after its first use.
    /// Complexity: one system call if the loop sleeps, none otherwise.
    public func wakeUp() {
        checkNotForked()
        if let phase = wakeWord.wake(now: { wakeStamp() }) { kernel.wake(wakeWord, phase) }
    }

    /// Ends the innermost run in progress at the end of its turn, or at once if it is just being entered.
    ///
    /// Without a run in progress it has no effect on a later one. A run that begins and ends meanwhile in a callout of the
    /// stopped one does not take the stop away.
    /// Corresponds to `CFRunLoopStop`; there such a nested run can leave the outer one asleep.
    /// Thread safety: any thread.
    public func stop() {
        checkNotForked()
        if let phase = wakeWord.stop(now: { wakeStamp() }) { kernel.wake(wakeWord, phase) }
    }

    /// When a wake-up is called; while somebody records, also by whom.
    @inline(__always)
    private func wakeStamp() -> Int64 {
        let now = now(.monotonic)
        // Before the wake-up itself is left, so that whoever serves it finds it.
        if rl_is_recorded() { rl_stamp_wake(now, SystemCalls.threadID) }
        return now
    }

    // MARK: The lock

    @inline(__always)
    func lock() { lockPointer.pointee.take() }
    @inline(__always)
    func unlock() { lockPointer.pointee.giveBack() }

    @inline(__always)
    package func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body()
    }

    // MARK: Clocks

    @inline(__always)
    package func now(_ base: TimeBase) -> Int64 { hasSystemClock ? SystemCalls.now(base) : kernel.now(base) }

    /// The monotonic time, read once between two callouts: nothing in between takes long enough to matter, and reading
    /// costs as much as much of it.
    ///
    /// The loop's thread.
    @inline(__always)
    func monotonicNow() -> Int64 {
        if knownNow == .min { knownNow = now(.monotonic) }
        return knownNow
    }

    // MARK: Modes. With the lock held.

    @inline(__always)
    func existingMode(_ mode: Mode) -> ModeState? { mode == .default ? defaultMode : namedMode(mode) }

    @inline(never)
    private func namedMode(_ mode: Mode) -> ModeState? {
        // A loop has a handful of modes: looking through them costs less than hashing one.
        for state in modeStates where state.mode == mode { return state }
        return nil
    }

    @inline(__always)
    func makeMode(_ mode: Mode) -> ModeState { existingMode(mode) ?? addMode(mode) }

    @inline(never)
    private func addMode(_ mode: Mode) -> ModeState {
        let state = ModeState(mode: mode, readiness: kernel.makeReadiness())
        if commonModeNames.contains(mode) { state.markCommon() }
        modeStates.append(state)
        hasSeveralModes.store(true, ordering: .releasing)
        return state
    }

    /// Makes the bucket of timers that are in these modes and count on this clock.
    func addBucket(_ base: TimeBase, _ modes: [ModeState]) -> TimerBucket {
        let bucket = TimerBucket(number: BucketNumber(index: timerBuckets.count), base: base, modes: modes)
        timerBuckets.append(bucket)
        bucketReferences.append(.passUnretained(bucket))
        for mode in modes { mode.add(bucket) }
        return bucket
    }

    /// Marks a mode; returns false if it was marked already.
    func markCommon(_ mode: Mode) -> Bool {
        if commonModeNames.contains(mode) || isDead { return false }
        commonModeNames.append(mode)
        existingMode(mode)?.markCommon()
        return true
    }

    // MARK: Misuse

    @inline(__always)
    package func checkNotForked() {
        if forks != SystemCalls.forks { refuseInChild() }
    }

    @inline(never)
    private func refuseInChild() -> Never {
        fatalError(
            """
            A run loop made before fork() was used in the child process. Its kernel objects are shared with the \
            parent, whose wake-ups would be stolen. Call exec after fork, or make new threads with loops of their own.
            """)
    }

    func requireOwnThread() {
        checkNotForked()
        require(
            SystemCalls.threadID == threadID,
            "A run loop can only be run by its own thread: thread \(SystemCalls.threadID) tried to run that of thread \(threadID). Use perform, signal or stop to reach it from elsewhere."
        )
    }

    // MARK: The end

    /// The loop's thread ends: what the loop holds is cancelled and released.
    ///
    /// Later calls on it are harmless.
    package func threadEnds() {
        let waste = withLock { takeEverythingOut() }
        blocks.close()
        endGuest()
        for (source, mode) in waste.sources { source.hasLeft([mode], of: self) }
        // Items and their closures die here, with no lock held.
        signalled = []
        withExtendedLifetime(waste) {}
    }

    private struct Waste {
        var sources: [(Source, Mode)] = []
        var items: [Item] = []
        var closures: [() -> Void] = []
    }

    /// Empties all modes; returns the sources to tell, and all that must outlive the lock.
    private func takeEverythingOut() -> Waste {
        isDead = true
        var waste = Waste()
        waste.items = commonItems.all
        commonItems = CommonItems()
        for mode in modeStates {
            waste.sources += mode.sources.map { ($0, mode.mode) }
            let items = mode.sources + mode.observers + mode.descriptors.sources as [Item]
            waste.items += items
            for item in items { item.leave(mode, of: self) }
            mode.signals.close()
            mode.descriptors.readiness.close()
        }
        // Also those that are being called: a thread can end inside a callout.
        var timers = firingTimers.map { $0.takeUnretainedValue() }
        for bucket in timerBuckets {
            bucket.queue.visit { _, timer, _ in if let timer { timers.append(timer) } }
            let closures = bucket.queue.removeAllDelayed()
            bucket.countTimers(-closures.count)
            waste.closures += closures
        }
        waste.items += timers
        for timer in timers { takeOut(timer) }
        return waste
    }
}
