// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// Runs Foundation's main loop as a guest of this package's main loop.
///
/// A program that depends on this module need not call anything: `Foundation.Timer`, `Foundation.RunLoop.main.perform`, ports,
/// `Process`, `FileHandle`, streams and `NotificationQueue` work wherever `RunLoop.main` of this package runs in a common
/// mode.
///
/// The loop sleeps on the descriptor that Foundation's loop would sleep on, and wakes only when that loop has work. If this
/// descriptor cannot be found, the loop wakes for Foundation's timers alone, and ``limitation`` says so.
///
/// Thread safety: the main thread.
@MainActor
public enum FoundationGuest {
    /// One line that says which of Foundation's items do not work, also written to standard error once; `nil` if all work, or
    /// if the main loop has not been run yet.
    ///
    /// Foundation's timers work in any case, and so do closures and sources that the main thread's own callouts add. With a
    /// limitation, an item that another thread adds to Foundation's main loop while the main thread sleeps waits for the end
    /// of the sleep.
    public static var limitation: String? { FoundationServer.limitation }

    /// Also runs Foundation's main loop while this package's main loop runs in `mode`, in Foundation's mode with the
    /// same name.
    ///
    /// Only a mode that is not a common mode needs this call.
    public static func serve(in mode: RunLoop.Mode) { FoundationServer.serve(RunLoop.main, in: mode) }

    // MARK: For tests

    /// The function that returns the information of proc(5) on a descriptor of this process; tests replace it.
    package static var readInformation: @MainActor (CInt) -> String? {
        get { PortSet.readInformation }
        set { PortSet.readInformation = newValue }
    }

    /// The number of turns of Foundation's loop that this module has made.
    package static var turnCount: Int { FoundationServer.turnCount }
}
