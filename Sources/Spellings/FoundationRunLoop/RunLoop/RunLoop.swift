// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
// A program that imports this module has Foundation too; the names of this module shadow Foundation's.
// Foundation on Apple's systems exports Core Foundation, too.
@_exported public import CoreFoundationRunLoop
@_exported public import Foundation
public import RunLoops

/// The run loop of a thread, under Foundation's names.
///
/// A file that imports `FoundationRunLoop` in place of `Foundation` uses this class, and all other types of Foundation.
/// ``native`` is the loop of the `RunLoops` library that this class uses. It has members that Foundation's class does
/// not have, such as observers, a program's own sources, wake-ups and a descriptor for hosts.
///
/// The loop of Foundation on Linux is another loop on the same thread: neither loop fires the other's timers. The
/// article <doc:TwoLoops> says how this affects `URLSession`, `Process` and others.
///
/// Thread safety: as in Foundation, the class is not `Sendable`. ``perform(_:)``, ``perform(inModes:block:)`` and
/// ``add(_:forMode:)-(Timer,_)`` may be called from any thread; members that run the loop trap on a foreign thread,
/// where Foundation on Linux does nothing.
open class RunLoop: NSObject {
    /// The loop of the `RunLoops` library that this object uses.
    ///
    /// - Complexity: O(1).
    public let native: RunLoops.RunLoop

    let ports = ScheduledPorts()
    let requests = PerformRequests()
    let sources = PerformSources()
    /// The default notification queue of the thread; used on that thread alone.
    private var queue: NotificationQueue?

    fileprivate init(_ native: RunLoops.RunLoop) { self.native = native }

    // MARK: Finding a loop

    /// The loop of the calling thread, made at the first access.
    ///
    /// The object is the same at each access, until the thread ends.
    @available(
        *, noasync,
        message: "A task has no thread of its own: use RunLoop.main, or a loop that you were given."
    )
    open class var current: RunLoop { RunLoops.RunLoop.current.foundation }

    /// The main thread's loop.
    open class var main: RunLoop { RunLoops.RunLoop.main.foundation }

    // MARK: Asking

    /// The mode of the innermost run in progress; `nil` if there is none.
    open var currentMode: Mode? { native.currentMode.map { Mode($0) } }

    /// The items in each mode of the loop, as text of several lines.
    open override var description: String { native.detailedDescription() }

    // MARK: Timers

    /// Adds a timer to `mode`, or with `.common` to all common modes.
    ///
    /// The loop keeps the timer until it is invalid. A timer can be in one loop only. As in Foundation, this method
    /// ignores a timer that is invalid or in another loop, and every timer after the end of the loop's thread.
    /// - Complexity: O(log n) in the timers of the mode.
    open func add(_ timer: Timer, forMode mode: Mode) { timer.join(native, mode.native) }

    // MARK: Ports

    /// Adds a port to `mode`: its delegate is called in runs of that mode.
    ///
    /// The loop keeps the port until it is removed from the mode or invalid. Calls `schedule(in:forMode:)` of the port
    /// if the port is new in the mode.
    /// - Complexity: O(1), in addition to the port's `schedule(in:forMode:)`.
    open func add(_ aPort: Port, forMode mode: Mode) {
        if ports.add(aPort, mode) { aPort.schedule(in: self, forMode: mode) }
    }

    /// Removes a port from `mode`; the port stays valid.
    open func remove(_ aPort: Port, forMode mode: Mode) {
        if ports.remove(aPort, mode) { aPort.remove(from: self, forMode: mode) }
    }

    // MARK: Notifications

    func notificationQueue(_ make: () -> NotificationQueue) -> NotificationQueue {
        if let queue { return queue }
        let made = make()
        queue = made
        return made
    }

    // MARK: Looking once

    /// Runs one turn in `mode` without a sleep, and returns when the mode's next timer is due.
    ///
    /// - Returns: The date of the next timer; the distant future if the mode has no timer but other items to wait for;
    ///   `nil` if the mode has nothing to wait for.
    /// - Precondition: called on the loop's own thread; a call on any other thread traps.
    @available(*, noasync, message: "A run blocks a thread of Swift's pool: run the loop in a synchronous function.")
    open func limitDate(forMode mode: Mode) -> Date? {
        native.runTurn(in: mode.native, returnsAfterSource: true)
        if native.isEmpty(mode.native) { return nil }
        return native.nextTimerDeadline(in: mode.native).map { Date($0) } ?? .distantFuture
    }

    /// Runs in `mode` until one source was handled or `limitDate` has passed.
    ///
    /// - Precondition: called on the loop's own thread; a call on any other thread traps.
    @available(*, noasync, message: "A run blocks a thread of Swift's pool: run the loop in a synchronous function.")
    open func acceptInput(forMode mode: String, before limitDate: Date) {
        acceptInput(forMode: Mode(mode), before: limitDate)
    }

    /// Runs in `mode` until one source was handled or `limitDate` has passed.
    ///
    /// Foundation's method takes a mode on Apple's systems, and a string on Linux; here both compile.
    /// - Precondition: called on the loop's own thread; a call on any other thread traps.
    @available(*, noasync, message: "A run blocks a thread of Swift's pool: run the loop in a synchronous function.")
    public func acceptInput(forMode mode: Mode, before limitDate: Date) {
        native.run(in: mode.native, for: Duration(until: limitDate), returnsAfterSource: true)
    }

    /// Returns the loop as a `CFRunLoop`: the same object each time, until the loop's thread ends.
    ///
    /// Thread safety: any thread.
    public func getCFRunLoop() -> CFRunLoop { native.coreFoundation }
}

// As in Foundation.
@available(*, unavailable)
extension RunLoop: @unchecked Sendable {}

extension RunLoop: LoopCompanion {
    package func threadHasEnded() {}
}

extension RunLoops.RunLoop {
    /// The loop as Foundation's class: the same object each time, until the loop's thread ends.
    ///
    /// Thread safety: any thread may read this property; see ``FoundationRunLoop/RunLoop`` for the members of the
    /// object.
    /// - Complexity: O(1).
    public var foundation: FoundationRunLoop.RunLoop {
        companion { _ in FoundationRunLoop.RunLoop(self) }
    }
}
#endif
