// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The names are Core Foundation's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux) && !EXPORTS_ORIGINALS
public import CoreFoundationRunLoop
internal import Foundation
internal import RunLoops

// As on Apple's systems, `CFRunLoopTimer` and `Timer` are one object under two names. The compiler converts one into the other
// there; on Linux it sees two types, so that each of the two families of functions takes both.

extension Timer {
    /// The timer under Core Foundation's name: the same object.
    ///
    /// For what takes no `Timer`, such as a variable of the other type. Each function of Core Foundation's timers takes both.
    ///
    /// - Complexity: O(1).
    public var coreFoundation: CFRunLoopTimer {
        // SAFETY: a timer begins with the fields of Core Foundation's instances.
        unsafeBitCast(self, to: CFRunLoopTimer.self)
    }
}

extension CFRunLoopTimer {
    /// The timer under Foundation's name: the same object.
    ///
    /// - Precondition: the timer is of this package. A timer of Core Foundation's own run loop traps.
    /// - Complexity: O(1).
    public var foundation: Timer {
        guard let timer = (self as AnyObject) as? Timer else {
            fatalError(
                "\(self) is a timer of Core Foundation's own run loop, and no Timer: import FoundationRunLoop in the file that makes it, in place of CoreFoundation and Foundation."
            )
        }
        return timer
    }
}

/// Makes a timer that calls a function; the timer fires once if the interval is zero or less.
///
/// Chosen where a `Timer` is wanted.
@_disfavoredOverload
@discardableResult
public func CFRunLoopTimerCreate(
    _ allocator: CFAllocator!, _ fireDate: CFAbsoluteTime, _ interval: CFTimeInterval, _ flags: CFOptionFlags,
    _ order: CFIndex, _ callout: CFRunLoopTimerCallBack!, _ context: UnsafeMutablePointer<CFRunLoopTimerContext>!
) -> Timer! {
    CoreFoundationRunLoop.CFRunLoopTimerCreate(allocator, fireDate, interval, flags, order, callout, context).foundation
}

/// Makes a timer that calls a closure; the timer fires once if the interval is zero or less.
///
/// Chosen where a `Timer` is wanted.
@_disfavoredOverload
@discardableResult
public func CFRunLoopTimerCreateWithHandler(
    _ allocator: CFAllocator!, _ fireDate: CFAbsoluteTime, _ interval: CFTimeInterval, _ flags: CFOptionFlags,
    _ order: CFIndex, _ block: ((CFRunLoopTimer?) -> Void)!
) -> Timer! {
    CoreFoundationRunLoop.CFRunLoopTimerCreateWithHandler(allocator, fireDate, interval, flags, order, block).foundation
}

extension RunLoop {
    /// Adds a timer of Core Foundation's type to `mode`, or with `.common` to all common modes.
    ///
    /// - Complexity: O(log n) in the timers of the mode.
    @_disfavoredOverload
    public func add(_ timer: CFRunLoopTimer, forMode mode: Mode) {
        CFRunLoopAddTimer(getCFRunLoop(), timer, CFRunLoopMode(mode.rawValue))
    }
}

// MARK: In a loop

/// Adds a timer to a mode of a loop, which keeps the timer until it is removed or invalid.
@_disfavoredOverload
public func CFRunLoopAddTimer(_ rl: CFRunLoop!, _ timer: Timer, _ mode: CFRunLoopMode) {
    timer.join(rl.native, native(mode))
}

/// Adds a timer to a mode of a loop, which keeps the timer until it is removed or invalid.
@_disfavoredOverload
public func CFRunLoopAddTimer(_ rl: CFRunLoop!, _ timer: Timer, _ mode: CFString!) {
    CFRunLoopAddTimer(rl, timer, CFRunLoopMode(rawValue: mode))
}

/// Removes a timer from a mode of a loop; the timer stays valid, and can be added again.
@_disfavoredOverload
public func CFRunLoopRemoveTimer(_ rl: CFRunLoop!, _ timer: Timer, _ mode: CFRunLoopMode) {
    timer.leave(rl.native, native(mode))
}

/// Removes a timer from a mode of a loop; the timer stays valid, and can be added again.
@_disfavoredOverload
public func CFRunLoopRemoveTimer(_ rl: CFRunLoop!, _ timer: Timer, _ mode: CFString!) {
    CFRunLoopRemoveTimer(rl, timer, CFRunLoopMode(rawValue: mode))
}

/// Whether a timer is in a mode of a loop.
@_disfavoredOverload
@discardableResult
public func CFRunLoopContainsTimer(_ rl: CFRunLoop!, _ timer: Timer, _ mode: CFRunLoopMode) -> Bool {
    timer.isIn(rl.native, native(mode))
}

/// Whether a timer is in a mode of a loop.
@_disfavoredOverload
@discardableResult
public func CFRunLoopContainsTimer(_ rl: CFRunLoop!, _ timer: Timer, _ mode: CFString!) -> Bool {
    CFRunLoopContainsTimer(rl, timer, CFRunLoopMode(rawValue: mode))
}

private func native(_ mode: CFRunLoopMode) -> RunLoops.RunLoop.Mode {
    // SAFETY: the two types are one object in Foundation.
    RunLoops.RunLoop.Mode(String(describing: unsafeBitCast(mode.rawValue, to: NSString.self)))
}

// MARK: Asking and changing

/// Returns the date at which the timer fires next; 0 for an invalid timer.
@_disfavoredOverload
@discardableResult
public func CFRunLoopTimerGetNextFireDate(_ timer: Timer) -> CFAbsoluteTime {
    timer.isValid ? timer.fireDate.timeIntervalSinceReferenceDate : 0
}

/// Sets the date at which the timer fires next; a repeating timer continues from this date.
@_disfavoredOverload
public func CFRunLoopTimerSetNextFireDate(_ timer: Timer, _ fireDate: CFAbsoluteTime) {
    timer.fireDate = Date(timeIntervalSinceReferenceDate: fireDate)
}

/// Returns the seconds between fires; 0 for a timer that fires once.
@_disfavoredOverload
@discardableResult
public func CFRunLoopTimerGetInterval(_ timer: Timer) -> CFTimeInterval { timer.timeInterval }

/// Whether the timer fires more than once.
@_disfavoredOverload
@discardableResult
public func CFRunLoopTimerDoesRepeat(_ timer: Timer) -> Bool { timer.timeInterval > 0 }

/// Returns the order that the timer was made with, which has no effect; 0 for a timer of Foundation's initialisers.
@_disfavoredOverload
@discardableResult
public func CFRunLoopTimerGetOrder(_ timer: Timer) -> CFIndex { CFRunLoopTimerGetOrder(timer.coreFoundation) }

/// Copies the timer's context, which is empty for a timer of Foundation's initialisers.
@_disfavoredOverload
public func CFRunLoopTimerGetContext(_ timer: Timer, _ context: UnsafeMutablePointer<CFRunLoopTimerContext>!) {
    CFRunLoopTimerGetContext(timer.coreFoundation, context)
}

/// Removes the timer from its loop for good.
@_disfavoredOverload
public func CFRunLoopTimerInvalidate(_ timer: Timer) { timer.invalidate() }

/// Whether the timer can still fire.
@_disfavoredOverload
@discardableResult
public func CFRunLoopTimerIsValid(_ timer: Timer) -> Bool { timer.isValid }

/// Returns the tolerance of the timer in seconds: how much later than its date the timer may fire.
@_disfavoredOverload
@discardableResult
public func CFRunLoopTimerGetTolerance(_ timer: Timer) -> CFTimeInterval { timer.tolerance }

/// Sets the tolerance of the timer in seconds: how much later than its date the timer may fire.
@_disfavoredOverload
public func CFRunLoopTimerSetTolerance(_ timer: Timer, _ tolerance: CFTimeInterval) { timer.tolerance = tolerance }
#endif
