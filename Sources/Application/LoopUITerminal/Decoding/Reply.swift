// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoopUI

/// An answer of a terminal to a question.
enum Reply: Hashable {
    /// The kind and the features of the device, which every terminal answers, after the answers to earlier questions.
    case deviceAttributes([Int])
    /// The number and the state of a private mode, by DECRPM: 0 unknown, 1 set, 2 not set, 3 always set, 4 never set.
    case mode(Int, Int)
    /// The flags of the kitty protocol, which say how keys are reported.
    case keyboardFlags(Int)
    /// The position of the cursor.
    case cursor(Point)
    /// A colour of the terminal: of the palette, the foreground (10) or the background (11).
    case color(ColorSlot, Color)
    /// A setting, by DECRQSS: the parameters and the final byte of the sequence that sets it.
    case setting(String)
    /// The size of a cell, in pixels.
    case cellSize(Size)
    /// An answer of the kitty protocol about a picture, after the letter G: the picture's name, and OK or an error.
    case graphics(String)
}

/// The colour of the terminal in a reply.
enum ColorSlot: Hashable {
    case palette(Int)
    case foreground
    case background
}

/// A result of decoding a terminal's bytes.
enum Decoded: Hashable {
    case input(RawInput)
    case reply(Reply)
}
