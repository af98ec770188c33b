// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import LoopUI
internal import RunLoopsTerminal

/// A display that can release its device to other programs.
@MainActor private protocol ReleasableDisplay: Display {
    var session: Session { get }
    func printLine(_ text: String)
}

extension Terminal: ReleasableDisplay {}
extension LineDisplay: ReleasableDisplay {}

extension Application {
    /// Prints a line above the part of the screen that the application has.
    ///
    /// The line stays in the terminal, as printed text does. It is written in the loop's next turn, and while other programs have the
    /// terminal, when they return it. On a ``LineDisplay`` it is a line among the others. On every other display it is printed to
    /// standard output: a terminal's whole screen shows it at the end.
    ///
    /// - Parameter text: The line; line breaks in it become blanks, and control characters are left out.
    public func printLine(_ text: String) {
        if let display = display as? any ReleasableDisplay { display.printLine(text) } else { print(text) }
    }

    /// Releases the terminal to other programs, such as an editor, a pager or a password prompt, while a closure runs.
    ///
    /// While the closure runs, the terminal has its earlier settings and its main screen, and standard input, output
    /// and error are the original ones, also for a child that inherits them. Text that was printed before is shown
    /// first. The application is suspended, with the usual calls of its delegate: it receives no input and shows
    /// nothing, but its loop runs, and its timers fire. When the closure has returned or thrown an error, the terminal
    /// is set up again and drawn whole; only then does this call return.
    ///
    /// A child that the closure starts should be in the process group of the program, as is the default of
    /// `Child.spawn`, so that it is in the foreground. Ctrl-C and Ctrl-\\ are sent to the child alone, as in system(3).
    /// Ctrl-Z stops both, and `fg` continues both. SIGTERM ends the program as usual; it does not end the child.
    ///
    /// Closures that run at the same time share the terminal until the last one ends. On a display that is not a
    /// terminal, such as a window, the closure runs without any other effect.
    ///
    /// - Parameter body: Runs the other programs, and returns when they have ended.
    /// - Returns: The result of the closure.
    /// - Throws: The error that the closure throws.
    public func withTerminalReleased<Result>(
        _ body: @MainActor () async throws -> Result
    ) async rethrows -> Result {
        guard let display = display as? any ReleasableDisplay else { return try await body() }
        return try await display.session.release(suspendApplication: { suspend() }, while: body)
    }
}
