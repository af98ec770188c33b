// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import Foundation
internal import CoreFoundationRunLoop
package import RunLoops

/// Calls a closure at a date, once or repeatedly, on the thread of a run loop.
///
/// This class follows Apple's documentation where Foundation on Linux differs from it. A timer that is made with an
/// interval fires for the first time when the interval has passed ([swift-corelibs-foundation
/// #4712](https://github.com/swiftlang/swift-corelibs-foundation/issues/4712)). Its ``tolerance`` has an effect
/// ([#5183](https://github.com/swiftlang/swift-corelibs-foundation/issues/5183)).
///
/// A timer is also a `CFRunLoopTimer`, as on Apple's systems: see ``coreFoundation``.
///
/// The loop keeps the timer until it is invalid. A timer in no loop is kept by its owner alone.
///
/// Thread safety: as in Foundation, the class is not `Sendable`. ``invalidate()`` may be called from any thread.
open class Timer: NSObject {
    // First of all fields: with them the timer is also a `CFRunLoopTimer`. One that Core Foundation's functions have made has no
    // other field.
    private var fields = TimerFields()
    private var implementation: any TimerBody { fields.implementation }

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
        super.init()
        let instant = RunLoops.RunLoop.Instant(after: Duration(until: date))
        let interval = repeats ? Self.positive(interval) : 0
        fields.begin(self, TimerImplementation(self, instant, date, interval: interval, block))
    }

    /// Makes a timer that fires when `interval` has passed from now, and, if it repeats, again after each `interval`.
    ///
    /// - Parameters:
    ///   - interval: The interval in seconds; 0.1 milliseconds if it is zero or negative, as Apple documents.
    ///   - repeats: Whether the timer fires more than once.
    ///   - block: Called with the timer at each fire, on the thread of the loop.
    /// - Precondition: `interval` is a number.
    public init(timeInterval interval: TimeInterval, repeats: Bool, block: @Sendable @escaping (Timer) -> Void) {
        super.init()
        let interval = Self.positive(interval)
        let instant = RunLoops.RunLoop.Instant(after: Duration(seconds: interval))
        fields.begin(self, TimerImplementation(self, instant, nil, interval: repeats ? interval : 0, block))
    }

    deinit { fields.end() }

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
    open func fire() { implementation.fire() }

    /// The date at which the timer fires next; for an invalid timer the date of its last fire, or of the fire that was
    /// still to come.
    ///
    /// Inside the timer's closure, the date of the present fire. If a date is set that has passed, the timer fires in
    /// the loop's next turn. Setting the date of an invalid timer has no effect.
    /// - Complexity: O(log n) in the timers of the loop to set.
    open var fireDate: Date {
        get { Date(timeIntervalSinceReferenceDate: implementation.absoluteFireDate) }
        set { implementation.absoluteFireDate = newValue.timeIntervalSinceReferenceDate }
    }

    /// The seconds between fires; 0 for a timer that fires once.
    open var timeInterval: TimeInterval { implementation.timeInterval }

    /// How many seconds later than its date the timer may fire, which saves wake-ups; the timer never fires earlier.
    ///
    /// A negative value counts as 0. At most half the interval counts, as in Core Foundation.
    /// - Precondition: the value set is a number.
    open var tolerance: TimeInterval {
        get { implementation.tolerance }
        set { implementation.tolerance = newValue }
    }

    /// Always `nil`, as in Foundation on Linux, whose initialisers take no such object: the closure captures what it
    /// needs.
    open var userInfo: Any? { nil }

    // MARK: The end

    /// Whether the timer can still fire.
    open var isValid: Bool { implementation.isValid }

    /// Removes the timer from its loop for good; a second call does nothing.
    open func invalidate() { implementation.invalidate() }
}

extension Timer: TimerBody {
    package var absoluteFireDate: TimeInterval {
        get { fireDate.timeIntervalSinceReferenceDate }
        set { fireDate = Date(timeIntervalSinceReferenceDate: newValue) }
    }

    package func join(_ loop: RunLoops.RunLoop, _ mode: RunLoops.RunLoop.Mode) { implementation.join(loop, mode) }
    package func leave(_ loop: RunLoops.RunLoop, _ mode: RunLoops.RunLoop.Mode) { implementation.leave(loop, mode) }
    package func isIn(_ loop: RunLoops.RunLoop, _ mode: RunLoops.RunLoop.Mode) -> Bool {
        implementation.isIn(loop, mode)
    }
}

/// Called by CCoreFoundationRunLoop: timers of Core Foundation's functions are of this class too.
@_cdecl("rl_class_of_timers")
func classOfTimers() -> UnsafeRawPointer { unsafeBitCast(Timer.self, to: UnsafeRawPointer.self) }

// As in Foundation.
@available(*, unavailable)
extension Timer: @unchecked Sendable {}
#endif
