// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The lines on the terminal; only the changed lines are written.
struct LiveFrame {
    /// What is on the terminal; nil where nothing is known of it.
    private var shown: [String]?
    private(set) var size = Terminal.size()

    /// As many lines as the size has rows.
    mutating func show(_ frame: [String]) {
        var text = shown == nil ? "\u{1B}[2J" : ""
        for row in frame.indices where shown.map({ row >= $0.count || $0[row] != frame[row] }) ?? true {
            text += "\u{1B}[\(row + 1);1H" + frame[row]
        }
        shown = frame
        if !text.isEmpty { Terminal.write(text) }
    }

    /// The window's size changed, or something else wrote over it.
    mutating func invalidate() {
        size = Terminal.size()
        shown = nil
    }
}
