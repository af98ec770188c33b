// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import LoopUI

/// A display that can leave its device to other programs.
@MainActor private protocol ReleasableDisplay: Display {
    var session: Session { get }
}

extension Terminal: ReleasableDisplay {}
extension LineDisplay: ReleasableDisplay {}

extension Application {
    /// Leaves the terminal to other programs while a closure runs, and takes it again: for an editor, a pager, a password
    /// prompt.
    ///
    /// The terminal has its earlier settings and its main screen, and standard input, output and error are the true ones, also
    /// for a child that inherits them. What was printed before is shown first. The application is suspended meanwhile, with
    /// the usual calls of its delegate: it gets no input and shows nothing, but its loop runs, and its timers fire. When the closure has ended, by an error too, the terminal is taken again and drawn whole; only then does this
    /// call return.
    ///
    /// A child of the closure belongs in the process group of the program, as `Child.spawn` has it unless told otherwise: it
    /// is in the foreground then. Ctrl-C and Ctrl-\\ are for the child alone, as in system(3). Ctrl-Z stops both, and `fg`
    /// lets both go on. SIGTERM ends the program as ever; it does not end the child.
    ///
    /// Closures that run at the same time have the terminal together, until the last one ends. On a display that is no
    /// terminal, such as a window, the closure runs and nothing else changes.
    ///
    /// - Parameter body: Runs the other programs, and returns when they have ended.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws.
    public func withTerminalReleased<Result>(
        _ body: @MainActor () async throws -> Result
    ) async rethrows -> Result {
        guard let display = display as? any ReleasableDisplay else { return try await body() }
        return try await display.session.release(suspendApplication: { suspend() }, while: body)
    }
}
