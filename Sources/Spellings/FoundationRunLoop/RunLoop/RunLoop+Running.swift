// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import Foundation
internal import RunLoops

extension RunLoop {
    /// Runs the default mode again and again until it has nothing left to wait for.
    ///
    /// As in Foundation, a stop of the innermost run (`native.stop()`, `CFRunLoopStop`) begins the next one. A program
    /// that wants to end the loop asks a condition of its own between calls of ``run(mode:before:)``.
    ///
    /// - Precondition: called on the loop's own thread; any other traps.
    @available(*, noasync, message: "A run blocks a thread of Swift's pool: run the loop in a synchronous function.")
    public func run() {
        while run(mode: .default, before: .distantFuture) {}
    }

    /// Runs the default mode again and again until `limitDate` has passed, or the mode has nothing left to wait for.
    ///
    /// A date that has passed makes one turn that does not sleep.
    /// - Precondition: called on the loop's own thread; any other traps.
    @available(*, noasync, message: "A run blocks a thread of Swift's pool: run the loop in a synchronous function.")
    public func run(until limitDate: Date) {
        while run(mode: .default, before: limitDate), limitDate.timeIntervalSinceNow > 0 {}
    }

    /// Runs in `mode` until one source was handled or `limitDate` has passed.
    ///
    /// Neither a timer nor a closure of ``perform(_:)`` ends the run, as in Core Foundation; `native.stop()` in one of them
    /// does. Work of the main queue counts as a source.
    ///
    /// - Returns: `false` if nothing ran because there is nothing to wait for in the mode; in `.common`, which is no
    ///   mode to run in, always.
    /// - Precondition: called on the loop's own thread; any other traps.
    @available(*, noasync, message: "A run blocks a thread of Swift's pool: run the loop in a synchronous function.")
    @discardableResult
    public func run(mode: Mode, before limitDate: Date) -> Bool {
        if native.isEmpty(mode.native) { return false }
        native.run(mode: mode.native, for: Duration(until: limitDate), returnAfterSourceHandled: true)
        return true
    }

    // The name is Foundation's.
    // swift-format-ignore: NoLeadingUnderscores
    /// Ends the innermost run in progress at the end of its turn.
    ///
    /// Foundation on Linux has this for XCTest, and test libraries call it. Elsewhere `native.stop()` says it.
    ///
    /// Thread safety: any thread.
    public func _stop() { native.stop() }
}
#endif
