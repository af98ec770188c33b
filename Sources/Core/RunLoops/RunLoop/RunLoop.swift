// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The parts of a loop, and how a loop is found and queried. The folder Turn has what happens in a turn, Tables what
// belongs to a mode, Items what can be added, Timers all about timers, Inspection what tools see.
//
// Apart from the public interface, the package's other modules use the declarations marked `package`, and no others: a
// tracer and a look into a loop (Inspection, ItemLabel), an event source (DescriptorSource, Item, Timer), a kernel with
// its own time (Kernel, WakeWord, ThreadLoop), a companion (RunLoop, below), and locks, fork generations and clocks
// (Support, SystemCalls). Scripts/surface counts them and demands a sentence for each. Tests see the rest by
// `@testable`.

internal import CRunLoopsKernel
package import Synchronization

/// Sleeps until there is something to do on its thread, does it, calls its observers, and sleeps again.
///
/// Every thread can have one run loop, which is made at the first access to ``current`` and lives until the thread
/// ends. Timers, sources and observers are added to modes of a loop. A run is in one mode and serves the items of that
/// mode.
///
/// Corresponds to `CFRunLoop`. The article <doc:OneTurn> describes what a loop does, rule by rule.
///
/// Thread safety: any thread may use all members, except members that run the loop. The loop calls closures on its own
/// thread with no lock held, so that a closure may call anything, the loop itself included. After the end of the thread
/// all members may still be called and do nothing. After `fork()` a loop of the parent traps in the child.
public final class RunLoop: @unchecked Sendable {
    let memory: LoopMemory
    let blocks: BlockQueue
    /// The main queue, for the main loop; `nil` in all other loops.
    let mainQueue: MainQueue?
    private let generation = ForkGeneration()
    /// Whether a waiting thread has found that the loop's thread has the usual scheduling.
    ///
    /// Another thread of usual scheduling that waits for the loop then lends it no priority, and need not ask the
    /// system each time.
    package let isUsuallyScheduled = Atomic(false)
    /// The guest, if a host waits for the loop; usually `nil`.
    ///
    /// For the loop's thread alone; other threads find ``GuardedState/hosted``.
    // Unchecked, here and below, where each turn reads the field.
    @exclusivity(unchecked) var guest: Guest?
    /// Whether there is a tracer; read only while a recorder is at work.
    let isTraced = Atomic<Bool>(false)

    // MARK: The loop's thread

    #if RUNLOOPS_WITHOUT_TRACING
    /// Always `nil`; compiled for Benchmarks/trace-cost alone, which measures what the test for a tracer costs.
    package var tracer: (any LoopTracer)? {
        get { nil }
        set {}
    }
    func report(_ event: LoopEvent) {}
    #else
    /// The tracer that receives every event; usually `nil`.
    @exclusivity(unchecked) package var tracer: (any LoopTracer)? {
        didSet {
            // Relaxed: the time of a post that another thread made just before the tracer was set is not known.
            isTraced.store(tracer != nil, ordering: .relaxed)
            formerTracer = tracerBox
            tracerBox = tracer.map { TracerBox($0) }
            tracerReference = tracerBox.map { .passUnretained($0) }
        }
    }
    @exclusivity(unchecked) private var tracerBox: TracerBox?
    /// The box of the former tracer, kept until the next tracer is removed too, because a tracer may remove itself in
    /// the middle of an event.
    @exclusivity(unchecked) private var formerTracer: TracerBox?
    // SAFETY: one of the two boxes keeps it while an event is reported.
    @exclusivity(unchecked) private var tracerReference: Unmanaged<TracerBox>?

    /// Reports an event to the tracer, if there is one.
    ///
    /// The tracer is called through an unmanaged reference: reference counting would cost as much for each event as all
    /// the rest.
    func report(_ event: LoopEvent) {
        tracerReference?._withUnsafeGuaranteedRef { $0.tracer.trace(event) }
    }
    #endif

    /// The tracers of the callouts that are under way, innermost last.
    @exclusivity(unchecked) var callTracers: [any LoopTracer] = []
    /// Whether work of the main queue, such as a job of the main actor, is under way.
    ///
    /// No such work begins inside it.
    @exclusivity(unchecked) package internal(set) var isInMainQueue = false
    /// The instant of the wake-up that was served last, for tracers.
    // Not a value of the cause: a turn that hands on two words takes twelve instructions more.
    @exclusivity(unchecked) var lastServedWakeUp = Int64.min
    /// Chooses which of several ready kinds is served first, by index in the order in which they became ready.
    ///
    /// Only the oracle sets it, to show that a difference between two loops is a difference of this order.
    @exclusivity(unchecked) package var chooseReady: ((_ count: Int) -> Int)?
    /// Whether a turn sleeps in a mode that has lost its last item, as in Core Foundation: Specification 9.18.
    ///
    /// Only the oracle sets it, to show that a difference between two loops is this difference.
    @exclusivity(unchecked) package var sleepsWithoutItems = false
    /// Whether the last look at the descriptors has found work in the main queue.
    @exclusivity(unchecked) var foundMainQueue = false
    // Kept from one turn to the next, so that a turn makes no arrays.
    @exclusivity(unchecked) var fetched: [ReadyDescriptor] = []
    @exclusivity(unchecked) var signalled: [SignalQueue<Source>.Queued] = []
    /// The monotonic time, if it was read since the last callout or sleep.
    @exclusivity(unchecked) var knownNow = Int64.min

    /// Makes a loop on a kernel, for the thread with this number.
    package init(kernel: any Kernel, threadID: Int32, servesMainQueue: Bool = false) {
        blocks = BlockQueue()
        memory = LoopMemory(kernel: kernel, threadID: threadID, blocks: blocks)
        mainQueue = servesMainQueue ? MainQueue() : nil
        if mainQueue != nil {
            withState { MainQueue.reserve($0.modes[GuardedState.defaultMode].mode.readiness) }
        }
        withState { $0.loop = .passUnretained(self) }
        memory.publish()
        NewLoops.announce(self)
    }

    deinit {
        if !isInherited {
            // If the thread has not ended the loop, the loop ends here, so that items that live longer do not find it.
            if !isDead { threadEnds() }
            memory.unpublish()
        }
        memory.free()
    }

    // MARK: Finding a loop

    /// The loop of the calling thread, made at the first access.
    ///
    /// The thread of a forked child gets a loop of its own: its parent's loop stays with the parent.
    ///
    /// Corresponds to `CFRunLoopGetCurrent`. Thread safety: any thread.
    /// - Complexity: O(1).
    @available(
        *, noasync,
        message:
            "A task has no thread of its own: on the main actor the loop is RunLoop.main; elsewhere use a loop that you were given, such as thread.loop."
    )
    public static var current: RunLoop {
        if let existing = ThreadLoop.existing { return existing }
        let id = SystemCalls.threadID
        let loop = id == SystemCalls.mainThreadID ? ofMainThread : RunLoop(kernel: EpollKernel(), threadID: id)
        ThreadLoop.set(loop)
        return loop
    }

    /// The main thread's loop.
    ///
    /// While the main thread runs this loop in a common mode, the loop also does the work of `DispatchQueue.main` and
    /// `@MainActor`. A forked child has a main loop of its own, which does not serve that queue if its parent's main
    /// loop did. Corresponds to `CFRunLoopGetMain`. Thread safety: any thread.
    ///
    /// While a test on the main thread is in `ManualRunLoop.with(_:)` or `TestApplication.with(size:delegate:_:)`, the
    /// main loop is that test's loop, for code on the main thread. Other threads find the main loop as always.
    public static var main: RunLoop { rl_thread_has_clock() ? testMain : ofMainThread }

    /// The main loop, whichever loop a test has put in its place.
    package static var ofMainThread: RunLoop { mainLoop.own }

    private static var testMain: RunLoop {
        guard let loop = ThreadLoop.existing, loop.threadID == SystemCalls.mainThreadID else { return ofMainThread }
        return loop
    }

    private static let mainLoop = PerProcess {
        let loop = RunLoop(kernel: EpollKernel(), threadID: SystemCalls.mainThreadID, servesMainQueue: true)
        ThreadLoop.takeMain(loop)
        return loop
    }

    // MARK: Asking

    /// The mode of the innermost run in progress; `nil` if there is none.
    ///
    /// Corresponds to `CFRunLoopCopyCurrentMode`.
    public var currentMode: Mode? { withState { $0.runs.last?.mode.name } }

    /// The modes to which something was added, in the order in which they were made, the default mode first.
    ///
    /// Corresponds to `CFRunLoopCopyAllModes`.
    public var modes: [Mode] { withState { $0.modes().map(\.name) } }

    /// The modes that are marked as common, in the order in which they were marked, the default mode first.
    public var commonModes: [Mode] { withState { $0.commonModeNames } }

    /// Whether the thread sleeps in the loop, or is about to.
    ///
    /// In a host (``pollDescriptor``) the time between two calls of ``runReady(in:servingMainQueue:)`` counts as sleep:
    /// the value is `true` even while the host's own code runs. Corresponds to `CFRunLoopIsWaiting`.
    public var isWaiting: Bool { core.wakeWord.phase.isAsleep }

    /// The processor time that the loop's thread has used since the loop was made.
    ///
    /// The system measures this time, so that a turn costs no more. After the end of the thread the value does not
    /// change. Corresponds to the field `_runTime` of Core Foundation's loop, which is never set there. Thread safety:
    /// any thread.
    /// - Complexity: one system call.
    public var runTime: Duration { .nanoseconds(withState { $0.threadTimes.run }) }

    /// The time since the loop was made in which its thread did not use a processor, because it slept in the loop or
    /// waited elsewhere.
    ///
    /// The value is in real time, also for a loop whose own time is virtual. The sum of this value and ``runTime`` is
    /// the age of the loop. After the end of the thread the value does not change. Corresponds to the field
    /// `_sleepTime` of Core Foundation's loop, which counts the sleep in the loop alone; `Metering` of
    /// `RunLoopsDiagnostics` does that. Thread safety: any thread.
    /// - Complexity: one system call.
    public var sleepTime: Duration { .nanoseconds(withState { $0.threadTimes.sleep }) }

    /// The deadline of the next timer of `mode`, on that timer's clock; `nil` if there is none.
    ///
    /// While a timer's callout is under way, its deadline is the one that is being served. Corresponds to
    /// `CFRunLoopGetNextTimerFireDate`.
    /// - Precondition: `mode` is not `.common`.
    /// - Complexity: O(1) in the timers.
    public func nextTimerDeadline(in mode: Mode) -> Instant? {
        requireOneMode(mode)
        return withState { $0.nextTimer(in: mode) }
    }

    /// Returns the object that another library attaches to the loop; the first call for each type makes the object.
    ///
    /// The loop retains the object until the thread ends. After that, each call makes a new object. Thread safety: any
    /// thread. The argument of `make` is whether the thread has ended. `make` is called with the loop's lock held, and
    /// must not take it.
    package func companion<Companion: LoopCompanion>(_ make: (_ hasEnded: Bool) -> Companion) -> Companion {
        withState { state in
            for companion in state.companions where type(of: companion) == Companion.self {
                return unsafeDowncast(companion, to: Companion.self)
            }
            let made = make(state.isDead)
            if !state.isDead { state.companions.append(made) }
            return made
        }
    }

    /// Whether another library has attached an object to the loop.
    var hasCompanions: Bool { withState { !$0.companions.isEmpty } }

    // MARK: Reaching a loop from elsewhere

    /// Makes the loop do one more turn; if the loop sleeps, wakes it now.
    ///
    /// A wake-up serves no item by itself. It causes a turn, which finds signalled sources and blocks. Several wake-ups
    /// count as one. A wake-up that is called while the loop is about to sleep is not lost. If the loop waits in a
    /// host, a wake-up makes ``pollDescriptor`` readable. With neither a run in progress nor a host, a wake-up does
    /// nothing. Corresponds to `CFRunLoopWakeUp`. Thread safety: any thread; async-signal-safe on the main loop after
    /// its first use.
    /// - Complexity: one system call if the loop sleeps, none otherwise.
    public func wakeUp() {
        checkNotForked()
        core.wakeUp()
    }

    /// Ends the innermost run in progress at the end of its turn, or at once if the run is just being entered.
    ///
    /// Without a run in progress the call does nothing, and has no effect on a later run: it does not end a host, and
    /// does not make ``pollDescriptor`` readable. A nested run that begins and ends in a callout of the stopped run
    /// does not cancel the stop. Corresponds to `CFRunLoopStop`, in which such a nested run can leave the outer one
    /// asleep. Thread safety: any thread.
    public func stop() {
        checkNotForked()
        core.stop()
    }

    // MARK: The lock

    /// The parts of the loop that need no lock.
    var core: LoopCore {
        // SAFETY: valid until the loop is released.
        unsafeAddress { memory.unguarded }
    }

    /// Takes the lock while `body` uses the state that the lock guards: the only way to it.
    func withState<Result: ~Copyable, Failure: Error>(
        _ body: (inout GuardedState) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try memory.withState(body)
    }

    // MARK: Clocks, kernel, thread

    /// The kernel of a loop with virtual time, such as a test's; `nil` for a loop on the system's kernel.
    package var virtualKernel: (any Kernel)? { core.kernel is EpollKernel ? nil : core.kernel }
    var kernel: any Kernel { core.kernel }
    /// The kernel's number of the thread that the loop belongs to.
    package var threadID: Int32 { core.threadID }
    /// Whether the thread has ended.
    var isDead: Bool { withState { $0.isDead } }
    /// Whether the innermost run has been asked to stop, and has not ended yet.
    package var isStopped: Bool { core.wakeWord.isStopped }

    /// The present time of a clock of the loop's kernel, in nanoseconds; any thread.
    package func now(_ clock: ClockID) -> Int64 { core.now(clock) }

    /// Returns the monotonic time, which is read once between two callouts.
    ///
    /// What happens in between takes too little time to matter, and each read of the clock would cost about as much.
    /// Called on the loop's thread.
    func monotonicNow() -> Int64 {
        if knownNow == .min { knownNow = now(.monotonic) }
        return knownNow
    }

    // MARK: Misuse

    /// Whether a parent of this process made the loop, so that this process must not use it.
    package var isInherited: Bool { generation.isInherited }

    func checkNotForked() {
        if isInherited { refuseInChild() }
    }

    private func refuseInChild() -> Never {
        fatalError(
            """
            A run loop made before fork() was used in the child process. Its kernel objects are shared with the \
            parent, whose wake-ups would be stolen. Call exec after fork, or ask for RunLoop.current again: the child has \
            loops of its own. If fork() was called in a callout of the loop, the child must not return from the callout.
            """)
    }

    func requireOwnThread() {
        checkNotForked()
        require(
            SystemCalls.threadID == threadID,
            "A run loop can only be run by its own thread: thread \(SystemCalls.threadID) tried to run the loop of thread \(threadID). Use perform, signal or stop to reach it from elsewhere."
        )
    }

    // MARK: The end

    /// Called when the loop's thread ends: cancels and releases the items and blocks of the loop.
    ///
    /// The members of the loop may still be called afterwards, and do nothing.
    package func threadEnds() {
        let waste = withState { $0.takeEverythingOut() }
        blocks.close()
        endGuest()
        for (source, mode) in waste.sources { source.hasLeft([mode], of: self) }
        // Items and their closures are released here, with no lock held.
        signalled = []
        withExtendedLifetime(waste) {}
        let left = withState { state in
            defer { state.companions = [] }
            return state.companions
        }
        for companion in left { companion.threadHasEnded() }
    }
}
