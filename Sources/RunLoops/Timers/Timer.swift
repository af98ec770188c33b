/// Calls a closure at an instant, once or again and again.
///
/// A timer is added to modes of one loop and fires when it is due and one of them runs. Repeats stay on the grid that
/// the first date lays: a late fire does not shift the next, and dates that went by while the thread was busy are
/// skipped. A timer does not fire inside its own callout. One that fires once is invalid after its callout.
///
/// Corresponds to `CFRunLoopTimer`, with a tolerance that works and a choice of clock.
///
/// Thread safety: all members may be used by any thread.
public final class RunLoopTimer: RunLoopSingleLoopItem, QueuedTimer, @unchecked Sendable {
    /// When a timer fires.
    public typealias Schedule = RunLoopTimerSchedule

    // Guarded by the owner's lock (withFields), all but the constants. The lock excludes what the dynamic check of
    // exclusivity looks for, and the check would cost more than the lock.
    @exclusivity(unchecked) package internal(set) var fire: Int64
    /// Nanoseconds; bounded by half the interval.
    @exclusivity(unchecked) var toleranceNanoseconds: Int64
    /// Nanoseconds between fires; 0 for a timer that fires once.
    let intervalNanoseconds: Int64
    @exclusivity(unchecked) var handler: Handler?
    @exclusivity(unchecked) package var slot: UInt32 = 0
    /// Where the loop keeps the timer, if it is in any mode: the number of a bucket.
    @exclusivity(unchecked) var bucket: BucketNumber = .none
    /// Whether its callout is under way.
    ///
    /// The timer is in no heap then.
    @exclusivity(unchecked) var isFiring = false
    let base: RunLoopTimeBase

    /// A closure as a value like others: a bare one that goes through generic code is wrapped in a new one each time.
    struct Handler {
        let call: (RunLoopTimer) -> Void
    }

    /// A timer whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// - Parameters:
    ///   - schedule: When it fires, on which clock, and how often.
    ///   - tolerance: How much later than its date it may fire, never earlier. The loop uses it to serve several
    ///     timers with one wake-up. At most half the interval counts.
    ///   - order: Kept and shown, not used, as in Core Foundation.
    ///   - label: The name in descriptions and tools; where it was made, if `nil`.
    ///   - fileID: Where it was made.
    ///   - line: Where it was made.
    ///   - handler: Called with the timer at each fire.
    ///
    /// Adding it to the loop of another thread traps; see ``sendable(_:tolerance:order:label:fileID:line:handler:)``.
    /// Corresponds to `CFRunLoopTimerCreateWithHandler`.
    public convenience init(
        _ schedule: Schedule, tolerance: Duration = .zero, order: Int = 0, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, handler: @escaping (RunLoopTimer) -> Void
    ) {
        self.init(
            schedule, tolerance, order, ItemLabel(label, fileID, line), home: ItemHome.currentThread, handler)
    }

    /// A timer whose closure may run on any thread: it can be added to any loop.
    ///
    /// The parameters are those of ``init(_:tolerance:order:label:fileID:line:handler:)``.
    public static func sendable(
        _ schedule: Schedule, tolerance: Duration = .zero, order: Int = 0, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, handler: @escaping @Sendable (RunLoopTimer) -> Void
    ) -> RunLoopTimer {
        RunLoopTimer(schedule, tolerance, order, ItemLabel(label, fileID, line), home: ItemHome.anyThread, handler)
    }

    /// A timer whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(_:tolerance:order:label:fileID:line:handler:)``.
    public static func mainActor(
        _ schedule: Schedule, tolerance: Duration = .zero, order: Int = 0, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, handler: @escaping @MainActor (RunLoopTimer) -> Void
    ) -> RunLoopTimer {
        RunLoopTimer(schedule, tolerance, order, ItemLabel(label, fileID, line), home: ItemHome.mainThread) { timer in
            MainActor.assumeIsolated { handler(timer) }
        }
    }

    private init(
        _ schedule: Schedule, _ tolerance: Duration, _ order: Int, _ label: ItemLabel, home: Int32,
        _ handler: @escaping (RunLoopTimer) -> Void
    ) {
        base = schedule.base
        intervalNanoseconds = schedule.interval?.clampedNanoseconds ?? 0
        fire = schedule.firstDate(now: TimerClock.now(schedule.base))
        toleranceNanoseconds = TimerGrid.tolerance(
            tolerance.clampedNanoseconds, interval: intervalNanoseconds > 0 ? intervalNanoseconds : nil)
        self.handler = Handler(call: handler)
        super.init(.timer, order: order, label: label, home: home)
    }

    package var isTolerant: Bool { toleranceNanoseconds > 0 }

    /// The latest the thread may sleep for it.
    package var hard: Int64 { TimerGrid.latest(fire, tolerance: toleranceNanoseconds) }

    /// Whether the timer fires more than once.
    public var repeats: Bool { intervalNanoseconds > 0 }

    /// The time between fires; `nil` for a timer that fires once.
    public var interval: Duration? { repeats ? .nanoseconds(intervalNanoseconds) : nil }

    /// How much later than its date the timer may fire.
    ///
    /// What is set is bounded by half the interval; a negative one counts as zero. Corresponds to
    /// `CFRunLoopTimerSetTolerance`, which does nothing on Linux.
    /// Complexity: O(log n) in the timers of the loop.
    public var tolerance: Duration {
        get { .nanoseconds(withFields { _ in toleranceNanoseconds }) }
        set {
            let bounded = TimerGrid.tolerance(
                newValue.clampedNanoseconds, interval: repeats ? intervalNanoseconds : nil)
            withFields { owner in reschedule(owner) { toleranceNanoseconds = bounded } }
        }
    }

    /// When the timer fires next, on its own clock.
    ///
    /// Inside the timer's callout this is the date being served. Setting a date there replaces the next date of the
    /// grid and lays a new one; for a timer that fires once it has no effect. An instant that has passed is taken as
    /// the present one. A sleeping loop is woken when it must sleep shorter, without making it turn.
    ///
    /// Precondition: the instant set is on the timer's clock.
    /// Corresponds to `CFRunLoopTimerGetNextFireDate` and `CFRunLoopTimerSetNextFireDate`.
    /// Complexity: O(log n) in the timers of the loop.
    public var fireInstant: RunLoopInstant {
        get { RunLoopInstant(nanoseconds: withFields { _ in fire }, base: base) }
        set {
            require(
                newValue.base == base,
                "\(self) counts on the \(base) clock and was given an instant of the \(newValue.base) clock.")
            guard isValid else { return }
            withFields { owner in
                let now = owner?.kernel.now(base) ?? TimerClock.now(base)
                reschedule(owner) { fire = max(now, newValue.nanoseconds) }
            }
        }
    }

    public override func invalidate() {
        guard becomeInvalid() else { return }
        let owner = lockFields()
        owner?._withUnsafeGuaranteedRef { $0.discard(self) }
        let released = handler
        handler = nil
        unlockFields(owner)
        // The closure may hold the last reference to anything: it goes when no lock is held.
        withExtendedLifetime(released) {}
    }

    public override var description: String {
        let repeating = interval.map { "every \($0)" } ?? "once"
        return "<RunLoop.Timer \(label)>{\(isValid ? "valid" : "invalid"), \(repeating)}"
    }

    /// The loop takes the timer out of its heaps, which go by the dates, before they change.
    private func reschedule(_ owner: LoopCore?, _ change: () -> Void) {
        guard let owner, bucket != .none else { return change() }
        owner.reschedule(self, change)
    }
}

/// The clock of timers that are made outside a loop: that of the loop of the thread, which may be a test's.
enum TimerClock {
    static func now(_ base: RunLoopTimeBase) -> Int64 {
        ThreadLoop.existing?.kernel.now(base) ?? SystemCalls.now(base)
    }
}
