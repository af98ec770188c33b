// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import Foundation
internal import RunLoops

extension RunLoop {
    /// Runs the default mode again and again until it has nothing left to wait for.
    ///
    /// As in Foundation, a stop ends only the innermost run (`native.stop()`, `CFRunLoopStop`), and this method begins
    /// the next one. A program that wants to end the loop calls ``run(mode:before:)`` repeatedly, and checks a
    /// condition of its own between the calls.
    ///
    /// - Precondition: called on the loop's own thread; a call on any other thread traps.
    @available(*, noasync, message: "A run blocks a thread of Swift's pool: run the loop in a synchronous function.")
    public func run() {
        while run(mode: .default, before: .distantFuture) {}
    }

    /// Runs the default mode again and again until `limitDate` has passed, or the mode has nothing left to wait for.
    ///
    /// Makes one turn without a sleep if the date has passed.
    /// - Precondition: called on the loop's own thread; a call on any other thread traps.
    @available(*, noasync, message: "A run blocks a thread of Swift's pool: run the loop in a synchronous function.")
    public func run(until limitDate: Date) {
        while run(mode: .default, before: limitDate), limitDate.timeIntervalSinceNow > 0 {}
    }

    /// Runs in `mode` until one source was handled or `limitDate` has passed.
    ///
    /// As in Core Foundation, a timer or a closure of ``perform(_:)`` does not end the run, unless it calls
    /// `native.stop()`. Work of the main queue counts as a source.
    ///
    /// - Returns: `false` if the loop did not run because the mode has nothing to wait for. Always `false` for `.common`,
    ///   in which a loop cannot run.
    /// - Precondition: called on the loop's own thread; a call on any other thread traps.
    @available(*, noasync, message: "A run blocks a thread of Swift's pool: run the loop in a synchronous function.")
    @discardableResult
    public func run(in: Mode, before limitDate: Date) -> Bool {
        if native.isEmpty(mode.native) { return false }
        native.run(in: mode.native, for: Duration(until: limitDate), returnsAfterSource: true)
        return true
    }

    // The name is Foundation's.
    // swift-format-ignore: NoLeadingUnderscores
    /// Ends the innermost run in progress at the end of its turn.
    ///
    /// Foundation on Linux has this method for XCTest, and test libraries call it. Other code calls `native.stop()`.
    ///
    /// Thread safety: any thread.
    public func _stop() { native.stop() }
}
#endif
