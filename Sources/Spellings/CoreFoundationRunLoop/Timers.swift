// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The names are Core Foundation's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CCoreFoundationRunLoop
public import CoreFoundation
package import RunLoops

/// The Swift object behind a `CFRunLoopTimer`.
final class TimerFace: ItemFace, @unchecked Sendable {
    /// A fire date as it was given, with its moment on the monotonic clock, so that reading the date returns exactly
    /// the given one.
    private struct Anchor {
        private let date: CFAbsoluteTime
        /// The date of `moment`: the date that was given, or the present one if that has passed or is not a number.
        private let start: CFAbsoluteTime
        let moment: RunLoop.Instant

        init(_ date: CFAbsoluteTime) {
            self.date = Dates.bounded(date)
            moment = Dates.instant(of: date)
            let now = CFAbsoluteTimeGetCurrent()
            start = date > now ? self.date : now
        }

        /// The date of a deadline, which is `moment` or later by at least one interval.
        ///
        /// The deadline of a date that has passed is the instant at which the loop's timer got it, a little after `moment`.
        func date(of deadline: RunLoop.Instant, interval: CFTimeInterval) -> CFAbsoluteTime {
            let passed = Double(deadline.nanoseconds - moment.nanoseconds) / 1e9
            return interval == 0 || passed < interval / 2 ? date : start + passed
        }
    }

    /// The loop's timer; `nil` behind a `Timer` of FoundationRunLoop.
    private let made: RunLoop.Timer?
    private let anchor: Guarded<Anchor>
    private let interval: CFTimeInterval
    /// The context with the retained `info`, which is valid while the timer is valid.
    private var context = CFRunLoopTimerContext()
    private let callout: UnsafeRawPointer?
    /// The `Timer` of FoundationRunLoop that is the instance itself, if it made the instance.
    unowned(unsafe) private let given: (any TimerBody)?
    fileprivate let implementation: (any TimerBody)?

    /// - Parameter call: The function that the timer calls, with its instance.
    private init(
        _ date: CFAbsoluteTime, _ interval: CFTimeInterval, order: CFIndex, _ callout: UnsafeRawPointer?,
        _ call: @escaping (CFRunLoopTimer) -> Void
    ) {
        let anchor = Anchor(date)
        self.anchor = Guarded(anchor)
        self.interval = interval > 0 ? interval : 0
        self.callout = callout
        // SAFETY: only the thread of the loop that has the timer makes the call.
        nonisolated(unsafe) let call = call
        let instance = RLKind.timer.makeInstance()
        let holds = Holds(instance, call)
        let end = HoldsEnd(holds)
        made = .sendable(.at(anchor.moment, every: Dates.interval(interval))) { _ in
            end.holds.withInstance(CFRunLoopTimer.self, call)
        }
        (given, implementation) = (nil, nil)
        super.init(instance, holds, order: order)
    }

    /// The face of an instance that is a `Timer` of FoundationRunLoop.
    ///
    /// - Parameters:
    ///   - given: The timer, which functions call as a program does, so that the methods of its class count.
    ///   - implementation: The object that does the work of those methods.
    fileprivate init(_ given: any TimerBody, _ implementation: any TimerBody) {
        (self.given, self.implementation) = (given, implementation)
        (made, callout, interval) = (nil, nil, 0)
        anchor = Guarded(Anchor(0))
        let instance = Unmanaged.passUnretained(given as AnyObject).toOpaque()
        super.init(instance, Holds(instance), order: 0)
    }

    /// The loop's timer of an instance that this library made.
    var native: RunLoop.Timer { made.unsafelyUnwrapped }

    convenience init(
        _ date: CFAbsoluteTime, _ interval: CFTimeInterval, order: CFIndex,
        calling callout: @escaping CFRunLoopTimerCallBack, _ context: CFRunLoopTimerContext?
    ) {
        let context = context ?? CFRunLoopTimerContext()
        let info = Info(context.info, retain: context.retain, release: context.release)
        self.init(date, interval, order: order, unsafeBitCast(callout, to: UnsafeRawPointer.self)) {
            callout($0, info.pointer)
        }
        self.context = context
        self.context.info = info.pointer
    }

    convenience init(
        _ date: CFAbsoluteTime, _ interval: CFTimeInterval, order: CFIndex,
        handler: @escaping (CFRunLoopTimer?) -> Void
    ) {
        self.init(date, interval, order: order, nil) { handler($0) }
    }

    @inline(__always)
    static func of(_ timer: CFRunLoopTimer?, _ function: StaticString) -> TimerFace {
        RLKind.timer.face(timer, TimerFace.self, function).takeUnretainedValue()
    }

    /// Calls `body` with the timer's Swift object without retaining it, for functions that are called often.
    @inline(__always)
    static func with<Result>(
        _ timer: CFRunLoopTimer?, _ function: StaticString, _ body: (TimerFace) -> Result
    ) -> Result {
        RLKind.timer.face(timer, TimerFace.self, function)._withUnsafeGuaranteedRef(body)
    }

    /// The date of the next fire; 0 for an invalid timer, as in Core Foundation.
    var nextFireDate: CFAbsoluteTime {
        get { isValid ? absoluteFireDate : 0 }
        set { absoluteFireDate = newValue }
    }

    var intervalAndRepeats: (CFTimeInterval, Bool) { (timeInterval, timeInterval > 0) }

    /// The present context; its `info` is `nil` after the timer has become invalid, because it has been released.
    var currentContext: CFRunLoopTimerContext {
        var current = context
        if !isValid { current.info = nil }
        return current
    }

    override var summary: String {
        let context = currentContext
        let text = context.copyDescription?(context.info)?.takeRetainedValue().text
        return """
            <CFRunLoopTimer \(instance)>{valid = \(Self.describe(isValid)), interval = \(timeInterval), \
            tolerance = \(tolerance), next fire date = \(nextFireDate), callout = \(Self.describe(callout)), \
            context = \(text ?? "<CFRunLoopTimer context \(context.info.map { "\($0)" } ?? "0x0")>")}
            """
    }
}

extension TimerFace: TimerBody {
    var isValid: Bool { given?.isValid ?? native.isValid }
    var timeInterval: CFTimeInterval { given?.timeInterval ?? interval }

    func invalidate() {
        if let given { given.invalidate() } else { native.invalidate() }
    }

    func fire() {
        if let given { return given.fire() }
        guard native.isValid else { return }
        holds.makeCall()
        if interval == 0 { native.invalidate() }
    }

    var absoluteFireDate: CFAbsoluteTime {
        get {
            if let given { return given.absoluteFireDate }
            return anchor.withLock { $0.date(of: native.deadline, interval: interval) }
        }
        set {
            if let given {
                given.absoluteFireDate = newValue
                return
            }
            let new = Anchor(newValue)
            anchor.withLock {
                $0 = new
                native.deadline = new.moment
            }
        }
    }

    /// The tolerance in seconds, which has an effect as on Apple's systems; the toolchain's Core Foundation ignores it.
    var tolerance: CFTimeInterval {
        get { given?.tolerance ?? Dates.seconds(native.tolerance) }
        set {
            if let given {
                given.tolerance = newValue
                return
            }
            native.tolerance = .nanoseconds(newValue > 0 ? Int64(min(newValue, Dates.maxWait) * 1e9) : 0)
        }
    }

    func join(_ loop: RunLoop, _ mode: RunLoop.Mode) {
        LoopFace.with(loop.coreFoundation, #function) { join($0, mode) }
    }

    @inline(__always)
    func join(_ loop: LoopFace, _ mode: RunLoop.Mode) {
        if let given { return given.join(loop.native, mode) }
        add(native, to: loop) { $0.addUnlessElsewhere(native, in: mode) }
    }

    func leave(_ loop: RunLoop, _ mode: RunLoop.Mode) {
        if let given { return given.leave(loop, mode) }
        LoopFace.with(loop.coreFoundation, #function) { remove(native, from: mode, of: $0) }
    }

    func isIn(_ loop: RunLoop, _ mode: RunLoop.Mode) -> Bool {
        given?.isIn(loop, mode) ?? loop.contains(native, in: mode)
    }
}

/// A timer under either of its names, as the other name uses it.
package protocol TimerBody: AnyObject {
    var isValid: Bool { get }
    /// The date of the next fire; of an invalid timer that of its last fire, or of the fire that was still to come.
    var absoluteFireDate: CFAbsoluteTime { get set }
    /// The seconds between fires; 0 for a timer that fires once.
    var timeInterval: CFTimeInterval { get }
    var tolerance: CFTimeInterval { get set }
    /// Makes the timer's call now; a timer that fires once is invalid afterwards.
    func fire()
    func invalidate()
    func join(_ loop: RunLoop, _ mode: RunLoop.Mode)
    func leave(_ loop: RunLoop, _ mode: RunLoop.Mode)
    func isIn(_ loop: RunLoop, _ mode: RunLoop.Mode) -> Bool
}

/// The two fields with which a class of Swift is also Core Foundation's timer.
///
/// After the two words that every object of Swift begins with, an instance of Core Foundation has a word that says its type,
/// and one that this library adds.
package struct TimerFields {
    private let info: UInt64
    // Set once, before another thread knows the object.
    private var face: UnsafeMutableRawPointer?

    package init() {
        // Makes the types known, if nothing has done so.
        _ = RLKind.timer.typeID
        info = rl_info(.timer)
    }

    /// Makes `timer`, which has these fields, an instance of Core Foundation; `implementation` does its work.
    package mutating func begin(_ timer: any TimerBody, _ implementation: any TimerBody) {
        face = Unmanaged.passRetained(TimerFace(timer, implementation)).toOpaque()
    }

    /// Releases what the fields hold; called when the object is released.
    package func end() {
        if let face { Unmanaged<TimerFace>.fromOpaque(face).release() }
    }

    /// The object that does the timer's work.
    package var implementation: any TimerBody {
        guard let face else { fatalError("A timer is used before its initialiser has returned.") }
        // SAFETY: a timer's face, which lives as long as the timer.
        let body = Unmanaged<TimerFace>.fromOpaque(face).takeUnretainedValue()
        return body.implementation ?? body
    }
}

/// Returns the type identifier of this library's timers.
@_cdecl("RLRunLoopTimerGetTypeID")
@discardableResult
public func CFRunLoopTimerGetTypeID() -> CFTypeID { RLKind.timer.typeID }

/// Makes a timer that calls a function; the timer fires once if the interval is zero or less.
///
/// If the date has passed, the timer fires in the loop's next turn. `allocator` and `flags` have no effect.
@discardableResult
public func CFRunLoopTimerCreate(
    _ allocator: CFAllocator!, _ fireDate: CFAbsoluteTime, _ interval: CFTimeInterval, _ flags: CFOptionFlags,
    _ order: CFIndex, _ callout: CFRunLoopTimerCallBack!, _ context: UnsafeMutablePointer<CFRunLoopTimerContext>!
) -> CFRunLoopTimer! {
    guard let callout else {
        fatalError(
            "CFRunLoopTimerCreate was given no callout: a timer that calls nothing is of no use. Pass a function.")
    }
    return TimerFace(fireDate, interval, order: order, calling: callout, context?.pointee)
        .takeInstance(CFRunLoopTimer.self)
}

/// Makes a timer that calls a closure; the timer fires once if the interval is zero or less.
@discardableResult
public func CFRunLoopTimerCreateWithHandler(
    _ allocator: CFAllocator!, _ fireDate: CFAbsoluteTime, _ interval: CFTimeInterval, _ flags: CFOptionFlags,
    _ order: CFIndex, _ block: ((CFRunLoopTimer?) -> Void)!
) -> CFRunLoopTimer! {
    guard let block else {
        fatalError(
            "CFRunLoopTimerCreateWithHandler was given no block: a timer that calls nothing is of no use. Pass one.")
    }
    return TimerFace(fireDate, interval, order: order, handler: block).takeInstance(CFRunLoopTimer.self)
}

// MARK: In a loop

/// Adds a timer to a mode of a loop, which keeps the timer until it is removed or invalid.
@_cdecl("RLRunLoopAddTimer")
public func CFRunLoopAddTimer(_ rl: CFRunLoop!, _ timer: CFRunLoopTimer!, _ mode: CFString!) {
    let mode = RunLoop.Mode(mode, #function)
    LoopFace.with(rl, #function) { loop in
        TimerFace.with(timer, #function) { timer in timer.join(loop, mode) }
    }
}

/// Adds a timer to a mode of a loop, which keeps the timer until it is removed or invalid.
public func CFRunLoopAddTimer(_ rl: CFRunLoop!, _ timer: CFRunLoopTimer!, _ mode: CFRunLoopMode!) {
    CFRunLoopAddTimer(rl, timer, mode?.rawValue)
}

/// Removes a timer from a mode of a loop.
@_cdecl("RLRunLoopRemoveTimer")
public func CFRunLoopRemoveTimer(_ rl: CFRunLoop!, _ timer: CFRunLoopTimer!, _ mode: CFString!) {
    TimerFace.of(timer, #function).leave(LoopFace.of(rl, #function).native, RunLoop.Mode(mode, #function))
}

/// Removes a timer from a mode of a loop.
public func CFRunLoopRemoveTimer(_ rl: CFRunLoop!, _ timer: CFRunLoopTimer!, _ mode: CFRunLoopMode!) {
    CFRunLoopRemoveTimer(rl, timer, mode?.rawValue)
}

/// Whether a timer is in a mode of a loop.
@_cdecl("RLRunLoopContainsTimer")
@discardableResult
public func CFRunLoopContainsTimer(_ rl: CFRunLoop!, _ timer: CFRunLoopTimer!, _ mode: CFString!) -> Bool {
    let mode = RunLoop.Mode(mode, #function)
    return TimerFace.of(timer, #function).isIn(LoopFace.of(rl, #function).native, mode)
}

/// Whether a timer is in a mode of a loop.
@discardableResult
public func CFRunLoopContainsTimer(_ rl: CFRunLoop!, _ timer: CFRunLoopTimer!, _ mode: CFRunLoopMode!) -> Bool {
    CFRunLoopContainsTimer(rl, timer, mode?.rawValue)
}

// MARK: Asking and changing

/// Returns the date at which the timer fires next; 0 for an invalid timer.
@_cdecl("RLRunLoopTimerGetNextFireDate")
@discardableResult
public func CFRunLoopTimerGetNextFireDate(_ timer: CFRunLoopTimer!) -> CFAbsoluteTime {
    TimerFace.of(timer, #function).nextFireDate
}

/// Sets the date at which the timer fires next; a repeating timer continues from this date.
///
/// A sleeping loop is woken if it must now sleep for a shorter time.
@_cdecl("RLRunLoopTimerSetNextFireDate")
public func CFRunLoopTimerSetNextFireDate(_ timer: CFRunLoopTimer!, _ fireDate: CFAbsoluteTime) {
    TimerFace.of(timer, #function).nextFireDate = fireDate
}

/// Returns the seconds between fires; 0 for a timer that fires once.
@_cdecl("RLRunLoopTimerGetInterval")
@discardableResult
public func CFRunLoopTimerGetInterval(_ timer: CFRunLoopTimer!) -> CFTimeInterval {
    TimerFace.of(timer, #function).intervalAndRepeats.0
}

/// Whether the timer fires more than once.
@_cdecl("RLRunLoopTimerDoesRepeat")
@discardableResult
public func CFRunLoopTimerDoesRepeat(_ timer: CFRunLoopTimer!) -> Bool {
    TimerFace.of(timer, #function).intervalAndRepeats.1
}

/// Returns the order that the timer was made with, which has no effect.
@_cdecl("RLRunLoopTimerGetOrder")
@discardableResult
public func CFRunLoopTimerGetOrder(_ timer: CFRunLoopTimer!) -> CFIndex { TimerFace.of(timer, #function).order }

/// Removes the timer from its loop for good, and releases its `info`.
@_cdecl("RLRunLoopTimerInvalidate")
public func CFRunLoopTimerInvalidate(_ timer: CFRunLoopTimer!) { TimerFace.of(timer, #function).invalidate() }

/// Whether the timer can still fire.
@_cdecl("RLRunLoopTimerIsValid")
@discardableResult
public func CFRunLoopTimerIsValid(_ timer: CFRunLoopTimer!) -> Bool { TimerFace.of(timer, #function).isValid }

/// Copies the timer's context.
@_cdecl("RLRunLoopTimerGetContext")
public func CFRunLoopTimerGetContext(
    _ timer: CFRunLoopTimer!, _ context: UnsafeMutablePointer<CFRunLoopTimerContext>!
) {
    context.pointee = TimerFace.of(timer, #function).currentContext
}

/// Returns the tolerance of the timer in seconds: how much later than its date the timer may fire.
@_cdecl("RLRunLoopTimerGetTolerance")
@discardableResult
public func CFRunLoopTimerGetTolerance(_ timer: CFRunLoopTimer!) -> CFTimeInterval {
    TimerFace.of(timer, #function).tolerance
}

/// Sets the tolerance of the timer in seconds: how much later than its date the timer may fire, from 0 to half the
/// interval.
@_cdecl("RLRunLoopTimerSetTolerance")
public func CFRunLoopTimerSetTolerance(_ timer: CFRunLoopTimer!, _ tolerance: CFTimeInterval) {
    TimerFace.of(timer, #function).tolerance = tolerance
}
#endif
