// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CTerminalRestore
internal import LinuxLibC
public import LoopUI

extension Terminal {
    /// The display that suits where the program was started: the terminal, or lines.
    ///
    /// Lines are written if standard output is no terminal, if the terminal cannot move its cursor (`TERM=dumb`), or if
    /// the user asks for them (`LOOPUI_LINEAR=1`).
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
    ///   - delegate: The type of the application's delegate, of which one is made.
    ///   - pictures: Shows pictures with their own pixels where the terminal can, as the library LoopUIPictures does.
    ///     Without it they are half blocks.
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

    /// Runs the application until its end: what ``main(_:pictures:)`` does for a program that makes its application itself.
    ///
    /// If a signal has ended the application, the process dies of that signal, as its parent expects.
    ///
    /// - Throws: what the display throws when it cannot be opened.
    public func runUntilEnd() throws {
        try run()
        if let terminationSignal { ct_die(terminationSignal) }
    }
}

extension ApplicationDelegate {
    /// Runs the program: what `@main` calls.
    public static func main() { Application.main(Self.self) }
}
