// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// A run loop in virtual time: the same loop, on a kernel whose clock moves only when a test says so.
///
/// Use it to test code that uses a run loop: timers of hours fire in no time, in the same order as in real
/// time, and a test can count what woke the loop.
///
/// ```swift
/// ManualRunLoop.with { manual in
///     let ticker = Ticker(every: .seconds(60))      // adds a timer to RunLoop.current
///     manual.advance(by: .seconds(3600))
///     #expect(ticker.ticks == 60)
/// }
/// ```
///
/// While time is manual, a callout takes no time. Descriptors are ready when the test says so (``setReady(_:_:)``); the
/// loop asks the system for nothing.
///
/// Thread safety: all members belong to the thread that made the manual loop. Any thread may use its ``loop``, as any
/// other loop.
public final class ManualRunLoop {
    /// The loop; `RunLoop.current` inside ``with(_:)``.
    public let loop: RunLoop
    private let kernel = ManualKernel()

    private init() {
        loop = RunLoop(kernel: kernel, threadID: SystemCalls.threadID)
        kernel.sleepsForever = { [weak self] in
            self?.endlessSleeps += 1
            self?.loop.stop()
        }
    }

    /// Runs `body` with a manual loop as the calling thread's own, and puts the thread's loop back afterwards.
    ///
    /// At the end, everything that is still in the manual loop is cancelled and released, as at the end of a thread.
    public static func with<Result, Failure: Error>(
        _ body: (ManualRunLoop) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let manual = ManualRunLoop()
        let outer = RunLoop.replaceCurrent(with: manual.loop)
        defer {
            manual.loop.threadEnds()
            _ = RunLoop.replaceCurrent(with: outer)
        }
        return try body(manual)
    }

    // MARK: Time

    /// The present instant on the monotonic clock.
    public var now: RunLoop.Instant { now(.monotonic) }

    /// The present instant on a clock.
    ///
    /// The wall clock starts in November 2023.
    public func now(_ base: RunLoop.TimeBase) -> RunLoop.Instant {
        RunLoop.Instant(nanoseconds: kernel.now(base), base: base)
    }

    /// Runs everything that is due within `duration`, in order, each at its own instant, and leaves the clock at
    /// the end of `duration`.
    ///
    /// Many small advances do the same as one large advance: each timer fires at the same instant, in the same order. A
    /// `stop()` ends the advance where it was called.
    ///
    /// - Parameters:
    ///   - duration: How much time passes.
    ///   - mode: The mode to run in.
    /// - Returns: `stopped`, or `timedOut` when all the time has passed.
    @discardableResult
    public func advance(by duration: Duration, in mode: RunLoop.Mode = .default) -> RunLoop.RunResult {
        let end = now.advanced(by: duration)
        // What is due now already goes first, also when no time passes.
        var result = loop.poll(mode: mode)
        while result != .stopped, now < end {
            result = loop.run(mode: mode, until: end)
            // An empty mode does not hold time up.
            if result == .finished { kernel.advance(to: end.nanoseconds) }
        }
        return result == .stopped ? .stopped : .timedOut
    }

    /// Lets time pass until the next timer of the mode is due, and fires the timer.
    ///
    /// Returns whether there was a timer.
    @discardableResult
    public func advanceToNextTimer(in mode: RunLoop.Mode = .default) -> Bool {
        guard let deadline = loop.nextTimerDeadline(in: mode) else { return false }
        advance(by: max(.zero, now(deadline.base).duration(to: deadline)), in: mode)
        return true
    }

    /// The machine is suspended for `duration`: the monotonic clock stands still, the other clocks go on.
    public func suspend(for duration: Duration) { kernel.suspend(for: duration.clampedNanoseconds) }

    /// Somebody changes the wall clock by `difference`.
    public func changeWallClock(by difference: Duration) {
        kernel.changeWallClock(by: difference.clampedNanoseconds)
    }

    // MARK: Descriptors

    /// Makes a descriptor ready for `events`, level-triggered, until it is made ready for other events or for none.
    ///
    /// Any number will do; no file is needed. Descriptors are reported in the order in which they became ready.
    public func setReady(_ descriptor: CInt, _ events: RunLoop.DescriptorSource.Events) {
        kernel.ready.removeAll { $0.descriptor == descriptor }
        if !events.isEmpty { kernel.ready.append((descriptor, events)) }
    }

    // MARK: What went wrong, and what it cost

    /// Makes the next `call` (such as `epoll_ctl`) fail with an error number.
    public func failNext(_ call: String, with code: CInt) { kernel.failures.append((call, code)) }

    /// Makes the next `count` waits end at once for no reason, as a signal handler does (`EINTR`).
    public func interruptNextWaits(_ count: Int = 1) { kernel.interruptions += count }

    /// How often the thread has slept.
    public var sleeps: Int { kernel.sleeps }

    /// How often the kernel was asked to wait; more than ``sleeps`` where a wait ended before it began.
    public var waits: Int { kernel.waits }

    /// How often the kernel was asked what is ready, without waiting.
    public var polls: Int { kernel.polls }

    /// How often the kernel was asked to wake the thread; none while the thread is awake.
    public var wakeUps: Int { kernel.wakeCalls }

    /// How often the thread was about to sleep with nothing to end it.
    ///
    /// On a real kernel it would hang; here the run is stopped.
    public private(set) var endlessSleeps = 0
}
