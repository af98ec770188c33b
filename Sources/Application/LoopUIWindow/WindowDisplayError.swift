// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
/// The reasons for which a window could not be opened.
public enum WindowDisplayError: Error, Hashable, Sendable {
    /// No X server answers under the name of the display, or it refuses this program.
    case noServer(display: String)
    /// No Wayland compositor answers under the name of the display.
    case noCompositor(display: String)
    /// The compositor does not offer an interface that a window needs, such as `xdg_wm_base`.
    case noInterface(String)
    /// The server has no keyboard that the program understands.
    case noKeyboard
    /// There is no font with the name.
    case noFont(String)
    /// The server cannot show a window with true colours.
    case noTrueColor
    /// The system has refused to report a signal.
    case noSignal(CInt)
}
#endif
