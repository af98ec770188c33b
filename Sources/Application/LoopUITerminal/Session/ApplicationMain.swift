// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsTerminalRestore
public import LoopUI
internal import RunLoopsLibC

extension Terminal {
    /// Returns the display that suits the program's environment: a ``Terminal`` or a ``LineDisplay``.
    ///
    /// Lines are written if standard output is not a terminal, if the terminal cannot move its cursor (`TERM=dumb`), or
    /// if the user asks for lines (`LOOPUI_LINEAR=1`).
    ///
    /// - Parameter pictures: Shows pictures with their own pixels where the terminal can.
    public static func standard(pictures: (any PictureWriter)? = nil) -> any Display {
        hasScreen ? Terminal(pictures: pictures) : LineDisplay()
    }

    /// Returns a display on some rows of the terminal, or a ``LineDisplay`` where ``standard(pictures:)`` returns one, which does not end with
    /// its input.
    ///
    /// - Parameter rows: The number of rows; a number below 1 counts as 1.
    public static func standard(rows: Int) -> any Display {
        if hasScreen { return Terminal(rows: rows) }
        let lines = LineDisplay()
        lines.endsWithInput = false
        return lines
    }

    private static var hasScreen: Bool {
        let environment = Environment.process
        return isatty(STDOUT_FILENO) == 1 && !environment.isDumb && !environment.isLinear
    }
}

extension Application {
    /// Runs a program on the terminal that it was started from, until its end.
    ///
    /// If a signal has ended the application, the process dies of that signal, as its parent expects.
    ///
    /// - Parameters:
    ///   - delegate: The type of the application's delegate, of which one instance is made.
    ///   - pictures: Shows pictures with their own pixels where the terminal can, as the library LoopUIPictures does;
    ///     if it is nil, pictures are drawn as half blocks.
    public static func main<Delegate: ApplicationDelegate>(
        _ delegate: Delegate.Type, pictures: (any PictureWriter)? = nil
    ) {
        main(delegate, on: Terminal.standard(pictures: pictures))
    }

    /// Runs a program on some rows of the terminal that it was started from, below what was printed, until its end.
    ///
    /// - Parameters:
    ///   - delegate: The type of the application's delegate, of which one instance is made.
    ///   - rows: The number of rows; a number below 1 counts as 1.
    public static func main<Delegate: ApplicationDelegate>(_ delegate: Delegate.Type, rows: Int) {
        main(delegate, on: Terminal.standard(rows: rows))
    }

    private static func main<Delegate: ApplicationDelegate>(_ delegate: Delegate.Type, on display: any Display) {
        do {
            try Application(display: display, delegate: Delegate()).runUntilEnd()
        } catch {
            let text = "\(CommandLine.arguments.first ?? ""): \(error)\n"
            let bytes = Array(text.utf8)
            _ = ct_write(STDERR_FILENO, bytes, bytes.count)
            exit(1)
        }
    }

    /// Runs the application until its end, like ``main(_:pictures:)``, for a program that makes its application itself.
    ///
    /// If a signal has ended the application, the process dies of that signal, as its parent expects.
    ///
    /// - Throws: The error of the display if it cannot be opened.
    public func runUntilEnd() throws {
        try run()
        if let terminationSignal { ct_die(terminationSignal) }
    }
}

extension ApplicationDelegate {
    /// Runs the program; called by `@main`.
    public static func main() { Application.main(Self.self) }
}
