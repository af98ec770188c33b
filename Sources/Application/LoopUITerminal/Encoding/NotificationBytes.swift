// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoopUI

/// The bytes that show a notification to the terminal's user: iTerm2's control string 9, which other terminals have
/// adopted.
enum NotificationBytes {
    /// Returns the bytes for a text.
    ///
    /// - Parameters:
    ///   - text: The text, of which control characters are left out.
    ///   - isUnicode: Whether the terminal takes more than ASCII.
    ///   - isInTmux: Whether the terminal is one of tmux, which drops the string unless it is wrapped.
    static func bytes(for text: String, isUnicode: Bool, isInTmux: Bool) -> [UInt8] {
        let shown = text.shown(limit: Application.maxNotificationLength)
        var letters = isUnicode ? Array(shown.utf8) : shown.utf8.filter { $0 < 0x80 }
        // ConEmu, and terminals that follow it, read a number as a command: 9;4 sets a progress bar, and 9;7 runs a program.
        if let first = letters.first, (0x30...0x39).contains(first) { letters.insert(0x20, at: 0) }
        // Unlike ESC \, the bell also ends the string inside the string of tmux.
        let string = Array("\u{1B}]9;".utf8) + letters + [0x07]
        return isInTmux ? Array("\u{1B}Ptmux;\u{1B}".utf8) + string + Array("\u{1B}\\".utf8) : string
    }
}
