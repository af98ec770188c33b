// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import Foundation
internal import RunLoops
internal import Synchronization

/// Calls a closure at a date, once or repeatedly, on the thread of a run loop.
///
/// This class follows Apple's documentation where Foundation on Linux differs from it. A timer that is made with an
/// interval fires for the first time when the interval has passed ([swift-corelibs-foundation
/// #4712](https://github.com/swiftlang/swift-corelibs-foundation/issues/4712)). Its ``tolerance`` has an effect
/// ([#5183](https://github.com/swiftlang/swift-corelibs-foundation/issues/5183)).
///
/// The loop keeps the timer until it is invalid. A timer in no loop is kept by its owner alone.
///
/// Thread safety: as in Foundation, the class is not `Sendable`. ``invalidate()`` may be called from any thread.
open class Timer: NSObject {
    private let handler: @Sendable (Timer) -> Void
    /// Seconds between fires; 0 for a timer that fires once.
    private let interval: TimeInterval
    private let state: Mutex<State>

    private struct State {
        /// When the timer fires next, or when it last fired if it is no longer valid.
        var instant: RunLoops.RunLoop.Instant
        /// The date of `instant` on the wall clock; `nil` until a caller has set or read it.
        var date: Date?
        var tolerance: TimeInterval = 0
        var isInvalid = false
        /// The loop's own timer, from the time when this timer was first added to a loop until it is invalid.
        ///
        /// Weak: the loop keeps its own timer, which keeps this timer, until it is invalid or the thread ends.
        weak var native: RunLoops.RunLoop.Timer?
        var isAdded = false

        /// Whether the timer can still fire; a timer that was added becomes invalid with the loop's own timer.
        var isValid: Bool { !isInvalid && (!isAdded || native?.isValid == true) }

        mutating func set(_ instant: RunLoops.RunLoop.Instant, _ date: Date? = nil) {
            (self.instant, self.date) = (instant, date)
        }
    }

    // MARK: Making

    /// Makes a timer that fires at `date`, and, if it repeats, again after each `interval`.
    ///
    /// - Parameters:
    ///   - date: The date of the first fire; if it has passed, the timer fires in the loop's next turn.
    ///   - interval: The seconds between fires; 0.1 milliseconds if it is zero or negative, as Apple documents. Has no
    ///     effect on a timer that fires once.
    ///   - repeats: Whether the timer fires more than once.
    ///   - block: Called with the timer at each fire, on the thread of the loop.
    /// - Precondition: `date` and `interval` are numbers.
    public init(
        fire date: Date, interval: TimeInterval, repeats: Bool, block: @Sendable @escaping (Timer) -> Void
    ) {
        handler = block
        self.interval = repeats ? Self.positive(interval) : 0
        state = Mutex(State(instant: RunLoops.RunLoop.Instant(after: Duration(until: date)), date: date))
    }

    /// Makes a timer that fires when `interval` has passed from now, and, if it repeats, again after each `interval`.
    ///
    /// - Parameters:
    ///   - interval: The interval in seconds; 0.1 milliseconds if it is zero or negative, as Apple documents.
    ///   - repeats: Whether the timer fires more than once.
    ///   - block: Called with the timer at each fire, on the thread of the loop.
    /// - Precondition: `interval` is a number.
    public init(timeInterval interval: TimeInterval, repeats: Bool, block: @Sendable @escaping (Timer) -> Void) {
        let interval = Self.positive(interval)
        handler = block
        self.interval = repeats ? interval : 0
        state = Mutex(State(instant: RunLoops.RunLoop.Instant(after: Duration(seconds: interval))))
    }

    /// Makes a timer, and adds it to the default mode of the calling thread's loop.
    ///
    /// The parameters are the same as in ``init(timeInterval:repeats:block:)``.
    @available(
        *, noasync,
        message: "A task's thread has no loop that runs: make a Timer, and add it to RunLoop.main."
    )
    @discardableResult
    open class func scheduledTimer(
        withTimeInterval interval: TimeInterval, repeats: Bool, block: @Sendable @escaping (Timer) -> Void
    ) -> Timer {
        let timer = Timer(timeInterval: interval, repeats: repeats, block: block)
        timer.join(.current, .default)
        return timer
    }

    private static func positive(_ interval: TimeInterval) -> TimeInterval {
        // What is not a number stays so, and traps where it becomes a duration.
        interval <= 0 ? 0.0001 : interval
    }

    // MARK: Firing

    /// Calls the closure now; a timer that fires once is invalid afterwards.
    ///
    /// The dates of a repeating timer do not change. A call for an invalid timer does nothing.
    open func fire() {
        guard isValid else { return }
        handler(self)
        if interval == 0 { invalidate() }
    }

    /// Called by the loop's own timer when it fires.
    private func fires(_ native: RunLoops.RunLoop.Timer) {
        let instant = native.deadline
        state.withLock { $0.set(instant, $0.instant == instant ? $0.date : nil) }
        handler(self)
    }

    /// The date at which the timer fires next; for an invalid timer the date of its last fire, or of the fire that was
    /// still to come.
    ///
    /// Inside the timer's closure, the date of the present fire. If a date is set that has passed, the timer fires in
    /// the loop's next turn. Setting the date of an invalid timer has no effect.
    /// - Complexity: O(log n) in the timers of the loop to set.
    open var fireDate: Date {
        get {
            state.withLock { state in
                if let native = state.native, native.isValid, native.deadline != state.instant {
                    state.set(native.deadline)
                }
                let date = state.date ?? Date(state.instant)
                // The same answer at each ask, although both clocks go on in between.
                state.date = date
                return date
            }
        }
        set {
            state.withLock { state in
                guard state.isValid else { return }
                state.set(RunLoops.RunLoop.Instant(after: Duration(until: newValue)), newValue)
                guard let native = state.native else { return }
                native.deadline = state.instant
                // An instant that has passed counts as the present one.
                state.instant = native.deadline
            }
        }
    }

    /// The seconds between fires; 0 for a timer that fires once.
    open var timeInterval: TimeInterval { interval }

    /// How many seconds later than its date the timer may fire, which saves wake-ups; the timer never fires earlier.
    ///
    /// A negative value counts as 0. At most half the interval counts, as in Core Foundation.
    /// - Precondition: the value set is a number.
    open var tolerance: TimeInterval {
        get { state.withLock { $0.tolerance } }
        set {
            let wished = Duration(seconds: newValue)
            state.withLock { state in
                state.tolerance = max(0, interval > 0 ? min(newValue, interval / 2) : newValue)
                // The loop has the same bounds.
                state.native?.tolerance = wished
            }
        }
    }

    /// Always `nil`, as in Foundation on Linux, whose initialisers take no such object: the closure captures what it
    /// needs.
    open var userInfo: Any? { nil }

    // MARK: The end

    /// Whether the timer can still fire.
    open var isValid: Bool { state.withLock { $0.isValid } }

    /// Removes the timer from its loop for good; a second call does nothing.
    open func invalidate() {
        let native = state.withLock { state -> RunLoops.RunLoop.Timer? in
            if let native = state.native, native.isValid, native.deadline != state.instant {
                state.set(native.deadline)
            }
            state.isInvalid = true
            return state.native.take()
        }
        // Releases the reference to this timer, which may be the last one, with no lock held.
        withExtendedLifetime(self) { native?.invalidate() }
    }

    // MARK: In a loop

    /// Adds the timer to a mode; the first call makes the loop's own timer, which keeps this timer.
    func join(_ loop: RunLoops.RunLoop, _ mode: RunLoops.RunLoop.Mode) {
        state.withLock { state in
            guard state.isValid else { return }
            if let native = state.native {
                loop.add(native, in: mode)
                return
            }
            nonisolated(unsafe) let timer = self
            let native = RunLoops.RunLoop.Timer.sendable(
                .at(state.instant, every: interval > 0 ? Duration(seconds: interval) : nil),
                tolerance: Duration(seconds: state.tolerance)
            ) { timer.fires($0) }
            // A date that has passed is now the present one; read before the loop's thread can move it.
            let instant = native.deadline
            guard loop.add(native, in: mode) else { return }
            (state.native, state.isAdded, state.instant) = (native, true, instant)
        }
    }

    /// Removes the timer from a mode; after the last mode, the timer is as before it was added to a loop.
    func leave(_ loop: RunLoops.RunLoop, _ mode: RunLoops.RunLoop.Mode) {
        let left = state.withLock { state -> RunLoops.RunLoop.Timer? in
            guard let native = state.native, native.isValid else { return nil }
            let modes = loop.modes + [.common]
            let isInLoop = { modes.contains { loop.contains(native, in: $0) } }
            guard isInLoop() else { return nil }
            loop.remove(native, from: mode)
            if isInLoop() { return nil }
            state.set(native.deadline, state.instant == native.deadline ? state.date : nil)
            (state.native, state.isAdded) = (nil, false)
            return native
        }
        // Releases the reference to this timer, which may be the last one, with no lock held.
        withExtendedLifetime(self) { left?.invalidate() }
    }

    /// Whether the timer is in a mode of a loop.
    func isIn(_ loop: RunLoops.RunLoop, _ mode: RunLoops.RunLoop.Mode) -> Bool {
        state.withLock { state in state.native.map { loop.contains($0, in: mode) } ?? false }
    }
}

// As in Foundation.
@available(*, unavailable)
extension Timer: @unchecked Sendable {}
#endif
