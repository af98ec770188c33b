// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The modes of a terminal that a program sets, and the bytes that set and reset them.
struct ScreenModes {
    var isConsole = false
    /// Whether the kitty protocol reports all keys, with their ends, their positions on a Latin keyboard and their
    /// text.
    var hasKeyEnds = false
    var hasResizeReports = false
    /// Whether pictures are shown by the kitty protocol: some terminals keep them after the alternate screen is left.
    var hasKittyPictures = false

    private static let keyEnds = "\u{1B}[>31u"
    /// The sequence that replaces the present flags of the kitty protocol, without pushing them on the terminal's
    /// stack.
    private static let keyEndsAgain = "\u{1B}[=31;1u"
    private static let resizeReports = "\u{1B}[?2048h"

    /// The bytes that set the modes at the beginning; moves of the pointer are reported while a button is held.
    var entering: String {
        let title = isConsole ? "" : "\u{1B}[22;0t"
        return title + Self.screen + offered
    }

    /// The bytes that set modes again that were not reset; a mode that the terminal keeps on a stack is not pushed
    /// twice.
    var enteringAgain: String {
        // A string and an update, which the stop may have cut, end first.
        "\u{1B}\\\u{1B}[?2026l" + Self.screen + (hasKeyEnds ? Self.keyEndsAgain : "")
            + (hasResizeReports ? Self.resizeReports : "")
    }

    private static let screen =
        "\u{1B}[?1049h\u{1B}[?7l\u{1B}[?25l\u{1B}[?1002h\u{1B}[?1006h\u{1B}[?1004h\u{1B}[?2004h"

    /// The bytes that set the modes that the terminal has reported to know.
    var offered: String { (hasKeyEnds ? Self.keyEnds : "") + (hasResizeReports ? Self.resizeReports : "") }

    /// The bytes that reset all modes, after the end of a string or an update that may have been cut.
    var leaving: String {
        let offered = (hasKeyEnds ? "\u{1B}[<u" : "") + (hasResizeReports ? "\u{1B}[?2048l" : "")
        let reports = "\u{1B}[?2004l\u{1B}[?1004l\u{1B}[?1006l\u{1B}[?1002l"
        let title = isConsole ? "" : "\u{1B}[23;0t"
        let pictures = hasKittyPictures ? "\u{1B}_Ga=d,d=A,q=2\u{1B}\\" : ""
        return "\u{1B}\\\u{1B}[?2026l" + pictures + offered + reports + "\u{1B}[m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
            + title
    }
}
