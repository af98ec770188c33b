// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoopUI

/// What a terminal answers to a question.
enum Reply: Hashable {
    /// The answer that every terminal gives: which device it is. It comes after the answers to earlier questions.
    case deviceAttributes([Int])
    /// How a private mode is set, as DECRPM says: 0 unknown, 1 set, 2 not set, 3 always set, 4 never set.
    case mode(Int, Int)
    /// What the kitty protocol reports of keys.
    case keyboardFlags(Int)
    /// Where the cursor is.
    case cursor(Point)
    /// A colour of the palette, or `nil`, or the foreground (10) or the background (11).
    case color(ColorSlot, Color)
    /// A setting, as DECRQSS says: the parameters and the final byte of the sequence that makes it.
    case setting(String)
    /// The size of a cell, in pixels.
    case cellSize(Size)
    /// What the kitty protocol says of pictures, behind the letter G: which picture, and whether all is well.
    case graphics(String)
}

/// Which colour of the terminal's a reply is about.
enum ColorSlot: Hashable {
    case palette(Int)
    case foreground
    case background
}

/// What comes out of the bytes of a terminal.
enum Decoded: Hashable {
    case input(RawInput)
    case reply(Reply)
}
