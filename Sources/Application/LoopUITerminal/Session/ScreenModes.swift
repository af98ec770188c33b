// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The modes of a terminal that a program sets, and how it sets them back.
struct ScreenModes {
    var isConsole = false
    /// The kitty protocol: all keys, with their ends, their places on a Latin keyboard and the text that they write.
    var hasKeyEnds = false
    var hasResizeReports = false
    /// Pictures by the kitty protocol, which some terminals keep although the screen goes.
    var hasKittyPictures = false

    private static let keyEnds = "\u{1B}[>31u"
    /// The same without a push: the flags that count now are replaced.
    private static let keyEndsAgain = "\u{1B}[=31;1u"
    private static let resizeReports = "\u{1B}[?2048h"

    /// What is set at the beginning; the pointer is reported with its moves while a button is held.
    var entering: String {
        let title = isConsole ? "" : "\u{1B}[22;0t"
        return title + Self.screen + offered
    }

    /// What is set again where it was not undone: what the terminal keeps on a stack is not put there twice.
    var enteringAgain: String {
        // A string and an update, which the stop may have cut, end first.
        "\u{1B}\\\u{1B}[?2026l" + Self.screen + (hasKeyEnds ? Self.keyEndsAgain : "")
            + (hasResizeReports ? Self.resizeReports : "")
    }

    private static let screen =
        "\u{1B}[?1049h\u{1B}[?7l\u{1B}[?25l\u{1B}[?1002h\u{1B}[?1006h\u{1B}[?1004h\u{1B}[?2004h"

    /// What is set when the terminal has said that it knows it.
    var offered: String { (hasKeyEnds ? Self.keyEnds : "") + (hasResizeReports ? Self.resizeReports : "") }

    /// Undoes everything, whatever was being written: a string and an update end first.
    var leaving: String {
        let offered = (hasKeyEnds ? "\u{1B}[<u" : "") + (hasResizeReports ? "\u{1B}[?2048l" : "")
        let reports = "\u{1B}[?2004l\u{1B}[?1004l\u{1B}[?1006l\u{1B}[?1002l"
        let title = isConsole ? "" : "\u{1B}[23;0t"
        let pictures = hasKittyPictures ? "\u{1B}_Ga=d,d=A,q=2\u{1B}\\" : ""
        return "\u{1B}\\\u{1B}[?2026l" + pictures + offered + reports + "\u{1B}[m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
            + title
    }
}
