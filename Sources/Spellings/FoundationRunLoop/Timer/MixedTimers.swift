// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The names are Core Foundation's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux) && !EXPORTS_ORIGINALS
public import CoreFoundationRunLoop
internal import Foundation
internal import RunLoops

// On Apple's systems `CFRunLoopTimer` and `Timer` are one object under two names. Here they are two types, and each of the two
// families of functions takes both.

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
