// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel

extension RunLoop {
    /// Calls a closure at a deadline, once or repeatedly, on the thread of the one loop that it is in.
    ///
    /// A timer is added to modes of one loop, and fires when it is due and one of these modes runs. The deadlines of a
    /// repeating timer are the first deadline plus multiples of the interval: a late fire does not shift the next one, and
    /// deadlines that passed while the thread was busy are skipped. A timer does not fire inside its own callout. A timer
    /// that fires once is invalid after its callout, unless ``restart(after:)`` was called there.
    ///
    /// Giving a timer another deadline is cheaper than making a new timer, and a tolerance saves wake-ups and work. A
    /// closure that is to run once, after a delay, needs no timer: ``RunLoop/perform(after:in:fileID:line:_:)``.
    ///
    /// Corresponds to `CFRunLoopTimer`, with a tolerance that works and a choice of clock.
    ///
    /// Thread safety: all members may be used by any thread.
    public final class Timer: Item, QueuedTimer, @unchecked Sendable {
        /// The state of a callout that is under way; empty if there is none.
        struct Callout: OptionSet {
            let rawValue: UInt8
            /// The timer is in no heap, and the function that calls its closure holds the closure.
            static let underWay = Callout(rawValue: 1)
            /// The timer was removed from its modes during the callout; the function that calls it has to release the
            /// loop's reference.
            static let onLoan = Callout(rawValue: 2)
            /// The timer was restarted in the callout.
            static let restarted = Callout(rawValue: 4)
        }

        /// The fields that few timers need: an interval, or a tolerance that is too long for `shortTolerance`.
        ///
        /// The structure owns its memory: ``set(interval:tolerance:)`` is the only way to set another value, and frees
        /// the previous one.
        // Neither a reference nor a value with a `deinit`: with these, releasing a timer would do reference counting of
        // the timer.
        private struct Rhythm: ~Copyable {
            private var spans: UnsafeMutablePointer<(interval: Int64, tolerance: Int64)>?

            /// Nanoseconds between fires; 0 for a timer that fires once.
            var interval: Int64 { spans?.pointee.interval ?? 0 }
            /// The tolerance in nanoseconds; 0 if there is neither an interval nor a long tolerance.
            var tolerance: Int64 { spans?.pointee.tolerance ?? 0 }

            mutating func set(interval: Int64, tolerance: Int64) {
                free()
                guard interval > 0 || tolerance >= UInt32.max else { return }
                spans = .allocate(capacity: 1)
                spans?.initialize(to: (interval, tolerance))
            }

            /// Frees the memory; also called when the timer is released.
            mutating func free() {
                spans?.deallocate()
                spans = nil
            }
        }

        /// The tolerance in nanoseconds, at most half the interval; `.max` if the tolerance is stored in `rhythm`.
        // The field fills a gap that the fields of every item leave.
        @exclusivity(unchecked) private var shortTolerance: UInt32 = 0
        let owner = ItemOwner()
        // Guarded by the owner's lock, except the constants. The lock excludes what the dynamic check of exclusivity
        // looks for, and the check would cost more than the lock.
        @exclusivity(unchecked) var fire: Int64
        @exclusivity(unchecked) var handler: Handler?
        @exclusivity(unchecked) private var rhythm = Rhythm()
        @exclusivity(unchecked) var cell: UInt32 = 0
        /// The number of the bucket in which the loop keeps the timer, if it is in any mode.
        @exclusivity(unchecked) var bucket: BucketNumber = .none
        @exclusivity(unchecked) var callout: Callout = []
        let clock: ClockID

        /// A closure in a structure that cannot be copied, so that a call does no reference counting.
        struct Handler: ~Copyable {
            let call: (Timer) -> Void
        }

        /// Makes a timer whose closure stays on the calling thread and may use its state, since most timers are added by the
        /// thread that makes them; a closure for another thread is given to
        /// ``sendable(_:tolerance:label:fileID:line:handler:)``.
        ///
        /// - Parameters:
        ///   - schedule: When the timer fires, on which clock, and how often. **A delay counts from now, not from the
        ///     moment at which the timer is added.**
        ///   - tolerance: How much later than its deadline the timer may fire; it never fires earlier. The loop uses the
        ///     tolerance to serve several timers with one wake-up. A tolerance above half the interval counts as half
        ///     the interval.
        ///   - label: The name in descriptions and tools; where it was made, if `nil`.
        ///   - fileID: The file that makes the timer.
        ///   - line: The line that makes the timer.
        ///   - handler: Called with the timer at each fire.
        ///
        /// Adding the timer to the loop of another thread traps. Corresponds to `CFRunLoopTimerCreateWithHandler`,
        /// whose order has no effect there either.
        public convenience init(
            _ schedule: Schedule, tolerance: Duration = .zero, label: String? = nil,
            fileID: StaticString = #fileID, line: UInt = #line, handler: @escaping (Timer) -> Void
        ) {
            self.init(
                schedule, tolerance, ItemLabel(label, fileID, line), allowedThread: AllowedThread.currentThread, handler
            )
        }

        /// Makes a timer whose closure may run on any thread: it can be added to any loop.
        ///
        /// The parameters are the same as for ``init(_:tolerance:label:fileID:line:handler:)``.
        public static func sendable(
            _ schedule: Schedule, tolerance: Duration = .zero, label: String? = nil,
            fileID: StaticString = #fileID, line: UInt = #line, handler: @escaping @Sendable (Timer) -> Void
        ) -> Timer {
            Timer(schedule, tolerance, ItemLabel(label, fileID, line), allowedThread: AllowedThread.anyThread, handler)
        }

        /// Makes a timer whose closure runs on the main actor: it can be added to the main loop, from any thread.
        ///
        /// The parameters are the same as for ``init(_:tolerance:label:fileID:line:handler:)``.
        public static func mainActor(
            _ schedule: Schedule, tolerance: Duration = .zero, label: String? = nil,
            fileID: StaticString = #fileID, line: UInt = #line, handler: @escaping @MainActor (Timer) -> Void
        ) -> Timer {
            Timer(schedule, tolerance, ItemLabel(label, fileID, line), allowedThread: AllowedThread.mainThread) {
                timer in
                MainActor.assumeIsolated { handler(timer) }
            }
        }

        private init(
            _ schedule: Schedule, _ tolerance: Duration, _ label: ItemLabel, allowedThread: Int32,
            _ handler: consuming @escaping (Timer) -> Void
        ) {
            clock = schedule.clock
            fire = schedule.firstDate(now: schedule.clock.threadNow)
            self.handler = Handler(call: handler)
            let interval = schedule.interval?.clampedNanoseconds ?? 0
            // Not compared with zero as a duration: that calls the standard library.
            if interval > 0 || tolerance.attoseconds > 0 {
                let tolerance = TimerGrid.tolerance(tolerance.clampedNanoseconds, interval: interval)
                shortTolerance = UInt32(clamping: tolerance)
                rhythm.set(interval: interval, tolerance: tolerance)
            }
            super.init(label: label, allowedThread: allowedThread)
        }

        /// Makes a timer that fires once, at a date on the monotonic clock of the loop to which it will be added.
        init(onceAt date: Int64, _ label: ItemLabel, allowedThread: Int32, _ handler: @escaping (Timer) -> Void) {
            clock = .monotonic
            fire = date
            self.handler = Handler(call: handler)
            super.init(label: label, allowedThread: allowedThread)
        }

        deinit { rhythm.free() }

        // MARK: Asking and changing

        /// Nanoseconds between fires; 0 for a timer that fires once.
        var intervalNanoseconds: Int64 { rhythm.interval }
        var toleranceNanoseconds: Int64 { shortTolerance < .max ? Int64(shortTolerance) : rhythm.tolerance }
        var slack: Int64 { shortTolerance == 0 ? 0 : TimerGrid.slack(toleranceNanoseconds) }
        /// The latest instant until which the thread may sleep for this timer.
        var latest: Int64 { shortTolerance == 0 ? fire : fire.clampedAdding(slack) }

        var isRepeating: Bool { intervalNanoseconds > 0 }

        /// Whether the timer fires more than once.
        public var repeats: Bool { owner.withLock { _ in isRepeating } }

        /// The time between fires; `nil` for a timer that fires once.
        public var interval: Duration? { owner.withLock { _ in isRepeating ? .nanoseconds(intervalNanoseconds) : nil } }

        /// How much later than its deadline the timer may fire.
        ///
        /// A new value is limited to half the interval; a negative value counts as zero. Corresponds to
        /// `CFRunLoopTimerSetTolerance`, which does nothing on Linux.
        /// - Complexity: O(log n) in the timers of the loop.
        public var tolerance: Duration {
            get { .nanoseconds(owner.withLock { _ in toleranceNanoseconds }) }
            set {
                let wished = newValue.clampedNanoseconds
                owner.withLock { state in
                    reschedule(in: state) {
                        let tolerance = TimerGrid.tolerance(wished, interval: rhythm.interval)
                        shortTolerance = UInt32(clamping: tolerance)
                        rhythm.set(interval: rhythm.interval, tolerance: tolerance)
                    }
                }
            }
        }

        /// The instant of the next fire, on the timer's own clock.
        ///
        /// Inside the timer's callout this is the deadline that is being served. Setting one there replaces the next
        /// deadline, and later ones count from the new one. For a timer that fires once, setting it there has no effect,
        /// unlike ``restart(after:)``. An instant that has passed counts as the present instant. If the new deadline is
        /// before the end of the loop's sleep, the sleep is shortened without a turn.
        ///
        /// Corresponds to `CFRunLoopTimerGetNextFireDate` and `CFRunLoopTimerSetNextFireDate`.
        /// - Precondition: the instant set is on the timer's clock.
        /// - Complexity: O(log n) in the timers of the loop.
        public var deadline: Instant {
            get { Instant(nanoseconds: owner.withLock { _ in fire }, clock: clock) }
            set {
                require(
                    newValue.clock == clock,
                    "\(self) counts on the \(clock) clock and was given an instant of the \(newValue.clock) clock: give instant.converted(to: .\(clock))."
                )
                guard isValid else { return }
                owner.withLock { state in setFire(max(now(of: state), newValue.nanoseconds), in: state) }
            }
        }

        /// The time until the timer is due, on its own clock; negative if it is overdue, `nil` if it is invalid.
        ///
        /// Inside the timer's callout, the time until the deadline that is being served.
        public var timeRemaining: Duration? {
            owner.withLock { state in isValid ? .nanoseconds(fire) - .nanoseconds(now(of: state)) : nil }
        }

        /// Makes the timer fire after `delay` from now, or in the next turn if `delay` is not positive.
        ///
        /// This is the cheapest way to postpone a time-out: the timer moves in its queue, and no memory is allocated or
        /// released. Inside the timer's callout, the call keeps a timer that fires once from becoming invalid. For a
        /// timer that repeats, it replaces the next date, and later dates count from the new one. The call has no
        /// effect on an invalid timer.
        ///
        /// Corresponds to `CFRunLoopTimerSetNextFireDate`, which cannot restart a timer that fires once in its callout.
        /// - Complexity: O(log n) in the timers of the loop.
        public func restart(after delay: Duration) {
            let delay = max(0, delay.clampedNanoseconds)
            owner.withLock { state in
                guard isValid else { return }
                if callout.contains(.underWay) { callout.insert(.restarted) }
                setFire(now(of: state).clampedAdding(delay), in: state)
            }
        }

        public override func invalidate() { becomeInvalid() }

        /// Invalidates the timer; returns false if it was invalid before.
        @discardableResult
        func becomeInvalid() -> Bool {
            // The closure may hold the last reference to anything: it is released when no lock is held.
            var released: Handler?
            let wasValid = owner.withLock { state in
                guard isValid else { return false }
                markInvalid()
                if bucket != .none { state?.pointee.discard(self) }
                released = handler.take()
                return true
            }
            _ = consume released
            return wasValid
        }

        public override var description: String {
            let repeating = interval.map { "every \($0)" } ?? "once"
            let place = isValid && owner.withLock({ _ in bucket == .none }) ? ", in no loop" : ""
            return "<RunLoop.Timer \(label)>{\(isValid ? "valid" : "invalid"), \(repeating)\(place)}"
        }

        // MARK: Fields

        @inline(__always)
        private func now(of state: UnsafeMutablePointer<GuardedState>?) -> Int64 {
            state?.pointee.core.now(clock) ?? clock.threadNow
        }

        @inline(__always)
        private func setFire(_ date: Int64, in state: UnsafeMutablePointer<GuardedState>?) {
            if let state, bucket != .none { state.pointee.move(self, to: date) } else { fire = date }
        }

        /// Makes a change before which the loop must remove the timer from its heaps, and after which it inserts the
        /// timer again.
        private func reschedule(in state: UnsafeMutablePointer<GuardedState>?, _ change: () -> Void) {
            if let state, bucket != .none { state.pointee.reschedule(self, change) } else { change() }
        }

        // MARK: In a loop

        /// Returns whether the function that calls the timer has to release the loop's reference; `true` only once.
        @inline(__always)
        func takeLoan() -> Bool {
            defer { callout.remove(.onLoan) }
            return callout.contains(.onLoan)
        }

        override func claim(for loop: LoopLock.Pointer) -> Bool { owner.claim(for: loop) { bucket != .none } }
        override func belongs(to loop: LoopLock.Pointer) -> Bool { owner.isHeld(by: loop) }
        override var kind: LoopEvent.Callee { .timer }
    }
}

extension RunLoop.ClockID {
    /// The present time for a timer that is made outside a loop: the time of the thread's loop, which may be a test's.
    @inline(__always)
    package var threadNow: Int64 { rl_thread_has_clock() ? loopNow : SystemCalls.now(self) }

    private var loopNow: Int64 { ThreadLoop.existing?.now(self) ?? SystemCalls.now(self) }
}

extension RunLoop.Timer {
    /// Makes a timer that fires at a date on the clock of the loop to which it will be added, and repeatedly if
    /// `interval` is given.
    ///
    /// The public initialisers use the clock of the thread that makes the timer. Where time is virtual, that clock may
    /// differ from the loop's.
    package static func starting(
        at date: RunLoop.Instant, every interval: Duration? = nil, tolerance: Duration, label: String,
        handler: @escaping @Sendable (RunLoop.Timer) -> Void
    ) -> RunLoop.Timer {
        let timer = sendable(
            .after(.zero, every: interval, clock: date.clock), tolerance: tolerance, label: label, handler: handler)
        // No other thread knows the timer yet.
        timer.fire = date.nanoseconds
        return timer
    }
}
