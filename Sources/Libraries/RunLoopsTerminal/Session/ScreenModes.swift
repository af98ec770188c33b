// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The modes of a terminal that a program sets, and the bytes that set and reset them.
struct ScreenModes {
    var options: RawTerminal.Options = []
    /// Whether the terminal knows no sequences.
    var isDumb = false
    var isConsole = false
    /// Whether the kitty protocol reports all keys, with their ends, their positions on a Latin keyboard and their
    /// text.
    var hasKeyEnds = false
    var hasResizeReports = false
    /// Whether pictures are shown by the kitty protocol: some terminals keep them after the alternate screen is left.
    var hasKittyPictures = false
    /// Whether the program has written links, of which one may be open if the program ends inside a frame.
    var hasLinks = false
    /// The bytes that move the cursor below what the program shows.
    var closing = ""

    /// Moves of the pointer are reported while a button is held.
    private var reports: [Int] {
        (options.contains(.mouse) ? [1002, 1006] : []) + (options.contains(.focus) ? [1004] : [])
            + (options.contains(.paste) ? [2004] : [])
    }
    private var hasScreen: Bool { options.contains(.alternateScreen) }
    private var hasTitle: Bool { hasScreen && !isConsole }

    private static let keyEnds = "\u{1B}[>31u"
    /// The sequence that replaces the present flags of the kitty protocol, without pushing them on the terminal's
    /// stack.
    private static let keyEndsAgain = "\u{1B}[=31;1u"
    private static let resizeReports = "\u{1B}[?2048h"

    /// The bytes that set the modes at the beginning.
    var entering: String { (hasTitle ? "\u{1B}[22;0t" : "") + screen + offered }

    /// The bytes that set modes again that were not reset; a mode that the terminal keeps on a stack is not pushed
    /// twice.
    var enteringAgain: String {
        // A string and an update, which the stop may have cut, end first.
        Self.end(isDumb) + screen + (hasKeyEnds ? Self.keyEndsAgain : "")
            + (hasResizeReports ? Self.resizeReports : "")
    }

    /// The bytes that end a string and an update.
    private static func end(_ isDumb: Bool) -> String { isDumb ? "" : "\u{1B}\\\u{1B}[?2026l" }

    private var screen: String {
        (hasScreen ? "\u{1B}[?1049h\u{1B}[?7l\u{1B}[?25l" : "") + reports.map { "\u{1B}[?\($0)h" }.joined()
    }

    /// The bytes that set the modes that the terminal has reported to know.
    var offered: String { (hasKeyEnds ? Self.keyEnds : "") + (hasResizeReports ? Self.resizeReports : "") }

    /// The bytes that reset all modes, after the end of a string or an update that may have been cut.
    ///
    /// The style, the cursor and the wrapping of lines are reset in any case: the program may draw.
    var leaving: String {
        if isDumb { return "" }
        let offered = (hasKeyEnds ? "\u{1B}[<u" : "") + (hasResizeReports ? "\u{1B}[?2048l" : "")
        let reports = reports.reversed().map { "\u{1B}[?\($0)l" }.joined()
        let screen = (hasScreen ? "\u{1B}[?1049l" : "") + (hasTitle ? "\u{1B}[23;0t" : "")
        let pictures = hasKittyPictures ? "\u{1B}_Ga=d,d=A,q=2\u{1B}\\" : ""
        let link = hasLinks ? "\u{1B}]8;;\u{1B}\\" : ""
        return Self.end(isDumb) + link + closing + pictures + offered + reports + "\u{1B}[m\u{1B}[?7h\u{1B}[?25h"
            + screen
    }
}
