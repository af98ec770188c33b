// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import LoopUI

/// Shows pictures with their own pixels on a terminal.
///
/// A program hands one to its terminal; the library LoopUIPictures has one. It is called for terminals only that have
/// said how they show pictures. On all others, pictures are half blocks.
@MainActor public protocol PictureWriter: AnyObject {
    /// The bytes that follow the cells of a frame: they remove pictures that are gone, and show new ones.
    ///
    /// The terminal shows the frame's cells already, and blanks where pictures are seen. The bytes leave the cursor and
    /// the style of letters as they are.
    ///
    /// - Parameters:
    ///   - frame: The frame.
    ///   - old: The cells that the terminal showed before; `nil` if the whole screen was cleared.
    ///   - ability: How the terminal shows pictures.
    func bytes(for frame: Frame, since old: CellGrid?, by ability: PictureAbility) -> [UInt8]
}

/// How a terminal shows pictures, as it has said itself.
public struct PictureAbility: Hashable, Sendable {
    /// The ways in which terminals take pictures.
    public enum Way: Hashable, Sendable {
        /// The graphics protocol of kitty, which many terminals have taken over: pictures are sent once and placed by
        /// name.
        case kitty
        /// The sixels of DEC's terminals: rows of six pixels, which stay until letters are written over them.
        case sixel
    }

    /// The way in which the terminal takes pictures.
    public var way: Way
    /// The size of a cell, in pixels; `nil` if the terminal has not said it, which is enough for kitty's way.
    public var cell: Size?

    /// An ability.
    public init(_ way: Way, cell: Size?) {
        self.way = way
        self.cell = cell
    }
}
