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
        let environment = Environment.process
        let isTerminal = isatty(STDOUT_FILENO) == 1 && !environment.isDumb && !environment.isLinear
        return isTerminal ? Terminal(pictures: pictures) : LineDisplay()
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
        do {
            try Application(display: Terminal.standard(pictures: pictures), delegate: Delegate()).runUntilEnd()
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
