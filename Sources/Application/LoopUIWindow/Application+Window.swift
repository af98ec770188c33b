// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
public import LoopUI
internal import RunLoopsLibC

extension Application {
    /// Runs a program in a window, from its launch to its end.
    ///
    /// The program needs no other delegate than in a terminal:
    ///
    /// ```swift
    /// try Application.runInWindow(Program.self)
    /// ```
    ///
    /// If a signal has ended the program, the process dies of that signal, after the window is closed.
    ///
    /// - Parameters:
    ///   - delegate: The type of the application's delegate; one instance is made.
    ///   - display: The window on the screen.
    /// - Throws: ``WindowDisplayError`` if the window cannot be opened; the program may then run in a terminal instead.
    public static func runInWindow<Delegate: ApplicationDelegate>(
        _ delegate: Delegate.Type, display: WindowDisplay = WindowDisplay()
    ) throws {
        let application = Application(display: display, delegate: Delegate())
        try application.run()
        guard let number = application.terminationSignal else { return }
        signal(number, SIG_DFL)
        raise(number)
    }
}
#endif
