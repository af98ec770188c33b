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
public final class RunLoop: Sendable {
    /// The name of a mode.
    public typealias Mode = RunLoopMode
    /// A set of points of a run.
    public typealias Activities = RunLoopActivities
    /// What can be added to a loop.
    public typealias Item = RunLoopItem
    /// Fires at an instant, once or again and again.
    public typealias Timer = RunLoopTimer
    /// Performed after it was signalled.
    public typealias Source = RunLoopSource
    /// Called while a file descriptor is ready.
    public typealias PortSource = RunLoopPortSource
    /// Told when a run passes the points it asked for.
    public typealias Observer = RunLoopObserver
    /// A point in time on one of the clocks.
    public typealias Instant = RunLoopInstant
    /// One of the clocks.
    public typealias TimeBase = RunLoopTimeBase
    /// What a run ends with.
    public typealias RunResult = RunLoopRunResult
    /// What the system refused.
    public typealias SystemCallError = RunLoopSystemCallError

    package let engine: Engine

    /// Whether the thread was found to be scheduled as threads usually are: who waits on it then has nothing to lend it,
    /// and does not ask the system each time.
    package let isUsuallyScheduled = Atomic(false)

    package init(engine: Engine) {
        self.engine = engine
        engine.face = self
        NewLoops.shared.tell(of: engine)
    }

    // MARK: Finding a loop

    /// The loop of the calling thread, made at the first ask.
    ///
    /// Corresponds to `CFRunLoopGetCurrent`.
    /// Thread safety: any thread. Complexity: O(1).
    public static var current: RunLoop {
        if let face = ThreadLoop.existingFace {
            // SAFETY: ThreadLoop.set is only given run loops, here and in ThreadLoopAccess.
            return unsafeDowncast(face, to: RunLoop.self)
        }
        let id = SystemCalls.threadID
        let loop = id == SystemCalls.mainThreadID ? main : RunLoop(engine: Engine(kernel: EpollKernel(), threadID: id))
        ThreadLoop.set(loop.engine, keeping: loop)
        return loop
    }

    /// The main thread's loop.
    ///
    /// Runs what `DispatchQueue.main` and `@MainActor` have queued, in every common mode, when the main thread runs it.
    /// Corresponds to `CFRunLoopGetMain`.
    /// Thread safety: any thread.
    public static let main = RunLoop(
        engine: Engine(kernel: EpollKernel(), threadID: SystemCalls.mainThreadID, servesMainQueue: true))

    // MARK: Asking

    /// The mode of the innermost run in progress; `nil` if there is none.
    ///
    /// Corresponds to `CFRunLoopCopyCurrentMode`.
    public var currentMode: Mode? { engine.lock.withLock { engine.current?.mode } }

    /// The modes that something was added to, in the order in which they were made, the default mode first.
    ///
    /// Corresponds to `CFRunLoopCopyAllModes`.
    public var modes: [Mode] { engine.lock.withLock { engine.modes.map(\.mode) } }

    /// The modes that are marked as common, in the order in which they were marked, the default mode first.
    public var commonModes: [Mode] { engine.lock.withLock { engine.commonModes } }

    /// Whether the thread is about to sleep, or sleeps, because there is nothing to do.
    ///
    /// Corresponds to `CFRunLoopIsWaiting`.
    public var isWaiting: Bool { engine.wakeWord.phase == .sleeping }

    /// When the next timer of `mode` is due, on that timer's clock; `nil` if there is none.
    ///
    /// A timer whose callout is under way counts with the date that is being served.
    /// Corresponds to `CFRunLoopGetNextTimerFireDate`.
    /// Complexity: O(1) in the timers.
    public func nextTimerDeadline(in mode: Mode) -> Instant? { engine.nextTimer(in: mode) }

    // MARK: Reaching a loop from elsewhere

    /// Makes the loop turn once more, now if it sleeps.
    ///
    /// A wake-up handles nothing by itself; it makes a turn, in which signalled sources and blocks are found. Wake-ups
    /// collapse. One that comes before the loop has gone to sleep is not lost. Without a run in progress it does
    /// nothing.
    /// Corresponds to `CFRunLoopWakeUp`.
    /// Thread safety: any thread; async-signal-safe on the main loop after its first use.
    /// Complexity: one system call if the loop sleeps, none otherwise.
    public func wakeUp() { engine.wakeUp() }

    /// Ends the innermost run in progress at the end of its turn, or at once if it is just being entered.
    ///
    /// Without a run in progress it has no effect on a later one.
    /// Corresponds to `CFRunLoopStop`.
    /// Thread safety: any thread.
    public func stop() { engine.stop() }
}
