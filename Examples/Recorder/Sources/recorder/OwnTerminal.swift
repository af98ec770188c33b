// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsEvents

/// The terminal that the recorder runs in.
///
/// It hands over each key as it is, because the child's terminal edits the lines.
struct OwnTerminal {
    private let settings: termios

    /// `nil` if standard input is not a terminal.
    init?() {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        self.settings = settings
    }

    var size: Child.Terminal.Size? {
        var size = winsize()
        guard ioctl(STDIN_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return .init(columns: size.ws_col, rows: size.ws_row, width: size.ws_xpixel, height: size.ws_ypixel)
    }

    func makeRaw() {
        var raw = settings
        cfmakeraw(&raw)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
    }

    func restore() {
        var settings = settings
        tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }
}
