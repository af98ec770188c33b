// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// A run loop in virtual time: a `RunLoop` on a simulated kernel, whose clock moves only when the test or the loop's
/// sleep moves it.
///
/// Use it to test code that uses a run loop: timers of hours fire at once, in the same order as in real time, and a
/// test can count the loop's sleeps and wake-ups.
///
/// ```swift
/// ManualRunLoop.with { manual in
///     let ticker = Ticker(every: .seconds(60))      // adds a timer to RunLoop.current
///     manual.advance(by: .seconds(3600))
///     #expect(ticker.ticks == 60)
/// }
/// ```
///
/// Inside ``with(_:)``, `RunLoop.current` and `RunLoop.Instant.now` are the test's loop and its virtual time, for code on
/// the test's thread; if that is the main thread, `RunLoop.main` is the test's loop too.
///
/// A callout takes no virtual time. Descriptors are ready when the test says so (``setReady(_:_:)``); the loop makes no
/// system calls.
///
/// Thread safety: all members belong to the thread that made the manual loop. Any thread may use its ``loop``, as any
/// other loop.
public final class ManualRunLoop {
    /// The loop; `RunLoop.current` inside ``with(_:)``.
    public let loop: RunLoop
    private let kernel = ManualKernel()

    private init() {
        loop = RunLoop(kernel: kernel, threadID: SystemCalls.threadID)
        kernel.sleepsForever = { [weak self] in self?.sleepsEndlessly() }
    }

    /// Runs `body` with a manual loop as the calling thread's loop, and restores the thread's earlier loop afterwards.
    ///
    /// At the end, all items and blocks that are still in the manual loop are cancelled and released, as at the end of
    /// a thread.
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
    public func now(_ clock: RunLoop.ClockID) -> RunLoop.Instant {
        RunLoop.Instant(nanoseconds: kernel.now(clock), clock: clock)
    }

    /// Runs all callouts that are due within `duration`, in order, each at its own instant, and leaves the clock at the
    /// end of `duration`.
    ///
    /// Many small advances do the same as one large advance: each timer fires at the same instant, in the same order. A
    /// `stop()` ends the advance at the instant at which it is called.
    ///
    /// - Parameters:
    ///   - duration: How much time passes.
    ///   - mode: The mode to run in.
    /// - Returns: `stopped`, or `timedOut` when all the time has passed.
    @discardableResult
    public func advance(by duration: Duration, in mode: RunLoop.Mode = .default) -> RunLoop.RunResult {
        let end = now.advanced(by: duration)
        // First serves the items that are due now, also if no time passes.
        var result = loop.runTurn(in: mode)
        while result != .stopped, now < end {
            result = loop.run(in: mode, until: end)
            // An empty mode does not hold time up.
            if result == .finished { kernel.advance(to: end.nanoseconds) }
        }
        return result == .stopped ? .stopped : .timedOut
    }

    /// Lets time pass until the next timer of the mode is due, and fires the timer.
    ///
    /// - Returns: Whether there was a timer.
    @discardableResult
    public func advanceToNextTimer(in mode: RunLoop.Mode = .default) -> Bool {
        guard let deadline = loop.nextTimerDeadline(in: mode) else { return false }
        advance(by: max(.zero, now(deadline.clock).duration(to: deadline)), in: mode)
        return true
    }

    /// Simulates a suspension of the machine for `duration`: the monotonic clock stands still, the other clocks move
    /// forward.
    public func suspend(for duration: Duration) { kernel.suspend(for: duration.clampedNanoseconds) }

    /// Changes the wall clock by `difference`, as a user or a time server does.
    public func changeWallClock(by difference: Duration) {
        kernel.changeWallClock(by: difference.clampedNanoseconds)
    }

    // MARK: Descriptors

    /// Makes a descriptor ready for `events`, level-triggered, until it is made ready for other events or for none.
    ///
    /// The descriptor may be any number; it need not be open. Descriptors are reported in the order in which they
    /// became ready.
    public func setReady(_ descriptor: CInt, _ events: RunLoop.DescriptorEvents) {
        kernel.ready.removeAll { $0.descriptor == descriptor }
        if !events.isEmpty { kernel.ready.append((descriptor, events)) }
    }

    /// Has the loop's next turn report the descriptors in it that are ready in real time, such as the pipes of a child.
    package func lookAtOpenDescriptors() { kernel.lookAtOpenDescriptors() }

    // MARK: What went wrong, and what it cost

    /// Makes the next `call` (such as `epoll_ctl`) fail with an error number.
    public func failNext(_ call: String, with code: CInt) { kernel.failures.append((call, code)) }

    /// Makes the next `count` waits end at once for no reason, as a signal handler does (`EINTR`).
    public func interruptNextWaits(_ count: Int = 1) { kernel.interruptions += count }

    /// The number of times that the thread has slept.
    public var sleeps: Int { kernel.sleeps }

    /// The number of times that the kernel was asked to wait; more than ``sleeps`` if a wait ended before the thread
    /// slept.
    public var waits: Int { kernel.waits }

    /// The number of times that the kernel was asked for ready descriptors without waiting.
    public var polls: Int { kernel.polls }

    /// The number of times that the kernel was asked to wake the thread; a wake-up of a thread that is awake does not
    /// count.
    public var wakeUps: Int { kernel.wakeCalls }

    /// The number of times that the thread was about to sleep without a timer or a limit that would end the sleep.
    ///
    /// On a real kernel the thread would hang; here the run is stopped. Code that runs the loop again and again until its
    /// event has happened would hang here as well: after 10,000 such sleeps at one instant the program traps, and the text
    /// says what is in the loop.
    public private(set) var endlessSleeps = 0

    /// Says which code of an application waits, if an application waits in the innermost run.
    package var waiter: () -> String? = { nil }
    private var lastEndlessSleep = RunLoop.Instant(nanoseconds: .min)
    private var endlessSleepsNow = 0

    private func sleepsEndlessly() {
        endlessSleeps += 1
        if let waiter = waiter() { preconditionFailure(waiter) }
        endlessSleepsNow = lastEndlessSleep == now ? endlessSleepsNow + 1 : 1
        lastEndlessSleep = now
        if endlessSleepsNow == Self.maxEndlessSleeps {
            preconditionFailure(
                """
                The loop of a test was run \(endlessSleepsNow) times at one instant of virtual time, in the mode \
                \(loop.currentMode.map { "\($0)" } ?? "none"), to wait for an event that cannot happen: no timer of the mode \
                is due, and the test does not continue before the wait ends. Prepare the event before the wait, such as \
                by a timer in the common modes or by setReady(_:_:). The loop: \(loop.detailedDescription())
                """)
        }
        loop.stop()
    }

    private static let maxEndlessSleeps = 10_000
}
