// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
public import LoopUI
internal import RunLoopsEvents
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
    /// The window is a ``WaylandDisplay`` if `WAYLAND_DISPLAY` names a compositor that answers within three seconds,
    /// otherwise a ``WindowDisplay``. ``runInWindow(_:display:)`` takes the display that the program has chosen.
    ///
    /// If a signal has ended the program, the process dies of that signal, after the window is closed.
    ///
    /// - Parameters:
    ///   - delegate: The type of the application's delegate; one instance is made.
    ///   - size: The first size of the window, in cells.
    ///   - font: The family, the style and the size of a monospace font in typographic points, in the form that Pango
    ///     reads.
    ///   - theme: The default colours and the first 16 of the palette.
    /// - Throws: ``WindowDisplayError`` if the window cannot be opened; the program may then run in a terminal instead.
    public static func runInWindow<Delegate: ApplicationDelegate>(
        _ delegate: Delegate.Type, size: Size = Size(80, 24), font: String = "monospace 12", theme: WindowTheme = .dark
    ) throws {
        if let name = environmentValue("WAYLAND_DISPLAY"), let connection = try? CompositorConnection(to: name) {
            try runInWindow(
                delegate, display: WaylandDisplay(connection, size: size, font: font, theme: theme))
        } else {
            try runInWindow(delegate, display: WindowDisplay(size: size, font: font, theme: theme))
        }
    }

    /// Runs a program in a window, or on another display, from its launch to its end.
    ///
    /// If a signal has ended the program, the process dies of that signal, after the display is closed.
    ///
    /// - Parameters:
    ///   - delegate: The type of the application's delegate; one instance is made.
    ///   - display: The window on the screen: a ``WaylandDisplay`` or a ``WindowDisplay``.
    /// - Throws: ``WindowDisplayError`` if the window cannot be opened; the program may then run in a terminal instead.
    public static func runInWindow<Delegate: ApplicationDelegate>(
        _ delegate: Delegate.Type, display: any Display
    ) throws {
        let application = Application(display: display, delegate: Delegate())
        try application.run()
        guard let number = application.terminationSignal else { return }
        signal(number, SIG_DFL)
        raise(number)
    }
}
#endif
